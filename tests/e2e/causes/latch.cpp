// A latch that is counted down before the result is stored.
#include <cstdlib>
#include <latch>
#include <thread>

static int results[2];
static std::latch done(2);

static void compute(int index)
{
	done.count_down(); // COUNTED
	results[index] = 1;
}

int main()
{
	std::thread first(compute, 0), second(compute, 1);

	done.wait();
	if (results[0] + results[1] != 2)
		std::abort();
	first.join();
	second.join();
}
