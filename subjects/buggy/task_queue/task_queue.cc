/* EXPECT: lost-wakeup runs<=2000 */
/*
 * Pattern: stop flag set outside the lock (C++).
 *
 * A worker sleeps until there is a task or it is to stop. The flag is atomic, so the destructor
 * sets it without the lock.
 *
 * Fails when: the worker has seen `stopping` unset and is about to wait; main sets it and notifies
 * (no thread waits yet); the worker starts to wait, and main joins it for ever.
 */
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

class task_queue
{
      public:
	task_queue() : worker([this] { work(); })
	{
	}

	~task_queue()
	{
		stopping = true;
		wake.notify_one();
		worker.join();
	}

	void add(std::function<void()> task)
	{
		std::lock_guard<std::mutex> guard(lock);
		tasks.push(std::move(task));
		wake.notify_one();
	}

      private:
	void work()
	{
		std::unique_lock<std::mutex> guard(lock);

		for (;;) {
			while (tasks.empty() && !stopping)
				wake.wait(guard);
			if (tasks.empty())
				return;
			std::function<void()> task = std::move(tasks.front());
			tasks.pop();
			guard.unlock();
			task();
			guard.lock();
		}
	}

	std::mutex lock;
	std::condition_variable wake;
	std::queue<std::function<void()>> tasks; // guarded by lock
	std::atomic<bool> stopping{false};
	std::thread worker; // last: it uses all of the above
};

static std::mutex journal_lock;
static int journal_entries; // guarded by journal_lock

static void write_journal()
{
	std::lock_guard<std::mutex> guard(journal_lock);
	journal_entries++;
}

int main()
{
	int done = 0;

	{
		task_queue queue;
		queue.add([&done] { done++; });
		queue.add([&done] { done++; });
		write_journal();
	}
	std::printf("%d tasks done\n", done);
	return 0;
}
