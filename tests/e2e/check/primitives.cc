// Objects that a function under raddle::check() may use, each with its own state: all schedules pass, and the function's threads are new each time.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <time.h>
#include <vector>

#include <raddle_check.h>

static int failures;

template <class Function>
static void passes(const char *name, Function function, raddle_options options = {})
{
	raddle_result result{};

	options.result = &result;
	options.name = name;
	options.replay = "";
	if (!options.schedules)
		options.schedules = 3000;
	if (raddle::check(function, options) != 0 || result.schedules == 0) {
		std::printf("FAILED: %s: %s\n", name, result.message);
		failures++;
	}
}

/*
 * How many schedules there are, up to the order of what is independent. All are run, and few besides: the strategy
 * finds out behind some that they were like others.
 */
template <class Function> static void counts(const char *name, uint64_t count, Function function)
{
	raddle_result result{};
	raddle_options options{};

	options.result = &result;
	options.name = name;
	options.strategy = "dpor";
	options.replay = "";
	if (raddle::check(function, options) != 0 || !result.is_complete ||
		result.schedules < count || result.schedules > 2 * count) {
		std::printf("FAILED: %s: %lu schedules, complete %d, not %lu\n", name,
			(unsigned long)result.schedules, result.is_complete, (unsigned long)count);
		failures++;
	}
}

static thread_local int per_thread = 5;

struct counted {
	static int alive;
	counted()
	{
		alive++;
	}
	~counted()
	{
		alive--;
	}
};
int counted::alive;
static thread_local std::unique_ptr<counted> owned;

static void wait_for_condition()
{
	std::mutex lock;
	std::condition_variable changed;
	std::vector<int> queue;
	int sum = 0;
	std::thread consumer([&] {
		for (int i = 0; i < 3; i++) {
			std::unique_lock<std::mutex> held(lock);
			changed.wait(held, [&] { return !queue.empty(); });
			sum += queue.back();
			queue.pop_back();
		}
	});

	for (int i = 1; i <= 3; i++) {
		std::lock_guard<std::mutex> held(lock);
		queue.push_back(i);
		changed.notify_one();
	}
	consumer.join();
	if (sum != 6)
		raddle_fail("a message was lost");
}

static void share_a_lock()
{
	std::shared_mutex lock;
	int value = 0;
	auto read = [&] {
		std::shared_lock<std::shared_mutex> held(lock);
		return value;
	};
	std::thread writer([&] {
		std::unique_lock<std::shared_mutex> held(lock);
		value = 1;
		value = 2;
	});
	int seen = read();

	writer.join();
	if (seen == 1)
		raddle_fail("half a write was read");
}

static void use_semaphores()
{
	sem_t free, full;
	int slot = 0, sum = 0;

	sem_init(&free, 0, 1);
	sem_init(&full, 0, 0);
	std::thread producer([&] {
		for (int i = 1; i <= 3; i++) {
			sem_wait(&free);
			slot = i;
			sem_post(&full);
		}
	});
	for (int i = 1; i <= 3; i++) {
		sem_wait(&full);
		sum += slot;
		sem_post(&free);
	}
	producer.join();
	if (sum != 6)
		raddle_fail("the slot was overwritten");
	sem_destroy(&free);
	sem_destroy(&full);
}

static void meet_at_a_barrier()
{
	pthread_barrier_t barrier;
	std::array<int, 3> done{};
	std::vector<std::thread> threads;

	pthread_barrier_init(&barrier, nullptr, 3);
	for (int i = 0; i < 3; i++)
		threads.emplace_back([&, i] {
			done[i] = 1;
			pthread_barrier_wait(&barrier);
			if (done[0] + done[1] + done[2] != 3)
				raddle_fail("the barrier let a thread through");
		});
	for (auto &thread : threads)
		thread.join();
	pthread_barrier_destroy(&barrier);
}

static void use_thread_locals()
{
	std::thread one([] { per_thread++; }), two([] { per_thread++; });
	int seen = 0;
	std::thread three([&] { seen = per_thread; });

	one.join();
	two.join();
	three.join();
	if (seen != 5)
		raddle_fail("a thread has the thread-local variables of another");
}

