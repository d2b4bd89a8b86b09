// A group of workers that receives the stop request without the lock; at -O2 the constructor of the group is inlined into main.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class WorkerGroup
{
      public:
	explicit WorkerGroup(unsigned count)
	{
		for (unsigned i = 0; i < count; i++)
			workers_.emplace_back([this] { work(); });
	}
	~WorkerGroup()
	{
		stop_ = true;
		changed_.notify_all();
		for (auto &worker : workers_)
			worker.join();
	}
	template <class F> void submit(F job)
	{
		{
			std::lock_guard<std::mutex> guard(lock_);
			jobs_.emplace(std::move(job));
		}
		changed_.notify_one();
	}

      private:
	void work()
	{
		for (;;) {
			std::function<void()> job;
			{
				std::unique_lock<std::mutex> guard(lock_);
				changed_.wait(guard, [this] { return stop_ || !jobs_.empty(); });
				if (jobs_.empty())
					return;
				job = std::move(jobs_.front());
				jobs_.pop();
			}
			job();
		}
	}
	std::mutex lock_;
	std::condition_variable changed_;
	std::queue<std::function<void()>> jobs_;
	std::atomic<bool> stop_{false};
	std::vector<std::thread> workers_;
};

int main()
{
	std::atomic<int> done{0};
	{
		WorkerGroup group(3);
		for (int i = 0; i < 5; i++)
			group.submit([&] { done++; });
	}
	return done != 5;
}
