/* EXPECT: deadlock runs<=2000 */
/*
 * Pattern: one is woken where all are waiting.
 *
 * Two threads wait for a flag, as C++20 has it: each tests a few times, yields a few times, and
 * only then sleeps. The flag is set once.
 *
 * Fails when: main.0 and main.1 have both gone to sleep before main sets the flag: it wakes one of them.
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
	has_begun.notify_one();
	first.join();
	second.join();
	std::printf("%d arrived\n", arrived.load());
	return 0;
}
