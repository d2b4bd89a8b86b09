// Threads that wait for objects of C++20 whose other side never comes: the argument chooses the object.
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <future>
#include <latch>
#include <memory>
#include <semaphore>
#include <thread>

struct job {
	std::latch done{2};
	std::atomic<int> state{0};
	std::counting_semaphore<4> slots{0};
};

static std::promise<int> answer;

static void wait_for(job &work, std::barrier<> &gate, std::future<int> &result, int object)
{
	if (object == 0)
		work.done.arrive_and_wait();
	else if (object == 1)
		work.state.wait(0);
	else if (object == 2)
		work.slots.acquire();
	else if (object == 3)
		gate.arrive_and_wait();
	else
		(void)result.get();
}

int main(int, char **arguments)
{
	const auto work = std::make_unique<job>();
	std::barrier<> gate(2);
	std::future<int> result = answer.get_future();
	std::thread thread([&] { wait_for(*work, gate, result, std::atoi(arguments[1])); });

	thread.join();
	return 0;
}
