/* EXPECT: passed runs=20000 */
/*
 * Pattern: all are woken.
 *
 * Two threads wait for a flag, as C++20 has it: each tests a few times, yields a few times, and
 * only then sleeps. The flag is set once.
 *
 * Corrected: all that wait are woken. Cannot fail: a later thread finds the flag set.
 */
#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic<int> has_begun{0};
static std::atomic<int> arrived{0};

static void run()
{
	has_begun.wait(0);
	arrived++;
}

int main()
{
	std::thread first(run), second(run);

	has_begun = 1;
	has_begun.notify_all();
	first.join();
	second.join();
	std::printf("%d arrived\n", arrived.load());
	return 0;
}
