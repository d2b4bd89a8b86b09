/* Workers that run lambdas. The flag that ends them is set without the lock, between a worker's test and its wait. */
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

template <class Result> class task_runner
{
      public:
	explicit task_runner(int workers)
	{
		for (int i = 0; i < workers; i++)
			workers_.emplace_back([this] {
				for (std::function<Result()> task; next(task);)
					task();
			});
	}

	~task_runner()
	{
		is_closed_ = true;
		changed_.notify_all();
		for (auto &worker : workers_)
			worker.join();
	}

	template <class Task> void add(Task task)
	{
		{
			std::lock_guard<std::mutex> guard(lock_);
			tasks_.emplace_back(task);
		}
		changed_.notify_one();
	}

      private:
	bool next(std::function<Result()> &task)
	{
		std::unique_lock<std::mutex> guard(lock_);

		changed_.wait(guard, [this] { return is_closed_ || !tasks_.empty(); });
		if (tasks_.empty())
			return false;
		task = tasks_.front();
		tasks_.pop_front();
		return true;
	}

	std::mutex lock_;
	std::condition_variable changed_;
	std::deque<std::function<Result()>> tasks_;
	std::atomic<bool> is_closed_{false};
	std::vector<std::thread> workers_;
};

int main()
{
	std::atomic<int> sum{0};
	task_runner<int> runner(2);

	for (int i = 1; i <= 2; i++)
		runner.add([&sum, i] { return sum += i; });
}
