// A worker that ends although its queue holds a task: the owner of the future gets a broken promise.
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

class pool {
public:
	std::future<int> add(int value)
	{
		std::packaged_task<int()> task([value] { return value; });
		auto result = task.get_future();

		{
			std::lock_guard<std::mutex> guard(lock);
			tasks.push_back(std::move(task));
		}
		changed.notify_one();
		return result;
	}

	void stop()
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			is_stopped = true;
		}
		changed.notify_one();
		worker.join();
		tasks.clear(); // DESTROYED
	}

private:
	void work()
	{
		std::unique_lock<std::mutex> guard(lock);

		for (;;) {
			changed.wait(guard, [&] { return is_stopped || !tasks.empty(); });
			if (is_stopped)
				return;
			auto task = std::move(tasks.front());
			tasks.pop_front();
			task();
		}
	}

	std::mutex lock;
	std::condition_variable changed;
	std::deque<std::packaged_task<int()>> tasks;
	bool is_stopped = false;
	std::thread worker{[this] { work(); }};
};

int main()
{
	pool workers;
	std::future<int> result = workers.add(1);

	workers.stop();
	return result.get() != 1; // READ
}
