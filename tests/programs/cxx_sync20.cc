/* EXPECT: passed runs=50 */
/*
 * C++20: atomic waits, latch, barrier, counting_semaphore, jthread with stop tokens. libstdc++ builds
 * them on its own futexes.
 */
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <thread>
#include <vector>

#include "check.h"

using namespace std::chrono_literals;

static void check_atomic_wait()
{
	std::atomic<int> stage{0};
	std::atomic_flag flag;
	int seen = 0;

	std::thread follower([&] {
		stage.wait(0);
		seen = stage;
		flag.test_and_set();
		flag.notify_one();
	});
	stage = 1;
	stage.notify_all();
	flag.wait(false);
	CHECK(seen == 1);
	follower.join();

	/* Ping-pong over one atomic of a size that the kernel has no futex for. */
	std::atomic<long> turn{0};
	std::thread other([&] {
		for (long i = 0; i < 3; i++) {
			turn.wait(2 * i);
			turn = 2 * i + 2;
			turn.notify_one();
		}
	});
	for (long i = 0; i < 3; i++) {
		turn = 2 * i + 1;
		turn.notify_one();
		turn.wait(2 * i + 1);
	}
	other.join();
	CHECK(turn == 6);
}

static void check_latch()
{
	std::latch done(3);
	std::atomic<int> work{0};
	std::vector<std::jthread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back([&] {
			work++;
			done.count_down();
		});
	done.wait();
	CHECK(work == 3);
	CHECK(done.try_wait());
}

static void check_barrier()
{
	int phases = 0;
	std::atomic<int> arrived{0};
	std::atomic<int> early{0};
	auto on_completion = [&]() noexcept { phases++; };
	std::barrier barrier(3, on_completion);
	{
		std::vector<std::jthread> threads;

		for (int i = 0; i < 3; i++)
			threads.emplace_back([&] {
				for (int phase = 1; phase <= 3; phase++) {
					arrived++;
					barrier.arrive_and_wait();
					if (arrived < 3 * phase)
						early++;
				}
			});
	}
	CHECK(phases == 3);
	CHECK(arrived == 9);
	CHECK(early == 0);
}

static void check_semaphore()
{
	std::counting_semaphore<8> slots(2);
	std::binary_semaphore gate(0);
	std::atomic<int> inside{0};
	std::atomic<int> too_many{0};

	CHECK(!gate.try_acquire());
	CHECK(!gate.try_acquire_for(5ms));
	{
		std::vector<std::jthread> threads;

		for (int i = 0; i < 4; i++)
			threads.emplace_back([&] {
				slots.acquire();
				if (++inside > 2)
					too_many++;
				std::this_thread::yield();
				inside--;
				slots.release();
			});
		std::jthread opener([&] { gate.release(); });
		gate.acquire();
	}
	CHECK(too_many == 0);
	CHECK(slots.try_acquire() && slots.try_acquire() && !slots.try_acquire());
}

static void check_stop()
{
	std::mutex mutex;
	std::condition_variable_any condition;
	bool was_stopped = false;
	int callbacks = 0;

	{
		std::jthread thread([&](std::stop_token token) {
			std::unique_lock<std::mutex> lock(mutex);
			was_stopped = !condition.wait(lock, token, [] { return false; });
		});
		std::stop_callback callback(thread.get_stop_token(), [&] { callbacks++; });
		CHECK(thread.request_stop());
		CHECK(!thread.request_stop());
	}
	CHECK(was_stopped);
	CHECK(callbacks == 1);
}

int main()
{
	check_atomic_wait();
	check_latch();
	check_barrier();
	check_semaphore();
	check_stop();
	return check_status();
}
