/* Reads of the target's memory that may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/sites/guarded_read.c"
__asm__(".pushsection .text\n\t.include \"runtime/sites/guarded_read_code.S\"\n\t.popsection");

#define PAGE_BYTES ((size_t)4096)

static int alarms;

static void handle(int signal, siginfo_t *info, void *context)
{
	if (guarded_read_has_failed(signal, info, context))
		return;
	if (signal != SIGUSR1)
		_exit(99);
	alarms++;
}

/* A page that can be read before one that cannot: the end of the first. */
static char *edge;

static int map_edge(void **state)
{
	(void)state;
	edge = mmap(
		NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (edge == MAP_FAILED || mprotect(edge + PAGE_BYTES, PAGE_BYTES, PROT_NONE) != 0)
		return -1;
	edge += PAGE_BYTES;
	return 0;
}

/* The framework has handlers of its own in each test. */
static void catch_faults(void)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};

	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
	assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
}

static void test_guarded_read__takes_the_value(void **state)
{
	const uint64_t from = UINT64_C(0x8877665544332211);
	uint64_t value = 0;

	(void)state;
	assert_true(guarded_read(&from, 1, &value));
	assert_int_equal(value, 0x11);
	assert_true(guarded_read(&from, 2, &value));
	assert_int_equal(value, 0x2211);
	assert_true(guarded_read(&from, 4, &value));
	assert_int_equal(value, 0x44332211);
	assert_true(guarded_read(&from, 8, &value));
	assert_true(value == from);
}

static void test_guarded_read__refuses_other_sizes(void **state)
{
	const char from[16] = "";
	uint64_t value = 5;

	(void)state;
	assert_false(guarded_read(from, 0, &value));
	assert_false(guarded_read(from, 3, &value));
	assert_false(guarded_read(from, 16, &value));
	assert_int_equal(value, 5);
}

static void test_guarded_read__fails_where_memory_cannot_be_read(void **state)
{
	uint64_t value = 5;

	(void)state;
	catch_faults();
	for (size_t bytes = 1; bytes <= 8; bytes *= 2) {
		assert_false(guarded_read(NULL, bytes, &value));
		assert_false(guarded_read(edge, bytes, &value));
		assert_false(guarded_read((void *)0x8000000000000000, bytes, &value));
		assert_true(guarded_read(edge - bytes, bytes, &value));
		assert_int_equal(value, 0);
		value = 5;
	}
	assert_false(guarded_read(edge - 1, 2, &value)); /* half of it */
	assert_int_equal(value, 5);
}

static void test_guarded_string__ends_with_the_zero(void **state)
{
	(void)state;
	assert_int_equal(guarded_string_bytes("", SIZE_MAX), 1);
	assert_int_equal(guarded_string_bytes("four", SIZE_MAX), 5);
	assert_int_equal(guarded_string_bytes("four", 3), 3);
	assert_int_equal(guarded_string_bytes("four", 0), 0);
	memcpy(edge - 5, "edge", 5);
	assert_int_equal(guarded_string_bytes(edge - 5, SIZE_MAX), 5);
}

/* The string is read in words: for any beginning and any contents behind it. */
static void test_guarded_string__is_the_same_at_every_location(void **state)
{
	static _Alignas(8) char text[64];

	(void)state;
	for (size_t start = 0; start < 8; start++)
		for (size_t length = 0; length < 24; length++) {
			memset(text, '\x80', sizeof text);
			text[start + length] = '\0';
			text[start + length + 1] = '\x01';
			assert_int_equal(guarded_string_bytes(text + start, SIZE_MAX), length + 1);
			for (size_t most = 0; most < 32; most++)
				assert_int_equal(guarded_string_bytes(text + start, most),
					most < length + 1 ? most : length + 1);
		}
}

static void test_guarded_string__ends_where_memory_cannot_be_read(void **state)
{
	(void)state;
	catch_faults();
	assert_int_equal(guarded_string_bytes(NULL, SIZE_MAX), 1);
	memcpy(edge - 4, "edge", 4);
	assert_int_equal(guarded_string_bytes(edge - 4, SIZE_MAX), 5);
	assert_int_equal(guarded_string_bytes(edge - 4, 4), 4);
}

/* Up to the first word that differs, wherever it is. */
static void test_same_words__are_counted(void **state)
{
	uint64_t words[7], known[7];

	(void)state;
	for (size_t count = 0; count <= 7; count++) {
		for (size_t other = 0; other <= count; other++) {
			for (size_t i = 0; i < 7; i++)
				words[i] = known[i] = 1000 + i;
			if (other < 7)
				known[other]++;
			assert_int_equal(guarded_same_words(words, known, count), other);
		}
	}
}

