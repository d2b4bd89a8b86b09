/* EXPECT: passed runs=50 */
/*
 * C++ and the end of a thread. Destructors run when a thread is cancelled or calls pthread_exit; a
 * catch clause sees the forced unwinding and must let it pass; thread_local objects are destroyed last.
 */
#include <cxxabi.h>
#include <pthread.h>
#include <semaphore.h>
#include <string>

#include "check.h"

static std::string order;
static sem_t never_posted;

namespace
{
struct witness {
	explicit witness(const char *name) : name(name)
	{
	}
	~witness()
	{
		order += name;
	}
	const char *name;
};

thread_local witness last("t");
} // namespace

static void wait_inside()
{
	witness inner("i");
	sem_wait(&never_posted);
}

static void *be_cancelled(void *)
{
	witness outer("o");

	last.name = "T";
	try {
		wait_inside();
	} catch (abi::__forced_unwind &) {
		order += "f";
		throw;
	}
	return nullptr;
}

static void *call_exit(void *)
{
	witness outer("o");

	last.name = "T";
	try {
		witness inner("i");
		pthread_exit(&order);
	} catch (...) {
		order += "c";
		throw;
	}
	return nullptr;
}

static void *throw_and_catch(void *)
{
	try {
		witness inner("i");
		throw 3;
	} catch (int value) {
		order += value == 3 ? "e" : "?";
	}
	return nullptr;
}

static void *result_of(void *(*start)(void *), bool cancel)
{
	pthread_t thread;
	void *result;

	order.clear();
	MUST(pthread_create(&thread, nullptr, start, nullptr) == 0);
	/* Cancelled where it waits or before it gets there: sem_wait is where it acts. */
	if (cancel)
		MUST(pthread_cancel(thread) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return result;
}

int main()
{
	MUST(sem_init(&never_posted, 0, 0) == 0);
	CHECK(result_of(be_cancelled, true) == PTHREAD_CANCELED);
	CHECK(order == "ifoT");
	CHECK(result_of(call_exit, false) == &order);
	CHECK(order == "icoT");
	CHECK(result_of(throw_and_catch, false) == nullptr);
	CHECK(order == "ie");
	return check_status();
}
