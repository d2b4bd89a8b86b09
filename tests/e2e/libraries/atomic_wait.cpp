// Waits through std::atomic::wait: the futex call lies some templates of the standard library below the user's line.
#include <atomic>
#include <thread>

static std::atomic<int> ready;

static void wait_until_ready()
{
	ready.wait(0); // the user's call
}

int main()
{
	std::thread waiter(wait_until_ready);

	ready = 1;
	ready.notify_all();
	waiter.join();
	return 0;
}
