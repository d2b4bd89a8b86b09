// A pool of idle workers, beside a thread that waits for a count whose update was lost: pool atomic | condition.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class pool
{
	std::mutex lock;
	std::condition_variable changed;
	std::deque<std::function<void()>> tasks;
	bool is_ending = false;
	std::vector<std::thread> workers;

	void work()
	{
		for (;;) {
			std::unique_lock<std::mutex> held(lock);

			changed.wait(held, [this] { return is_ending || !tasks.empty(); });
			if (tasks.empty())
				return;
			auto task = std::move(tasks.front());
			tasks.pop_front();
			held.unlock();
			task();
		}
	}

      public:
	explicit pool(int count)
	{
		for (int i = 0; i < count; i++)
			workers.emplace_back([this] { work(); });
	}

	~pool()
	{
		{
			std::lock_guard<std::mutex> held(lock);
			is_ending = true;
		}
		changed.notify_all();
		for (auto &worker : workers)
			worker.join();
	}

	void post(std::function<void()> task)
	{
		{
			std::lock_guard<std::mutex> held(lock);
			tasks.push_back(std::move(task));
		}
		changed.notify_one();
	}
};

static std::atomic<int> left{2};

static void count_down()
{
	const int seen = left.load();

	left.store(seen - 1); // LOST
	left.notify_all();
}

static std::mutex state;
static std::condition_variable done;
static int count;

static void count_up()
{
	int seen;

	{
		std::lock_guard<std::mutex> held(state);
		seen = count;
	}
	{
		std::lock_guard<std::mutex> held(state); // SECOND
		count = seen + 1;			 // STALE
	}
	done.notify_all();
}

int main(int arguments, char **argument)
{
	const bool is_atomic = arguments > 1 && !std::strcmp(argument[1], "atomic");
	pool two(2);

	for (int i = 0; i < 2; i++)
		two.post(is_atomic ? count_down : count_up);
	if (is_atomic) {
		for (int seen; (seen = left.load()) != 0;)
			left.wait(seen); // ATOMIC
	} else {
		std::unique_lock<std::mutex> held(state);
		done.wait(held, [] { return count == 2; }); // CONDITION
	}
	return 0;
}
