// A thread counts in a local variable of a function that has returned. No other access shows that two threads use it.
#include <thread>

static std::thread thread;

static void __attribute__((noinline)) start()
{
	int counter;

	thread = std::thread([&counter] { counter = 1; });
}

static int __attribute__((noinline)) other(int number)
{
	volatile int numbers[8] = {number};

	return numbers[0];
}

int main()
{
	start();
	const int number = other(3);
	thread.join();
	return number != 3;
}
