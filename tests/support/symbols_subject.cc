/*
 * A program that another process examines. It parks a fiber in a hand-made context, prints
 * addresses and lines as "word value", and waits until its standard input ends.
 */
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

extern "C" {
#include "platform/platform.h"
}

namespace bank
{
struct account {
	long balance;
	pthread_mutex_t lock;
};
account accounts[3]; /* accounts_line */
} // namespace bank
static const int accounts_line = __LINE__ - 2;
static pthread_mutex_t forks[5];

static struct context home, fiber;
static uintptr_t site;
static volatile int park_line, caller_line, inlined_line, outer_line;
static volatile int kept;

__attribute__((noinline)) static void note_site()
{
	site = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
	kept = 1;
}

namespace bank
{
template <typename T> struct teller {
	__attribute__((always_inline)) static inline void count(T amount)
	{
		inlined_line = __LINE__ + 1;
		note_site();
		kept = static_cast<int>(amount);
	}
};

__attribute__((noinline)) static void count_all(long amount)
{
	outer_line = __LINE__ + 1;
	teller<long>::count(amount);
	kept = 3;
}
} // namespace bank

__attribute__((noinline)) static void park()
{
	park_line = __LINE__ + 1;
	context_switch_plain(&fiber, &home);
	kept = 4;
}

__attribute__((noinline)) static void call_park(int depth)
{
	if (depth)
		call_park(depth - 1);
	else {
		caller_line = __LINE__ + 1;
		park();
	}
	kept = 5;
}

static void fiber_main(void *)
{
	call_park(2);
	kept = 6;
}

/* A frame whose return address is sound and whose registers lead nowhere, or in a circle. */
static uint64_t circle[64], noise[512];

static void make_garbage()
{
	const uint64_t *frame = static_cast<const uint64_t *>(fiber.stack_pointer);

	for (uint64_t &word : circle)
		word = reinterpret_cast<uintptr_t>(circle);
	circle[7] = frame[7];
	for (unsigned i = 0; i < 512; i++)
		noise[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	noise[7] = frame[7];
}

int main()
{
	static unsigned char stack[64 << 10];
	char end;

	bank::count_all(7);
	context_make(&fiber, stack + sizeof stack, context_thread_base(), fiber_main, nullptr);
	context_switch_plain(&home, &fiber);
	make_garbage();
	std::printf("site %" PRIuPTR "\ninlined_line %d\nouter_line %d\n", site, inlined_line,
		outer_line);
	std::printf("accounts %p\naccounts_line %d\nforks %p\n", (void *)bank::accounts,
		accounts_line, (void *)forks);
	std::printf("account_size %zu\nlock_offset %zu\n", sizeof(bank::account),
		offsetof(bank::account, lock));
	std::printf("stack_pointer %p\nthread_base %" PRIuPTR "\npark_line %d\ncaller_line %d\n",
		fiber.stack_pointer, fiber.thread_base, park_line, caller_line);
	std::printf("circle %p\nnoise %p\nstack %p\ndone 1\n", (void *)circle, (void *)noise,
		(void *)&end);
	std::fflush(stdout);
	return read(0, &end, 1) > 0;
}
