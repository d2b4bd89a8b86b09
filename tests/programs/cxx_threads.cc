/* EXPECT: passed runs=50 */
/*
 * The C++ library's threads up to C++17: thread, mutexes, condition variables, call_once, futures,
 * async, shared mutexes.
 */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

using namespace std::chrono_literals;

static void check_thread()
{
	std::vector<std::thread> threads;
	std::mutex mutex;
	std::atomic<int> moved{0};
	int sum = 0;

	for (int i = 1; i <= 4; i++)
		threads.emplace_back([&, i] {
			std::lock_guard<std::mutex> guard(mutex);
			sum += i;
		});
	std::thread carrier(
		[&moved](std::unique_ptr<int> value) { moved = *value; }, std::make_unique<int>(5));
	CHECK(carrier.joinable());
	carrier.join();
	CHECK(!carrier.joinable());
	CHECK(moved == 5);
	for (auto &thread : threads)
		thread.join();
	CHECK(sum == 10);
	CHECK(std::thread::id() != std::this_thread::get_id());
	std::this_thread::yield();
}

static void check_locks()
{
	std::timed_mutex timed;
	std::recursive_timed_mutex recursive;
	std::mutex first, second;
	bool got_it = true;

	timed.lock();
	std::thread([&] { got_it = timed.try_lock_for(5ms); }).join();
	CHECK(!got_it);
	timed.unlock();
	std::thread([&] {
		got_it = timed.try_lock_until(std::chrono::steady_clock::now() + 60s);
		timed.unlock();
	}).join();
	CHECK(got_it);
	CHECK(recursive.try_lock() && recursive.try_lock_for(1ms));
	recursive.unlock();
	recursive.unlock();

	int shared = 0;
	std::thread left([&] {
		std::scoped_lock both(first, second);
		shared++;
	});
	std::thread right([&] {
		std::scoped_lock both(second, first);
		shared++;
	});
	left.join();
	right.join();
	CHECK(shared == 2);
}

static void check_shared_mutex()
{
	std::shared_timed_mutex mutex;
	bool reads = false, writes = true;

	mutex.lock_shared();
	std::thread([&] {
		reads = mutex.try_lock_shared();
		writes = mutex.try_lock_for(5ms);
		mutex.unlock_shared();
	}).join();
	CHECK(reads);
	CHECK(!writes);
	mutex.unlock_shared();
	CHECK(mutex.try_lock());
	mutex.unlock();
}

static void check_conditions()
{
	std::mutex mutex;
	std::condition_variable condition;
	std::condition_variable_any any;
	bool is_set = false, any_set = false;
	std::unique_lock<std::mutex> lock(mutex);

	CHECK(condition.wait_for(lock, 5ms, [] { return false; }) == false);
	CHECK(condition.wait_until(
		      lock, std::chrono::system_clock::now() - 1s, [] { return false; }) == false);
	std::thread setter([&] {
		std::unique_lock<std::mutex> own(mutex);
		is_set = true;
		std::notify_all_at_thread_exit(condition, std::move(own));
	});
	condition.wait(lock, [&] { return is_set; });
	CHECK(is_set);
	lock.unlock();
	setter.join();
	std::thread any_setter([&] {
		std::lock_guard<std::mutex> own(mutex);
		any_set = true;
		any.notify_one();
	});
	lock.lock();
	any.wait(lock, [&] { return any_set; });
	lock.unlock();
	any_setter.join();
	CHECK(any_set);
}

static void check_call_once()
{
	std::once_flag flag;
	int tries = 0, caught = 0;
	std::mutex mutex;
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] {
			try {
				std::call_once(flag, [&] {
					if (++tries == 1)
						throw std::runtime_error("first");
				});
			} catch (const std::runtime_error &) {
				std::lock_guard<std::mutex> guard(mutex);
				caught++;
			}
		});
	for (auto &thread : threads)
		thread.join();
	CHECK(tries == 2);
	CHECK(caught == 1);
}

static int fail()
{
	throw std::out_of_range("far");
}

static void check_futures()
{
	auto answer = std::async(std::launch::async, [] { return 42; });
	auto lazy = std::async(std::launch::deferred, [] { return std::this_thread::get_id(); });
	auto failure = std::async(std::launch::async, fail);
	std::string what;

	CHECK(answer.get() == 42);
	CHECK(lazy.wait_for(0s) == std::future_status::deferred);
	CHECK(lazy.get() == std::this_thread::get_id());
	try {
		failure.get();
	} catch (const std::out_of_range &error) {
		what = error.what();
	}
	CHECK(what == "far");

	std::promise<std::string> promise;
	std::shared_future<std::string> first = promise.get_future().share();
	auto second = first;
	CHECK(first.wait_for(5ms) == std::future_status::timeout);
	std::thread giver([&] { promise.set_value("given"); });
	CHECK(first.get() == "given");
	CHECK(second.get() == "given");
	giver.join();

	std::packaged_task<int(int)> task([](int x) { return 2 * x; });
	auto doubled = task.get_future();
	std::thread(std::move(task), 21).join();
	CHECK(doubled.get() == 42);

	std::future<int> broken;
	{
		std::promise<int> forgotten;
		broken = forgotten.get_future();
	}
	bool is_broken = false;
	try {
		broken.get();
	} catch (const std::future_error &error) {
		is_broken = error.code() == std::future_errc::broken_promise;
	}
	CHECK(is_broken);
}

int main()
{
	check_thread();
	check_locks();
	check_shared_mutex();
	check_conditions();
	check_call_once();
	check_futures();
	return check_status();
}
