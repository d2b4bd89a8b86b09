/* EXPECT: passed runs=2000 needs=memory */
/* The twin of weak_singleton: each cache counts itself. */
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

struct cache;
static std::mutex lock;
static std::weak_ptr<cache> registered;
static int open_count;

struct cache {
	cache()
	{
		open_count++;
	}
	~cache()
	{
		std::lock_guard<std::mutex> guard(lock);
		open_count--;
	}
};

static std::shared_ptr<cache> acquire()
{
	std::lock_guard<std::mutex> guard(lock);
	std::shared_ptr<cache> found = registered.lock();

	if (!found) {
		found = std::make_shared<cache>();
		registered = found;
	}
	return found;
}

static void use()
{
	const std::shared_ptr<cache> mine = acquire();
	std::lock_guard<std::mutex> guard(lock);

	assert(open_count > 0);
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back(use);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}
