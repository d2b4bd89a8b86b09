// A posted lambda holds a plain pointer to an object that a shared_ptr owns: the owner frees it first.
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>

static std::mutex lock;
static std::queue<std::function<void()>> posted;

class session
{
	std::mutex mutex;
	int greetings = 0;

	void say()
	{
		std::lock_guard<std::mutex> held(mutex); // USED
		greetings++;
	}

      public:
	void greet()
	{
		std::lock_guard<std::mutex> held(lock);

		posted.push([this] { // LAMBDA
			say();
		});
	}
};

static void run_posted()
{
	std::function<void()> next;

	{
		std::lock_guard<std::mutex> held(lock);

		next = std::move(posted.front());
	}
	next();
}

int main()
{
	auto one = std::make_shared<session>();

	one->greet();
	std::thread runner(run_posted);
	one.reset(); // FREED
	runner.join();
	return 0;
}
