/*
 * A client that gave up after its limit returns a permit that it never had. Two clients then hold the only permit.
 * The C++ library tests the semaphore and yields some times before a wait begins. That wait ends early only in a run
 * with stalls.
 */
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <semaphore>
#include <thread>

static std::counting_semaphore<8> permits(1);
static std::atomic<int> holders;

static void serve()
{
	const bool has_permit = permits.try_acquire_for(std::chrono::milliseconds(5));

	if (has_permit) {
		if (++holders != 1)
			abort();
		--holders;
	}
	permits.release();
}

int main()
{
	std::thread clients[3];

	for (std::thread &client : clients)
		client = std::thread(serve);
	for (std::thread &client : clients)
		client.join();
}
