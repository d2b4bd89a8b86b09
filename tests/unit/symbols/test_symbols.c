/* Examines tests/support/symbols_subject.cc from another process, while it stands still. */
#undef NDEBUG /* declares __assert_fail */
#include <assert.h>
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/symbols.h"

#define FRAMES 64

struct subject {
	pid_t pid;
	int input;	    /* closing it ends the subject */
	char printed[2048]; /* "\nword value\n..." */
	struct symbols *symbols;
};

static uint64_t printed(const struct subject *subject, const char *word)
{
	char key[64];
	const char *found;

	(void)snprintf(key, sizeof key, "\n%s ", word); /* words are short */
	found = strstr(subject->printed, key);
	if (!found)
		fail_msg("the subject did not print %s", word);
	return strtoull(found + strlen(key), NULL, 0);
}

static void start_subject(struct subject *subject, int input[2], int output[2])
{
	char path[4096];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);

	if (length <= 0)
		_exit(127);
	path[length] = '\0';
	strcpy(strrchr(path, '/') + 1, "symbols_subject");
	(void)dup2(input[0], 0);
	(void)dup2(output[1], 1);
	(void)close(input[1]); /* otherwise the end of input would never arrive */
	execl(path, path, (char *)NULL);
	_exit(127);
	(void)subject;
}

static int set_up(void **state)
{
	struct subject *subject = calloc(1, sizeof *subject);
	int input[2], output[2];
	size_t used = 1;
	ssize_t got;
	struct error err;

	if (!subject || pipe(input) || pipe(output))
		return -1;
	subject->pid = fork();
	if (!subject->pid)
		start_subject(subject, input, output);
	(void)close(input[0]);
	(void)close(output[1]);
	subject->input = input[1];
	subject->printed[0] = '\n';
	while (!strstr(subject->printed, "\ndone") &&
		(got = read(output[0], subject->printed + used,
			 sizeof subject->printed - 1 - used)) > 0)
		used += (size_t)got;
	(void)close(output[0]);
	*state = subject;
	return symbols_from_process(&subject->symbols, subject->pid, &err);
}

static int tear_down(void **state)
{
	struct subject *subject = *state;

	symbols_free(subject->symbols);
	(void)close(subject->input);
	(void)waitpid(subject->pid, NULL, 0);
	free(subject);
	return 0;
}

static void test_lookup__expands_inlined_frames(void **state)
{
	struct subject *subject = *state;
	struct symbols_frame frames[8];
	const uint64_t site = printed(subject, "site");
	const unsigned count = symbols_lookup(subject->symbols, site, true, frames, 8);

	assert_int_equal(count, 2);
	assert_string_equal(frames[0].function, "bank::teller<long>::count");
	assert_int_equal(frames[0].line, printed(subject, "inlined_line"));
	assert_string_equal(frames[1].function, "bank::count_all");
	assert_int_equal(frames[1].line, printed(subject, "outer_line"));
	assert_non_null(strstr(frames[1].file, "symbols_subject.cc"));
	assert_string_equal(frames[1].module, "symbols_subject");
	assert_false(frames[1].is_system);
	assert_int_equal(frames[1].address, site);
}

static void test_lookup__writes_no_more_than_asked_for(void **state)
{
	struct subject *subject = *state;
	struct symbols_frame frames[2] = {{.line = 12345}, {.line = 12345}};

	assert_int_equal(
		symbols_lookup(subject->symbols, printed(subject, "site"), true, frames, 1), 1);
	assert_int_equal(frames[1].line, 12345);
}

static void test_lookup__knows_system_code_by_its_symbol(void **state)
{
	struct symbols_frame frame;
	struct symbols *symbols;
	struct error err;

	(void)state;
	assert_int_equal(symbols_from_process(&symbols, getpid(), &err), 0);
	assert_int_equal(
		symbols_lookup(symbols, (uintptr_t)gnu_get_libc_version, false, &frame, 1), 1);
	assert_string_equal(frame.module, "libc.so.6");
	assert_true(frame.is_system);
	assert_non_null(strstr(frame.function, "gnu_get_libc_version"));
	symbols_free(symbols);
}

