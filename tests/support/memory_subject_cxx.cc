/* The same as memory_subject.c, in C++. */
#include <array>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" {
#include "platform/platform.h"
}

static volatile int sink;

__attribute__((noinline)) static void print(const char *word, const volatile void *address)
{
	std::printf("%s %p\n", word, const_cast<const void *>(address));
	sink = sink + 1;
}

namespace bank
{
struct base {
	virtual ~base() = default;
	int inherited = 1;
};

template <typename T> struct queue : base {
	T items[4];
	std::atomic<int> size{0};
	static long made;
};
template <typename T> long queue<T>::made = 7;

queue<long> waiting;
std::atomic<long> flag;
std::array<std::atomic<short>, 5> slots;
std::mutex lock;
std::vector<int> numbers;

namespace
{
int hidden[2];
}

__attribute__((noinline)) static int *hide()
{
	return &hidden[sink != 0];
}

class teller
{
      public:
	__attribute__((noinline)) int *serve()
	{
		static int served;

		served += sink;
		return &served;
	}

      private:
	int number = 0;
};
} // namespace bank

static thread_local bank::queue<long> own;
static struct context home, fiber;

__attribute__((noinline)) static void park()
{
	context_switch_plain(&fiber, &home);
	sink = sink + 1;
}

static void fiber_main(void *)
{
	bank::queue<long> local;
	std::atomic<bool> done{false};
	auto wait = [&] {
		print("done_flag", &done);
		park();
	};

	print("local", &local.inherited);
	wait();
	sink = sink + local.inherited + done;
}

int main()
{
	const size_t stack_bytes = 64 << 10;
	char *stack = static_cast<char *>(platform_map(stack_bytes, false));
	bank::teller teller;
	char end;

	context_make(&fiber, stack + stack_bytes, context_thread_base(), fiber_main, nullptr);
	context_switch_plain(&home, &fiber);
	own.items[sink % 4] = sink;
	bank::slots[sink % 5] = 1;
	print("size", &bank::waiting.size);
	print("inherited", &bank::waiting.inherited);
	print("vptr", &bank::waiting);
	print("items", &bank::waiting.items[3]);
	print("made", &bank::queue<long>::made);
	print("flag", &bank::flag);
	print("slots", &bank::slots[2]);
	print("lock", &bank::lock);
	print("numbers", &bank::numbers);
	print("hidden", bank::hide());
	print("served", teller.serve());
	print("own", &own.items[2]);
	std::printf("stack_pointer %p\nthread_base %" PRIuPTR "\ndone 1\n", fiber.stack_pointer,
		context_thread_base());
	std::fflush(stdout);
	return read(0, &end, 1) > 0;
}
