/*
 * The library that the loader takes for libtsan.so.2. The runtime, which precedes it, defines the
 * functions that compilers call. This library defines libc functions whose accesses a
 * ThreadSanitizer build reports: each entry (entries.S) reports the accesses before it jumps to
 * libc's function. Runs in any thread, also before the constructors.
 */
#include "compiler/libtsan/calls.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/instrument_abi.h"

enum call {
#define CALL(name, rule) CALL_##name,
#include "compiler/libtsan/calls.def"
#undef CALL
	CALL_COUNT
};

/* Defined by the runtime; in the program, these names lead to the runtime, too. */
void __tsan_read_range_pc(const void *address, size_t bytes, void *site);
void __tsan_write_range_pc(void *address, size_t bytes, void *site);

static struct {
	void *next[CALL_COUNT]; /* libc's functions; NULL: not looked up yet */
	/* Code of the runtime, which calls these functions for itself. */
	const void *runtime_start, *runtime_end;
} calls;

static void *calls_next(enum call call)
{
	static const char *const names[CALL_COUNT] = {
#define CALL(name, rule) #name,
#include "compiler/libtsan/calls.def"
#undef CALL
	};

	if (!calls.next[call])
		calls.next[call] = dlsym(RTLD_NEXT, names[call]);
	return calls.next[call];
}

/* Returns the bytes of a string that is shorter than `most`, with its terminating zero. */
static size_t calls_length(const char *text, size_t most)
{
	size_t bytes = 0;

	while (bytes < most && text[bytes])
		bytes++;
	return bytes < most ? bytes + 1 : most;
}

static void calls_read(const void *address, size_t bytes, void *site)
{
	__tsan_read_range_pc(address, bytes, site);
}

static void calls_copy(const struct call_arguments *with)
{
	calls_read(with->pointers[1], with->numbers[2], with->site);
	__tsan_write_range_pc(with->pointers[0], with->numbers[2], with->site);
}

static void calls_fill(const struct call_arguments *with)
{
	__tsan_write_range_pc(with->pointers[0], with->numbers[2], with->site);
}

static void calls_compare_memory(const struct call_arguments *with)
{
	calls_read(with->pointers[0], with->numbers[2], with->site);
	calls_read(with->pointers[1], with->numbers[2], with->site);
}

static void calls_find_byte(const struct call_arguments *with)
{
	const unsigned char *bytes = with->pointers[0];
	size_t count = 0;

	while (count < with->numbers[2] && bytes[count++] != (unsigned char)with->numbers[1])
		continue;
	calls_read(bytes, count, with->site);
}

static void calls_string(const struct call_arguments *with)
{
	calls_read(with->pointers[0], calls_length(with->pointers[0], SIZE_MAX), with->site);
}

static void calls_bounded_string(const struct call_arguments *with)
{
	calls_read(
		with->pointers[0], calls_length(with->pointers[0], with->numbers[1]), with->site);
}

static void calls_two_strings(const struct call_arguments *with)
{
	calls_string(with);
	calls_read(with->pointers[1], calls_length(with->pointers[1], SIZE_MAX), with->site);
}

static bool calls_differ(char a, char b, bool ignores_case)
{
	const bool are_letters = (a | 32) >= 'a' && (a | 32) <= 'z';

	return a != b && !(ignores_case && are_letters && (a | 32) == (b | 32));
}

/* Reports the bytes up to the first difference. */
static void calls_compare_most(const struct call_arguments *with, size_t most, bool ignores_case)
{
	const char *first = with->pointers[0];
	const char *second = with->pointers[1];
	size_t bytes = 0;

	while (bytes < most) {
		const char at = first[bytes];

		bytes++;
		if (!at || calls_differ(at, second[bytes - 1], ignores_case))
			break;
	}
	calls_read(first, bytes, with->site);
	calls_read(second, bytes, with->site);
}

static void calls_compare(const struct call_arguments *with)
{
	calls_compare_most(with, SIZE_MAX, false);
}

static void calls_compare_bounded(const struct call_arguments *with)
{
	calls_compare_most(with, with->numbers[2], false);
}

static void calls_compare_case(const struct call_arguments *with)
{
	calls_compare_most(with, SIZE_MAX, true);
}

static void calls_compare_case_bounded(const struct call_arguments *with)
{
	calls_compare_most(with, with->numbers[2], true);
}

static void calls_string_copy(const struct call_arguments *with)
{
	const size_t bytes = calls_length(with->pointers[1], SIZE_MAX);

	calls_read(with->pointers[1], bytes, with->site);
	__tsan_write_range_pc(with->pointers[0], bytes, with->site);
}

static void calls_bounded_copy(const struct call_arguments *with)
{
	const size_t bytes = calls_length(with->pointers[1], with->numbers[2]);

	calls_read(with->pointers[1], bytes, with->site);
	__tsan_write_range_pc(with->pointers[0], with->numbers[2], with->site);
}

static void calls_string_append(const struct call_arguments *with)
{
	const size_t before = calls_length(with->pointers[0], SIZE_MAX) - 1;
	const size_t bytes = calls_length(with->pointers[1], SIZE_MAX);

	calls_read(with->pointers[0], before + 1, with->site);
	calls_read(with->pointers[1], bytes, with->site);
	__tsan_write_range_pc((char *)with->pointers[0] + before, bytes, with->site);
}

static void calls_find_character(const struct call_arguments *with)
{
	const char *text = with->pointers[0];
	size_t bytes = 1;

	while (text[bytes - 1] && text[bytes - 1] != (char)with->numbers[1])
		bytes++;
	calls_read(text, bytes, with->site);
}

void *calls_report(const struct call_arguments *with, uint32_t call)
{
	static void (*const rules[CALL_COUNT])(const struct call_arguments *with) = {
#define CALL(name, rule) calls_##rule,
#include "compiler/libtsan/calls.def"
#undef CALL
	};

	if (calls.runtime_end &&
		!(with->site >= calls.runtime_start && with->site < calls.runtime_end))
		rules[call](with);
	return calls_next(call);
}

/* The runtime looks this name up (runtime/life/linked_tsan.c). */
__attribute__((visibility("default"))) const char raddle_libtsan_is_loaded = 1;

__attribute__((constructor)) static void calls_find(void)
{
	struct dl_find_object runtime;

	for (unsigned call = 0; call < CALL_COUNT; call++)
		(void)calls_next(call);
	/* The program never defines this name. */
	if (_dl_find_object((void *)(uintptr_t)raddle_module_loaded, &runtime) != 0)
		return;
	calls.runtime_start = runtime.dlfo_map_start;
	calls.runtime_end = runtime.dlfo_map_end;
}
