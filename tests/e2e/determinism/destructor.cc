/* The destructor of a thread_local object uses memory that main frees without waiting for both threads. */
#include <mutex>
#include <thread>

struct totals {
	int lines = 0;
};

static std::mutex mutex;
static totals *all = new totals;

struct counter {
	int lines = 0;

	~counter()
	{
		std::unique_lock<std::mutex> lock(mutex);
		totals *found = all;

		lock.unlock();
		found->lines += lines;
	}
};

static thread_local counter own;

int main()
{
	std::thread first([] { own.lines = 1; }), second([] { own.lines = 2; });

	second.join();
	mutex.lock();
	delete all;
	mutex.unlock();
	first.join();
}