static void test_lookup__of_nothing_has_one_empty_frame(void **state)
{
	struct subject *subject = *state;
	struct symbols_frame frame;
	struct strbuf text;

	strbuf_init(&text);
	assert_int_equal(symbols_lookup(subject->symbols, 16, false, &frame, 1), 1);
	assert_null(frame.function);
	assert_null(frame.module);
	symbols_describe_code(subject->symbols, 16, false, &text);
	assert_string_equal(text.text, "0x10");
	strbuf_release(&text);
}

static void test_describe_code__says_function_file_and_line(void **state)
{
	struct subject *subject = *state;
	struct strbuf text;
	char expected[128];

	strbuf_init(&text);
	(void)snprintf(expected, sizeof expected,
		"bank::teller<long>::count (symbols_subject.cc:%d)",
		(int)printed(subject, "inlined_line"));
	symbols_describe_code(subject->symbols, printed(subject, "site"), true, &text);
	assert_string_equal(text.text, expected);
	strbuf_release(&text);
}

static void assert_static_data(struct subject *subject, uint64_t address, const char *expected)
{
	struct strbuf text;

	strbuf_init(&text);
	assert_true(symbols_describe_static_data(subject->symbols, address, &text));
	if (strncmp(text.text, expected, strlen(expected)))
		fail_msg("\"%s\" does not start with \"%s\"", text.text, expected);
	strbuf_release(&text);
}

static void test_static_data__names_elements_members_and_line(void **state)
{
	struct subject *subject = *state;
	const uint64_t accounts = printed(subject, "accounts");
	const uint64_t second = accounts + printed(subject, "account_size");
	char expected[128];

	(void)snprintf(expected, sizeof expected, "bank::accounts[1].lock (symbols_subject.cc:%d)",
		(int)printed(subject, "accounts_line"));
	assert_static_data(subject, second + printed(subject, "lock_offset"), expected);
	assert_static_data(subject, accounts, "bank::accounts[0].balance (");
	assert_static_data(subject, accounts + 4, "bank::accounts[0].balance+4 (");
	assert_static_data(
		subject, printed(subject, "forks") + 2 * sizeof(pthread_mutex_t), "forks[2] (");
}

static void test_static_data__is_not_seen_in_code_or_stacks(void **state)
{
	struct subject *subject = *state;
	struct strbuf text;

	strbuf_init(&text);
	assert_false(
		symbols_describe_static_data(subject->symbols, printed(subject, "site"), &text));
	assert_false(
		symbols_describe_static_data(subject->symbols, printed(subject, "stack"), &text));
	assert_string_equal(text.text, "");
	strbuf_release(&text);
}

static void test_unwind__walks_a_parked_fiber(void **state)
{
	static const char *const expected[] = {
		"park", "call_park", "call_park", "call_park", "fiber_main", "context_entry"};
	struct subject *subject = *state;
	uint64_t addresses[FRAMES];
	struct symbols_frame frame;
	const unsigned count =
		symbols_unwind(subject->symbols, subject->pid, printed(subject, "stack_pointer"),
			printed(subject, "thread_base"), addresses, FRAMES);

	assert_int_equal(count, 6);
	for (unsigned i = 0; i < count; i++) {
		assert_true(symbols_lookup(subject->symbols, addresses[i], true, &frame, 1) > 0);
		assert_string_equal(frame.function, expected[i]);
		if (i < 2)
			assert_int_equal(
				frame.line, printed(subject, i ? "caller_line" : "park_line"));
	}
}

static void test_unwind__stops_at_the_capacity(void **state)
{
	struct subject *subject = *state;
	uint64_t addresses[3] = {0, 0, 77};

	assert_int_equal(symbols_unwind(subject->symbols, subject->pid,
				 printed(subject, "stack_pointer"), 0, addresses, 2),
		2);
	assert_int_equal(addresses[2], 77);
	assert_int_equal(symbols_unwind(subject->symbols, subject->pid,
				 printed(subject, "stack_pointer"), 0, addresses, 0),
		0);
}

static void test_unwind__stops_at_garbage(void **state)
{
	struct subject *subject = *state;
	uint64_t addresses[FRAMES];

	assert_int_equal(
		symbols_unwind(subject->symbols, subject->pid, 8, 0, addresses, FRAMES), 0);
	assert_int_equal(symbols_unwind(subject->symbols, subject->pid, UINT64_MAX - 3, 0,
				 addresses, FRAMES),
		0);
	/* The first address is sound, what lies above it is not. */
	assert_in_range(symbols_unwind(subject->symbols, subject->pid, printed(subject, "noise"), 0,
				addresses, FRAMES),
		1, 3);
	assert_in_range(symbols_unwind(subject->symbols, subject->pid, printed(subject, "circle"),
				0, addresses, FRAMES),
		1, 3);
}

