/* Written tokens are read again, and damaged ones are refused. The test is in the place of room.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "check/token.c"

#define NAME "stock"
/* Threads: main, its first thread, and that thread's second thread. */
static const struct thread_record threads[] = {
	{.ordinal = 0}, {.ordinal = 0, .parent = {0}}, {.ordinal = 1, .parent = {1}}};
static const struct schedule_segment segments[] = {{.thread = 0, .count = 4},
	{.thread = 1, .count = 1}, {.thread = 2, .count = 300},
	{.thread = 1, .count = 3, .flags = SEGMENT_VALUE}};
static struct contract_block block;

struct contract *room_contract(void)
{
	return block.contract;
}

static int set_up(void **state)
{
	const struct contract_sizes sizes = {.strategy_bytes = replay_state_bytes(64, 0)};
	struct schedule *schedule;
	struct error err;

	(void)state;
	if (contract_block_open(&block, &sizes, &err))
		return -1;
	schedule = contract_schedule(block.contract);
	schedule->count = sizeof segments / sizeof *segments;
	memcpy(schedule->segments, segments, sizeof segments);
	memcpy(contract_threads(block.contract), threads, sizeof threads);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	contract_block_close(&block);
	return 0;
}

static enum token_fit fit_of(const char *text, struct token *token, struct error *err)
{
	struct check_plan plan = {0};

	*token = (struct token){0};
	*err = (struct error){0};
	return token_read(text, NAME, &plan, token, err);
}

static void assert_is_bad(const char *text, const char *message)
{
	struct token token;
	struct error err;

	assert_int_equal(fit_of(text, &token, &err), TOKEN_IS_BAD);
	if (!strstr(err.text, message))
		fail_msg("%s: %s", text, err.text);
	free(token.points);
}

static void test_token__has_paths_counts_and_values(void **state)
{
	struct strbuf text;

	(void)state;
	strbuf_init(&text);
	token_write(&text, NAME);
	assert_true(token_is_name(text.text));
	assert_string_equal(strchr(text.text, ':'), ":mx4,m0,m0.1x300,v1x3");
	strbuf_release(&text);
}

static void test_token__is_read_as_it_was_written(void **state)
{
	struct contract_memory *memory = contract_memory(block.contract);
	struct memory_variable *variable = memory_restore_variable(memory, 0xabcdef);
	struct strbuf text;
	struct token token;
	struct error err;

	(void)state;
	block.contract->has_memory_sites = true;
	variable->flags = VARIABLE_POINT;
	strbuf_init(&text);
	token_write(&text, NAME);
	assert_int_equal(fit_of(text.text, &token, &err), TOKEN_FITS);
	assert_int_equal(token.point_count, 1);
	assert_int_equal(token.points[0], 0xabcdef);
	variable->flags = 0;
	token_apply(&token);
	assert_int_equal(variable->flags, VARIABLE_POINT);
	assert_true(memory->is_frozen);
	assert_memory_equal(contract_strategy(block.contract), token.state, token.state->bytes);
	free(token.points);
	free(token.state);
	strbuf_release(&text);
}

static void test_token__of_another_check_is_foreign(void **state)
{
	struct check_plan plan = {0};
	struct strbuf text;
	struct token token;
	struct error err;

	(void)state;
	strbuf_init(&text);
	token_write(&text, NAME);
	assert_int_equal(token_read(text.text, "another", &plan, &token, &err), TOKEN_IS_FOREIGN);
	strbuf_release(&text);
}

static void test_token__says_where_it_is_damaged(void **state)
{
	static const char *const damaged[] = {"q", "mx0", "mx", "m0.", "m70000", "v1", "m,,m",
		"m;m", "mx4294967296", "m,p", "m,pxyz", "m,p12.", "m,p12,m"};
	char text[64];

	(void)state;
	assert_is_bad("", "does not begin as a token does");
	assert_is_bad("5b1e03c:m", "does not begin as a token does");
	for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
		(void)snprintf(
			text, sizeof text, "%08" PRIx32 ":%s", token_name_hash(NAME), damaged[i]);
		assert_is_bad(text, "is damaged at byte ");
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_token__has_paths_counts_and_values),
		TEST(test_token__is_read_as_it_was_written),
		TEST(test_token__of_another_check_is_foreign),
		TEST(test_token__says_where_it_is_damaged),
	};

	return cmocka_run_group_tests_name("token", tests, NULL, NULL);
}
