// notified WHAT: threads whose waits nothing ends. WHAT: flag (the notification precedes the change), latch (a thread
// forgets to count down).
#include <atomic>
#include <cstring>
#include <latch>
#include <thread>

static std::atomic<bool> is_ready{false};
static std::latch started(2);

static void wait_for_flag()
{
	is_ready.wait(false); // WAITED
}

static void start(int number)
{
	static std::atomic<int> first{-1};
	int none = -1;

	if (!first.compare_exchange_strong(none, number) && none == 1)
		return;
	started.count_down(); // COUNTED
}

int main(int, char **arguments)
{
	if (!std::strcmp(arguments[1], "flag")) {
		std::thread waiter(wait_for_flag);

		is_ready.notify_one();
		is_ready.store(true); // CHANGED
		waiter.join();
	} else {
		std::thread one(start, 1), two(start, 2);

		started.wait();
		one.join();
		two.join();
	}
	return 0;
}
