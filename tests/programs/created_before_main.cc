/* EXPECT: passed runs=50 */
// Threads that constructors make, of the program and of static objects, before there is a main.
#include <mutex>
#include <pthread.h>
#include <thread>

#include "check.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t early;
static int total;

static void *add(void *unused)
{
	pthread_mutex_lock(&lock);
	total++;
	pthread_mutex_unlock(&lock);
	return unused;
}

__attribute__((constructor)) static void begin_early(void)
{
	MUST(pthread_create(&early, nullptr, add, nullptr) == 0);
}

struct service {
	std::thread thread{add, nullptr};
	~service()
	{
		if (thread.joinable())
			thread.join();
	}
};
static service service;

int main()
{
	pthread_t late;

	MUST(pthread_create(&late, nullptr, add, nullptr) == 0);
	MUST(pthread_join(early, nullptr) == 0);
	service.thread.join();
	MUST(pthread_join(late, nullptr) == 0);
	CHECK(total == 3);
	return check_status();
}
