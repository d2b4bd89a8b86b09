/* Sixty-four threads wait for one gate, whose opening wakes one of them. */
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

class starting_gate
{
      public:
	void pass()
	{
		std::unique_lock<std::mutex> guard(lock_);
		opened_.wait(guard, [this] { return is_open_; });
	}

	void open()
	{
		{
			std::lock_guard<std::mutex> guard(lock_);
			is_open_ = true;
		}
		opened_.notify_one();
	}

      private:
	std::mutex lock_;
	std::condition_variable opened_;
	bool is_open_ = false;
};

int main()
{
	starting_gate gate;
	std::vector<std::thread> runners;

	for (int i = 0; i < 64; i++)
		runners.emplace_back([&gate] { gate.pass(); });
	gate.open();
	for (auto &runner : runners)
		runner.join();
}