static void test_symbols__outlive_the_process(void **state)
{
	struct subject *subject = *state;
	struct symbols_frame frame;

	(void)kill(subject->pid, SIGKILL);
	(void)waitpid(subject->pid, NULL, 0);
	(void)symbols_lookup(subject->symbols, printed(subject, "site"), true, &frame, 1);
	assert_string_equal(frame.function, "bank::teller<long>::count");
	assert_static_data(subject, printed(subject, "forks"), "forks[0] (");
}

static void test_stable_code__is_module_and_offset(void **state)
{
	struct subject *subject = *state;
	const uint64_t site = printed(subject, "site");
	const char *module = NULL;
	const uint64_t offset = symbols_module_offset(subject->symbols, site, &module);

	assert_string_equal(module, "symbols_subject");
	assert_in_range(offset, 1, 1 << 20);
	assert_true(symbols_stable_code(subject->symbols, site) ==
		    symbols_stable_code(subject->symbols, site));
	assert_false(symbols_stable_code(subject->symbols, site) ==
		     symbols_stable_code(subject->symbols, site + 1));
}

static int ready_pipe[2];

/* Runs in the child: the abort has printed its message; waits until it is killed. */
static void stand_still(int number)
{
	(void)number;
	(void)!write(ready_pipe[1], "!", 1);
	for (;;)
		(void)pause();
}

static void assert_abort_message(const char *assertion, const char *expected)
{
	struct symbols *symbols;
	struct strbuf text;
	struct error err;
	char byte;
	pid_t child;

	strbuf_init(&text);
	assert_int_equal(pipe(ready_pipe), 0);
	child = fork();
	if (!child) {
		(void)signal(SIGABRT, stand_still);
		(void)close(2); /* the message is for the parent only */
		if (assertion)
			__assert_fail(assertion, "bank.c", 7, "pay");
		abort();
	}
	assert_int_equal(read(ready_pipe[0], &byte, 1), 1);
	assert_int_equal(symbols_from_process(&symbols, child, &err), 0);
	assert_int_equal(symbols_abort_message(symbols, child, &text), expected != NULL);
	if (expected && !strstr(text.text, expected))
		fail_msg("\"%s\" does not say \"%s\"", text.text, expected);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	(void)close(ready_pipe[0]);
	(void)close(ready_pipe[1]);
	symbols_free(symbols);
	strbuf_release(&text);
}

static void test_abort_message__is_the_failed_assertion(void **state)
{
	(void)state;
	assert_abort_message("count > 0", "bank.c:7: pay: Assertion `count > 0' failed.");
	assert_abort_message("a\nb", "Assertion `a");
	assert_abort_message(NULL, NULL);
}

static void test_from_process__says_that_there_is_no_process(void **state)
{
	struct symbols *symbols = NULL;
	struct error err;

	(void)state;
	assert_int_equal(symbols_from_process(&symbols, 0x7ffffffe, &err), ERROR_TARGET);
	assert_null(symbols);
	assert_non_null(strstr(err.text, "2147483646"));
}

#define WITH_SUBJECT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SUBJECT(test_lookup__expands_inlined_frames),
		WITH_SUBJECT(test_lookup__writes_no_more_than_asked_for),
		cmocka_unit_test(test_lookup__knows_system_code_by_its_symbol),
		WITH_SUBJECT(test_lookup__of_nothing_has_one_empty_frame),
		WITH_SUBJECT(test_describe_code__says_function_file_and_line),
		WITH_SUBJECT(test_static_data__names_elements_members_and_line),
		WITH_SUBJECT(test_static_data__is_not_seen_in_code_or_stacks),
		WITH_SUBJECT(test_unwind__walks_a_parked_fiber),
		WITH_SUBJECT(test_unwind__stops_at_the_capacity),
		WITH_SUBJECT(test_unwind__stops_at_garbage),
		WITH_SUBJECT(test_symbols__outlive_the_process),
		WITH_SUBJECT(test_stable_code__is_module_and_offset),
		cmocka_unit_test(test_abort_message__is_the_failed_assertion),
		cmocka_unit_test(test_from_process__says_that_there_is_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
