/*
 * A C program whose memory another process examines. It parks a fiber, prints addresses and lines as
 * "word value", and waits until its standard input ends. memory_subject_cxx.cc does the same in C++.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/platform.h"

struct position {
	int x, y;
};

struct account {
	long id;
	long balance;
	struct position position;
	union {
		long whole;
		int halves[2];
	};
	unsigned open : 1, kind : 4;
	unsigned late;
	struct {
		short low, high;
	};
};

struct text {
	long length;
	char bytes[];
};

struct account accounts[3]; /* accounts_line */
enum { ACCOUNTS_LINE = __LINE__ - 1 };
static struct position grid[4][5];
static int counter;
static struct {
	int head;
	struct position points[3];
} queue;
static __thread long errors[2];
static struct context home, fiber;
static volatile int sink;
static volatile uintptr_t made_at, read_at;

/* The compiler does not know the result, and splits no variable. */
__attribute__((noinline)) static void print(const char *word, const volatile void *address)
{
	printf("%s %p\n", word, (void *)(uintptr_t)address);
	sink++;
}

__attribute__((noinline)) static int *count_calls(void)
{
	static int calls;

	calls += sink;
	return &calls;
}

__attribute__((noinline)) static void *allocate(size_t bytes)
{
	made_at = (uintptr_t)__builtin_return_address(0);
	return calloc(1, bytes);
}

__attribute__((noinline)) static void look(const volatile void *location)
{
	read_at = (uintptr_t)__builtin_return_address(0);
	sink += location != NULL;
}

__attribute__((noinline)) static void read_account(struct account *account)
{
	look(&account->balance);
	sink++;
}

__attribute__((noinline)) static void park(void)
{
	context_switch_plain(&fiber, &home);
	sink++;
}

__attribute__((always_inline)) static inline void call_park(void)
{
	struct position inner[2] = {{1, 2}, {3, 4}};

	print("inner", &inner[1].y);
	park();
	sink += inner[1].y;
}

static void fiber_main(void *argument)
{
	struct account local = {.id = sink};
	int done = *(int *)argument;

	print("local", &local.position.y);
	print("done_flag", &done);
	if (sink) {
		long nested[3] = {done, sink, 2};

		print("nested", &nested[2]);
		call_park();
		sink += (int)nested[1];
	}
	sink += done + (int)local.id;
}

int main(void)
{
	const size_t stack_bytes = 64 << 10;
	char *stack = platform_map(stack_bytes, false);
	struct account *made = allocate(2 * sizeof *made);
	struct text *text;
	int first = 1;
	char end;

	printf("made_site %" PRIuPTR "\nmade_line %d\n", made_at, __LINE__ - 5);
	print("made", made);
	text = allocate(40);
	printf("text_site %" PRIuPTR "\ntext_line %d\n", made_at, __LINE__ - 1);
	print("text", text);
	read_account(made);
	printf("read_site %" PRIuPTR "\n", read_at);
	context_make(&fiber, stack + stack_bytes, context_thread_base(), fiber_main, &first);
	context_switch_plain(&home, &fiber);
	sink += counter + grid[sink % 4][sink % 5].x + queue.head + queue.points[sink % 3].y;
	errors[sink % 2]++;
	print("accounts", accounts);
	print("grid", &grid[2][3].y);
	print("counter", &counter);
	print("queue", &queue.points[1].x);
	print("errors", &errors[1]);
	print("calls", count_calls());
	printf("accounts_line %d\naccount_size %zu\nbalance %zu\nposition %zu\nwhole %zu\nlow %zu\n",
		ACCOUNTS_LINE, sizeof(struct account), offsetof(struct account, balance),
		offsetof(struct account, position), offsetof(struct account, whole),
		offsetof(struct account, low));
	printf("late %zu\nstack_pointer %p\nthread_base %" PRIuPTR "\ndone 1\n",
		offsetof(struct account, late), fiber.stack_pointer, context_thread_base());
	fflush(stdout);
	return read(0, &end, 1) > 0;
}