static void run_destructors()
{
	int before = counted::alive;
	std::thread one([] { owned = std::make_unique<counted>(); });

	one.join();
	if (counted::alive != before)
		raddle_fail("a thread-local object was not destroyed");
}

static void leave_threads_behind()
{
	auto count = std::make_shared<int>(0);

	for (int i = 0; i < 2; i++)
		std::thread([count] { ++*count; }).detach();
}

static void let_time_pass()
{
	struct timespec before, after, hour = {3600, 0};

	clock_gettime(CLOCK_MONOTONIC, &before);
	nanosleep(&hour, nullptr);
	clock_gettime(CLOCK_MONOTONIC, &after);
	if (after.tv_sec - before.tv_sec < 3600 || after.tv_sec - before.tv_sec > 3601)
		raddle_fail("an hour is no hour");
}

static void time_out()
{
	std::mutex lock;
	std::condition_variable never;
	std::unique_lock<std::mutex> held(lock);

	if (never.wait_for(held, std::chrono::minutes(5)) != std::cv_status::timeout)
		raddle_fail("nobody notified");
}

static void keep_a_promise()
{
	std::promise<int> promise;
	auto future = promise.get_future();
	std::thread thread([&] { promise.set_value(42); });

	if (future.get() != 42)
		raddle_fail("the promise is broken");
	thread.join();
}

static void catch_an_exception()
{
	auto result =
		std::async(std::launch::async, []() -> int { throw std::runtime_error("inside"); });

	try {
		result.get();
	} catch (const std::runtime_error &) {
		return;
	}
	raddle_fail("the exception was lost");
}

static void exit_a_thread()
{
	pthread_t thread;
	void *result;

	pthread_create(
		&thread, nullptr, [](void *) -> void * { pthread_exit((void *)7); }, nullptr);
	pthread_join(thread, &result);
	if (result != (void *)7)
		raddle_fail("another result");
}

/* Two threads that lock once and then again: who is first, twice, less what cannot be. */
static void lock_once()
{
	std::mutex lock;
	std::thread one([&] { std::lock_guard<std::mutex> held(lock); });
	std::thread two([&] { std::lock_guard<std::mutex> held(lock); });

	one.join();
	two.join();
}

static void lock_own()
{
	std::mutex first, second;
	std::thread one([&] { std::lock_guard<std::mutex> held(first); });
	std::thread two([&] { std::lock_guard<std::mutex> held(second); });

	one.join();
	two.join();
}

static void lock_three()
{
	std::mutex lock;
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] { std::lock_guard<std::mutex> held(lock); });
	for (auto &thread : threads)
		thread.join();
}

int main()
{
	raddle_options quirks{};

	passes("condition", wait_for_condition);
	quirks.has_spurious_wakeups = 1;
	quirks.has_stalls = 1;
	passes("condition, spuriously woken", wait_for_condition, quirks);
	passes("shared lock", share_a_lock);
	passes("semaphores", use_semaphores);
	passes("barrier", meet_at_a_barrier);
	passes("thread-local variables", use_thread_locals);
	passes("thread-local objects", run_destructors);
	passes("detached threads", leave_threads_behind);
	passes("time", let_time_pass);
	passes("time-out", time_out);
	passes("promise", keep_a_promise);
	passes("exception in a thread", catch_an_exception);
	passes("pthread_exit", exit_a_thread);
	passes("pthread_exit of the function", [] { pthread_exit(nullptr); });
	passes("a function that returns", [] { return 0; });
	passes("no threads", [] {});
	counts("one lock, two threads", 2, lock_once);
	counts("two locks, two threads", 1, lock_own);
	counts("one lock, three threads", 6, lock_three);

	/* Outside of checks threads are what they were. */
	for (int i = 0; i < 3; i++) {
		lock_three();
		passes("behind threads of the program's own", lock_once);
	}
	std::printf("%d failures\n", failures);
	return failures != 0;
}