static void test_same_words__end_where_memory_cannot_be_read(void **state)
{
	const uint64_t known[4] = {0};

	(void)state;
	catch_faults();
	memset(edge - 32, 0, 32);
	for (size_t count = 0; count < 4; count++)
		assert_int_equal(guarded_same_words(edge - 8 * count, known, 4), count);
}

static void test_same_copied__copies_what_is_known(void **state)
{
	uint8_t from[40], known[40], target[40];

	(void)state;
	for (size_t bytes = 8; bytes <= 39; bytes++) {
		for (size_t other = 0; other <= bytes; other++) {
			size_t done;

			for (size_t i = 0; i < sizeof from; i++)
				from[i] = known[i] = (uint8_t)(i + 1);
			memset(target, 0, sizeof target);
			known[other] ^= 4;
			done = guarded_same_copied(from, known, target, bytes);
			assert_int_equal(done, other < bytes ? other / 8 * 8 : bytes);
			assert_memory_equal(target, known, done);
			for (size_t i = done; i < sizeof target; i++)
				assert_int_equal(target[i], 0);
		}
	}
}

static void test_same_copied__ends_where_memory_cannot_be_read(void **state)
{
	const uint8_t known[32] = {0};
	uint8_t target[32];

	(void)state;
	catch_faults();
	memset(edge - 32, 0, 32);
	assert_int_equal(guarded_same_copied(edge - 16, known, target, 32), 16);
	assert_int_equal(guarded_same_copied(edge - 13, known, target, 32), 8);
	assert_int_equal(guarded_same_copied(edge, known, target, 32), 0);
}

static void test_same_string__finds_zeros(void **state)
{
	char text[32] = "0123456789abcdefghijklmnop", known[32];
	struct guarded_same same;

	(void)state;
	memcpy(known, text, sizeof text);
	same = guarded_same_string(text, known, 3, 0);
	assert_int_equal(same.words, 3);
	assert_true(same.zeros == 0);
	same = guarded_same_string(text, known, 4, 0);
	assert_int_equal(same.words, 4);
	assert_true(same.zeros != 0);
	known[9] = 'x';
	same = guarded_same_string(text, known, 4, 0);
	assert_int_equal(same.words, 1);
	assert_true(same.zeros == 0);
	text[3] = known[3] = 0;
	assert_true(guarded_same_string(text, known, 1, 0).zeros != 0);
	assert_true(guarded_same_string(text, known, 1, UINT32_MAX).zeros == 0);
}

static void test_same_string__ends_where_memory_cannot_be_read(void **state)
{
	const uint64_t known[4] = {0};
	struct guarded_same same;

	(void)state;
	catch_faults();
	memset(edge - 32, 0, 32);
	same = guarded_same_string(edge - 16, known, 4, 0);
	assert_int_equal(same.words, 2);
	assert_true(same.zeros != 0);
	same = guarded_same_string(edge, known, 1, 0);
	assert_int_equal(same.words, 0);
	assert_true(same.zeros == 0);
}

/* Sent, and with the registers of code that may fault: still no fault. */
static void test_guarded_read__is_not_failed_by_a_sent_signal(void **state)
{
	ucontext_t context = {0};
	const siginfo_t sent = {.si_signo = SIGSEGV, .si_code = SI_USER};
	const siginfo_t fault = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};

	(void)state;
	catch_faults();
	context.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)guarded_words_start;
	assert_false(guarded_read_has_failed(SIGSEGV, &sent, &context));
	assert_false(guarded_read_has_failed(SIGALRM, &fault, &context));
	assert_true(guarded_read_has_failed(SIGSEGV, &fault, &context));
	assert_true(context.uc_mcontext.gregs[REG_RIP] == (greg_t)(uintptr_t)guarded_words_failed);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(alarms, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guarded_read__takes_the_value),
		cmocka_unit_test(test_guarded_read__refuses_other_sizes),
		cmocka_unit_test(test_guarded_read__fails_where_memory_cannot_be_read),
		cmocka_unit_test(test_guarded_string__ends_with_the_zero),
		cmocka_unit_test(test_guarded_string__is_the_same_at_every_location),
		cmocka_unit_test(test_guarded_string__ends_where_memory_cannot_be_read),
		cmocka_unit_test(test_same_words__are_counted),
		cmocka_unit_test(test_same_words__end_where_memory_cannot_be_read),
		cmocka_unit_test(test_same_copied__copies_what_is_known),
		cmocka_unit_test(test_same_copied__ends_where_memory_cannot_be_read),
		cmocka_unit_test(test_same_string__finds_zeros),
		cmocka_unit_test(test_same_string__ends_where_memory_cannot_be_read),
		cmocka_unit_test(test_guarded_read__is_not_failed_by_a_sent_signal),
	};

	return cmocka_run_group_tests(tests, map_edge, NULL);
}
