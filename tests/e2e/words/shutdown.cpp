/* A lost wake-up: the destructor, in one line, sets the flag without holding the mutex. */
#include <condition_variable>
#include <mutex>
#include <thread>

class service
{
	std::mutex lock;
	std::condition_variable bell;
	bool is_stopped = false;
	std::thread worker{[this] { wait(); }};

	void wait()
	{
		std::unique_lock<std::mutex> held(lock);

		bell.wait(held, [this] { return is_stopped; });
	}

      public:
	/* clang-format off */
	~service() { is_stopped = true; bell.notify_all(); worker.join(); }
	/* clang-format on */
};

int main()
{
	service local;

	return 0;
}
