/*
 * A shared account, and threads that receive a stop request. The C++ library's own data for that is not of interest,
 * but the account lies in the library's memory. total() releases the lock between two reads that belong together.
 */
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

struct account {
	std::mutex lock;
	int checking = 100, savings = 100;

	void move(int sum)
	{
		std::lock_guard guard(lock);
		checking -= sum;
		savings += sum;
	}

	int total()
	{
		int sum;
		{
			std::lock_guard guard(lock);
			sum = checking;
		}
		std::lock_guard guard(lock);
		return sum + savings;
	}
};

static std::atomic<int> is_ready{0};

int main()
{
	auto shared = std::make_shared<account>();
	{
		std::jthread worker([shared](std::stop_token stop) {
			is_ready = 1;
			is_ready.notify_all();
			for (int i = 0; i < 3 && !stop.stop_requested(); i++)
				shared->move(i);
		});
		std::jthread other([shared](std::stop_token stop) {
			is_ready.wait(0);
			std::stop_callback callback(stop, [&] { shared->move(1); });
			if (shared->total() < 0)
				abort();
		});
		worker.request_stop();
	}
	return shared->total() == 200 ? 0 : 1;
}
