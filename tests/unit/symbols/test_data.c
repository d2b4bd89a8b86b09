/*
 * Names of memory, examined from another process in programs that stand still:
 * tests/support/memory_subject.c and its like in C++, by two compilers, with and without
 * optimisation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/symbols.h"

struct subject {
	pid_t pid;
	int input;	    /* closing it ends the subject */
	char printed[4096]; /* "\nword value\n..." */
	struct symbols *symbols;
	struct symbols_thread thread;
	struct memory_block blocks[2];
	struct symbols_memory memory;
};

/* The program that the tests of the current group examine: "memory_subject-gcc-O2". */
static char program[4200];

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

/* Finds a program in the folder of this test. Returns false if it was not built. */
static bool find_program(const char *source, const char *compiler, const char *level)
{
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 64);

	if (length <= 0)
		return false;
	program[length] = '\0';
	(void)sprintf(strrchr(program, '/') + 1, "%s-%s-%s", source, compiler, level);
	return access(program, X_OK) == 0;
}

static void become_program(int input[2], int output[2])
{
	(void)dup2(input[0], 0);
	(void)dup2(output[1], 1);
	(void)close(input[1]); /* otherwise the end of input would never arrive */
	execl(program, program, (char *)NULL);
	_exit(127);
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
		become_program(input, output);
	(void)close(input[0]);
	(void)close(output[1]);
	subject->input = input[1];
	subject->printed[0] = '\n';
	while (!strstr(subject->printed, "\ndone 1") &&
		(got = read(output[0], subject->printed + used,
			 sizeof subject->printed - 1 - used)) > 0)
		used += (size_t)got;
	(void)close(output[0]);
	subject->thread = (struct symbols_thread){.path = "main",
		.stack_pointer = printed(subject, "stack_pointer"),
		.thread_base = printed(subject, "thread_base")};
	subject->memory = (struct symbols_memory){.pid = subject->pid,
		.threads = &subject->thread,
		.thread_count = 1,
		.blocks = subject->blocks};
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

static void assert_access(
	struct subject *subject, const struct symbols_access *access, const char *expected)
{
	struct strbuf text;

	strbuf_init(&text);
	if (!symbols_describe_data(subject->symbols, &subject->memory, access, &text))
		fail_msg("%s: nothing is known where \"%s\" is expected", program, expected);
	if (strcmp(text.text, expected))
		fail_msg("%s: \"%s\" instead of \"%s\"", program, text.text, expected);
	strbuf_release(&text);
}

static void assert_name(
	struct subject *subject, uint64_t address, uint64_t bytes, const char *expected)
{
	assert_access(subject,
		&(struct symbols_access){
			.address = address, .bytes = bytes, .step = UINT64_MAX, .is_brief = true},
		expected);
}

static void assert_word(
	struct subject *subject, const char *word, uint64_t bytes, const char *expected)
{
	assert_name(subject, printed(subject, word), bytes, expected);
}

/* ---- C ---- */

static void test_data__steps_into_arrays_and_structs(void **state)
{
	struct subject *subject = *state;

	assert_word(subject, "grid", 4, "grid[2][3].y");
	assert_word(subject, "counter", 4, "counter");
	assert_word(subject, "queue", 4, "queue.points[1].x");
	assert_word(subject, "calls", 4, "count_calls::calls");
}

static void test_data__says_where_it_is_declared_unless_brief(void **state)
{
	struct subject *subject = *state;
	const uint64_t address = printed(subject, "accounts") + printed(subject, "balance");
	char expected[128];

	(void)snprintf(expected, sizeof expected, "accounts[0].balance (memory_subject.c:%d)",
		(int)printed(subject, "accounts_line"));
	assert_access(subject,
		&(struct symbols_access){.address = address, .bytes = 8, .step = UINT64_MAX},
		expected);
	assert_name(subject, address, 8, "accounts[0].balance");
}

static void test_data__size_distinguishes_members_of_unions(void **state)
{
	struct subject *subject = *state;
	const uint64_t account = printed(subject, "accounts") + printed(subject, "account_size");
	const uint64_t whole = account + printed(subject, "whole");

	assert_name(subject, whole, 8, "accounts[1].whole");
	assert_name(subject, whole, 4, "accounts[1].halves[0]");
	assert_name(subject, whole + 4, 4, "accounts[1].halves[1]");
}

static void test_data__size_distinguishes_structs_from_first_members(void **state)
{
	struct subject *subject = *state;
	const uint64_t account = printed(subject, "accounts");

	assert_name(subject, account + printed(subject, "position"), 4, "accounts[0].position.x");
	assert_name(subject, account + printed(subject, "position"), 8, "accounts[0].position");
	assert_name(subject, account, printed(subject, "account_size"), "accounts[0]");
	assert_name(subject, account, 8, "accounts[0].id");
}

static void test_data__passes_through_what_has_no_name(void **state)
{
	struct subject *subject = *state;
	const uint64_t low = printed(subject, "accounts") + printed(subject, "low");

	assert_name(subject, low, 2, "accounts[0].low");
	assert_name(subject, low + 2, 2, "accounts[0].high");
	assert_name(subject, low + 1, 1, "accounts[0].low+1");
}

static void test_data__names_bit_fields(void **state)
{
	struct subject *subject = *state;
	const uint64_t late = printed(subject, "accounts") + printed(subject, "late");

	assert_name(subject, late - 4, 1, "accounts[0].open");
	assert_name(subject, late, 4, "accounts[0].late");
}

static void test_data__names_thread_locals(void **state)
{
	struct subject *subject = *state;

	assert_word(subject, "errors", 8, "thread-local errors[1] of main");
}

static void test_data__names_locals_of_a_parked_fiber(void **state)
{
	struct subject *subject = *state;

	assert_word(subject, "local", 4, "local.position.y");
	assert_word(subject, "done_flag", 4, "done");
	assert_word(subject, "nested", 8, "nested[2]");
	assert_word(subject, "inner", 4, "inner[1].y");
}

/* The accounts of the subject, made in main, and its text. */
static void know_blocks(struct subject *subject)
{
	subject->blocks[0] = (struct memory_block){.start = printed(subject, "made"),
		.bytes = 2 * printed(subject, "account_size"),
		.site = printed(subject, "made_site"),
		.made_step = 10,
		.freed_step = 90,
		.ordinal = 3};
	subject->blocks[1] = (struct memory_block){.start = printed(subject, "text"),
		.bytes = 40,
		.site = printed(subject, "text_site"),
		.made_step = 20,
		.freed_step = UINT64_MAX,
		.ordinal = 1,
		.kind = BLOCK_CALLOC};
	subject->memory.block_count = 2;
}

static void assert_heap(struct subject *subject, const struct symbols_access *access,
	const char *format, const char *word)
{
	char expected[256];

	(void)snprintf(expected, sizeof expected, format, (int)printed(subject, word));
	assert_access(subject, access, expected);
}

static void test_data__names_blocks_by_their_location_and_type(void **state)
{
	struct subject *subject = *state;
	struct symbols_access access = {.address = printed(subject, "made") +
						   printed(subject, "account_size") +
						   printed(subject, "balance"),
		.bytes = 8,
		.site = printed(subject, "read_site"),
		.step = 50};

	know_blocks(subject);
	assert_heap(subject, &access,
		"((struct account *)malloc at memory_subject.c:%d, #3)[1].balance", "made_line");
	access.step = 95;
	assert_heap(subject, &access,
		"((struct account *)malloc at memory_subject.c:%d, #3, freed)[1].balance",
		"made_line");
}

/* After an access has shown the type of a block, all of its locations have names. */
static void test_data__learns_the_type_from_any_access(void **state)
{
	struct subject *subject = *state;
	const struct symbols_access telling = {
		.address = printed(subject, "made") + printed(subject, "balance"),
		.bytes = 8,
		.site = printed(subject, "read_site"),
		.step = 50};
	struct symbols_access access = {
		.address = printed(subject, "made") + printed(subject, "position"),
		.bytes = 4,
		.step = 12};

	know_blocks(subject);
	symbols_note_access(subject->symbols, &subject->memory, &telling);
	assert_heap(subject, &access,
		"((struct account *)malloc at memory_subject.c:%d, #3)[0].position.x", "made_line");
}

/* No number of whole objects fills the block, but the array at the end of the struct may have any length. */
static void test_data__knows_a_block_with_a_longer_array(void **state)
{
	struct subject *subject = *state;
	struct symbols_access access = {.address = printed(subject, "text") + 9,
		.bytes = 1,
		.site = printed(subject, "read_site"),
		.step = 50};

	know_blocks(subject);
	subject->blocks[1].bytes = 39;
	assert_heap(subject, &access, "((struct text *)calloc at memory_subject.c:%d, #1).bytes[1]",
		"text_line");
}

/* The block ends before the array of the struct begins. */
static void test_data__claims_no_type_that_does_not_fit(void **state)
{
	struct subject *subject = *state;
	struct symbols_access access = {.address = printed(subject, "text") + 5,
		.bytes = 1,
		.site = printed(subject, "read_site"),
		.step = 50};

	know_blocks(subject);
	subject->blocks[1].bytes = 7;
	assert_heap(subject, &access, "(block of 7 bytes allocated at memory_subject.c:%d, #1)+5",
		"text_line");
}

static void test_data__knows_nothing_of_blocks_of_the_future(void **state)
{
	struct subject *subject = *state;
	struct symbols_access access = {.address = printed(subject, "made"), .bytes = 8, .step = 5};
	struct strbuf text;

	know_blocks(subject);
	subject->thread = (struct symbols_thread){.path = "main"};
	strbuf_init(&text);
	assert_false(symbols_describe_data(subject->symbols, &subject->memory, &access, &text));
	assert_string_equal(text.text, "");
	strbuf_release(&text);
}

/* Any number may be asked for: it is named or not, and nothing else happens. */
static void test_data__survives_any_address(void **state)
{
	static const char *const words[] = {
		"accounts", "made", "text", "stack_pointer", "thread_base", "made_site"};
	struct subject *subject = *state;
	uint64_t random = 88172645463325252u;
	struct strbuf text;

	know_blocks(subject);
	strbuf_init(&text);
	for (unsigned i = 0; i < 6000; i++) {
		struct symbols_access access;
		bool is_known;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		access = (struct symbols_access){.address = random >> i % 64,
			.bytes = random >> (i + 3) % 64,
			.site = random >> (i + 17) % 64,
			.step = i};
		if (i % 2)
			access.address = printed(subject, words[i / 2 % 6]) + random % 8192 - 4096;
		if (i % 3)
			access.bytes %= 65;
		symbols_note_access(subject->symbols, &subject->memory, &access);
		strbuf_clear(&text);
		is_known =
			symbols_describe_data(subject->symbols, &subject->memory, &access, &text);
		assert_int_equal(is_known, text.length > 0);
	}
	strbuf_release(&text);
}

/* ---- C++ ---- */

static void test_cxx__names_members_of_bases_and_templates(void **state)
{
	struct subject *subject = *state;

	assert_word(subject, "inherited", 4, "bank::waiting.inherited");
	assert_word(subject, "items", 8, "bank::waiting.items[3]");
	assert_word(subject, "vptr", 8, "bank::waiting.vptr");
	assert_word(subject, "made", 8, "bank::queue<long>::made");
}

static void test_cxx__shows_library_types_as_the_variable(void **state)
{
	struct subject *subject = *state;

	assert_word(subject, "flag", 8, "bank::flag");
	assert_word(subject, "size", 4, "bank::waiting.size");
	assert_word(subject, "slots", 2, "bank::slots[2]");
	assert_word(subject, "lock", 4, "bank::lock");
	assert_word(subject, "numbers", 8, "bank::numbers");
	assert_name(subject, printed(subject, "numbers") + 8, 8, "bank::numbers+8");
}

static void test_cxx__names_statics_of_functions_and_of_nobody(void **state)
{
	struct subject *subject = *state;

	assert_word(subject, "served", 4, "bank::teller::serve::served");
	assert_word(subject, "hidden", 4, "bank::(anonymous namespace)::hidden[1]");
}

static void test_cxx__names_thread_locals(void **state)
{
	struct subject *subject = *state;

	assert_word(subject, "own", 8, "thread-local own.items[2] of main");
}

static void test_cxx__names_locals_of_a_parked_fiber(void **state)
{
	struct subject *subject = *state;

	assert_word(subject, "local", 4, "local.inherited");
	assert_word(subject, "done_flag", 1, "done");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest in_c[] = {TEST(test_data__steps_into_arrays_and_structs),
		TEST(test_data__says_where_it_is_declared_unless_brief),
		TEST(test_data__size_distinguishes_members_of_unions),
		TEST(test_data__size_distinguishes_structs_from_first_members),
		TEST(test_data__passes_through_what_has_no_name), TEST(test_data__names_bit_fields),
		TEST(test_data__names_thread_locals),
		TEST(test_data__names_locals_of_a_parked_fiber),
		TEST(test_data__names_blocks_by_their_location_and_type),
		TEST(test_data__learns_the_type_from_any_access),
		TEST(test_data__knows_a_block_with_a_longer_array),
		TEST(test_data__claims_no_type_that_does_not_fit),
		TEST(test_data__knows_nothing_of_blocks_of_the_future),
		TEST(test_data__survives_any_address)};
	const struct CMUnitTest in_cxx[] = {TEST(test_cxx__names_members_of_bases_and_templates),
		TEST(test_cxx__shows_library_types_as_the_variable),
		TEST(test_cxx__names_statics_of_functions_and_of_nobody),
		TEST(test_cxx__names_thread_locals),
		TEST(test_cxx__names_locals_of_a_parked_fiber)};
	static const char *const compilers[] = {"gcc", "clang"}, *const levels[] = {"O0", "O2"};
	int failed = 0;

	for (unsigned i = 0; i < 4; i++) {
		char name[64];

		(void)snprintf(name, sizeof name, "%s -%s", compilers[i / 2], levels[i % 2]);
		if (find_program("memory_subject", compilers[i / 2], levels[i % 2]))
			failed += cmocka_run_group_tests_name(name, in_c, NULL, NULL);
		else
			print_message("SKIP %s: the compiler is not here\n", name);
		if (find_program("memory_subject_cxx", compilers[i / 2], levels[i % 2]))
			failed += cmocka_run_group_tests_name(name, in_cxx, NULL, NULL);
	}
	return failed;
}
