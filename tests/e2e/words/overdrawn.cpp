/* Clients count failed withdrawals without a lock. libgcc initialises its tables in the first throw, by a once control of
 * its own. */
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex lock;
static int balance = 10;
static int failed;

static void withdraw(int sum)
{
	std::lock_guard<std::mutex> held(lock);

	if (balance < sum)
		throw std::runtime_error("too little money");
	balance -= sum;
}

static void client()
{
	for (int i = 0; i < 2; i++)
		try {
			withdraw(4);
		} catch (const std::exception &) {
			failed++;
		}
}

int main()
{
	std::vector<std::thread> clients;

	for (int i = 0; i < 3; i++)
		clients.emplace_back(client);
	for (std::thread &thread : clients)
		thread.join();
	assert(failed == 4);
	return 0;
}
