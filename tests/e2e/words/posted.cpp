// A task of a thread waits for a later task of the same thread. The lambda that calls the task begins with inlined code
// of the library.
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <thread>

static std::deque<std::function<void()>> tasks;

static std::future<int> post(std::function<int()> function)
{
	auto task = std::make_shared<std::packaged_task<int()>>(std::move(function));

	tasks.push_back([task] { (*task)(); });
	return task->get_future();
}

int main()
{
	std::future<int> second;
	auto first = post([&second] { return second.get(); });

	second = post([] { return 1; });
	std::thread([] {
		for (auto &task : tasks)
			task();
	}).join();
	return first.get() != 1;
}
