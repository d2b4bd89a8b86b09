/* The recorder of access patterns: windows, collapsing, the patterns themselves, and its limits. */
#include "detectors/patterns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "detectors/detector.h"

static void *state;

static int set_up(void **unused)
{
	(void)unused;
	state = calloc(1, detectors[DETECTOR_patterns]->state_bytes);
	return state ? 0 : -1;
}

static int tear_down(void **unused)
{
	(void)unused;
	free(state);
	return 0;
}

/*
 * A run in words: "R1x W2y": reads and writes of threads 0 to 9 to variables a to z. The site of an
 * access is its kind and its thread, so equal accesses of a thread are made at one location.
 */
static void run(const char *accesses)
{
	uint64_t step = 0;

	detectors[DETECTOR_patterns]->begin_run(state);
	for (const char *at = accesses; *at; at += at[3] ? 4 : 3) {
		const struct detector_event event = {
			.step = step++,
			.site = (uint64_t)at[0] << 8 | (uint64_t)at[1],
			.address = (uint64_t)at[2] * 64,
			.object = (object_name)at[2],
			.bytes = 8,
			.thread = {(uint16_t)(at[1] - '0')},
			.role = (uint64_t)at[1],
			.kind = at[0] == 'R' ? OP_LOAD : OP_STORE,
		};
		struct outcome verdict;

		assert_false(detectors[DETECTOR_patterns]->observe(state, &event, &verdict));
	}
}

/* Patterns of the run other than early reads, into `out`. */
static uint32_t found_patterns(struct pattern *out, uint32_t most)
{
	const struct pattern *patterns;
	uint32_t count = patterns_of_run(state, &patterns), found = 0;

	for (uint32_t i = 0; i < count && found < most; i++)
		if (patterns[i].kind != PATTERN_R)
			out[found++] = patterns[i];
	return found;
}

/* Has the run shown exactly these, in any order? "R1-W2-R1 12" for threads 1 and 2. */
static void assert_patterns(const char *const *expected, uint32_t count)
{
	struct pattern patterns[64];
	uint32_t found = found_patterns(patterns, 64);

	for (uint32_t i = 0; i < found; i++) {
		char text[64];
		uint32_t at = 0;

		(void)snprintf(text, sizeof text, "%s %u%u",
			pattern_descriptions[patterns[i].kind].text, patterns[i].threads[0],
			patterns[i].threads[1]);
		while (at < count && strcmp(expected[at], text) != 0)
			at++;
		if (at == count)
			fail_msg("unexpected: %s", text);
	}
	assert_int_equal(found, count);
}

#define ASSERT_PATTERNS(...)                                                                       \
	assert_patterns((const char *const[]){__VA_ARGS__},                                        \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_patterns__order_patterns(void **unused)
{
	(void)unused;
	run("R1x W2x");
	ASSERT_PATTERNS("R1-W2 12");
	run("W1x R2x");
	ASSERT_PATTERNS("W1-R2 12");
	run("W1x W2x");
	ASSERT_PATTERNS("W1-W2 12");
	run("R1x R2x");
	assert_patterns(NULL, 0);
	run("W1x W2y");
	assert_patterns(NULL, 0);
}

static void test_patterns__atomicity_patterns(void **unused)
{
	(void)unused;
	run("R1x W2x R1x");
	ASSERT_PATTERNS("R1-W2-R1 12", "R1-W2 12", "W1-R2 21");
	run("W1x W2x R1x");
	ASSERT_PATTERNS("W1-W2-R1 12", "W1-W2 12", "W1-R2 21");
	run("W1x R2x W1x");
	ASSERT_PATTERNS("W1-R2-W1 12", "W1-R2 12", "R1-W2 21");
	run("R1x W2x W1x");
	ASSERT_PATTERNS("R1-W2-W1 12", "R1-W2 12", "W1-W2 21");
	run("W1x W2x W1x");
	ASSERT_PATTERNS("W1-W2-W1 12", "W1-W2 12", "W1-W2 21");
	/* Accesses that could as well precede or follow are no pattern. */
	run("R1x R2x W1x");
	ASSERT_PATTERNS("R1-W2 21");
	run("W1x R2x R1x");
	ASSERT_PATTERNS("W1-R2 12");
}

static void test_patterns__several_others_in_between(void **unused)
{
	(void)unused;
	run("R1x W2x W3x W1x");
	ASSERT_PATTERNS("R1-W2-W1 12", "R1-W2-W1 13", "R1-W2 12", "W1-W2 23", "W1-W2 31");
}

static void test_patterns__accesses_in_a_row_are_one(void **unused)
{
	struct pattern patterns[64];

	(void)unused;
	run("R1x R1x R1x R1x W2x W2x W2x R1x R1x");
	ASSERT_PATTERNS("R1-W2-R1 12", "R1-W2 12", "W1-R2 21");
	assert_int_equal(found_patterns(patterns, 64), 3);
	/* The last of its row stands next to what follows. */
	assert_int_equal(patterns[0].steps[0], 3);
	assert_int_equal(patterns[0].steps[1], 4);
}

static void test_patterns__a_window_forgets(void **unused)
{
	(void)unused;
	patterns_configure(state, 2);
	run("R1x W2x W3x W1x");
	ASSERT_PATTERNS("R1-W2 12", "W1-W2 23", "W1-W2 31");
	patterns_configure(state, 3);
	run("R1x W2x W3x W1x");
	ASSERT_PATTERNS("R1-W2-W1 12", "R1-W2-W1 13", "R1-W2 12", "W1-W2 23", "W1-W2 31");
}

/* Patterns over two variables: every row of the table, and no others. */
static void assert_pair(const char *accesses, const char *expected)
{
	const struct pattern *patterns;
	uint32_t count;
	unsigned found = 0;

	run(accesses);
	count = patterns_of_run(state, &patterns);
	for (uint32_t i = 0; i < count; i++) {
		if (pattern_access_count(&patterns[i]) != 4)
			continue;
		assert_string_equal(pattern_descriptions[patterns[i].kind].text, expected);
		assert_int_equal(patterns[i].addresses[0], 'x' * 64);
		assert_int_equal(patterns[i].addresses[1], 'y' * 64);
		assert_int_equal(patterns[i].threads[0], 1);
		found++;
	}
	assert_int_equal(found, *expected ? 1 : 0);
}

static void test_patterns__two_variables(void **unused)
{
	(void)unused;
	assert_pair("W1x W2x W2y W1y", "W1x-W2x-W2y-W1y");
	assert_pair("W1x W2y W2x W1y", "W1x-W2y-W2x-W1y");
	assert_pair("W1x W2y W1y W2x", "W1x-W2y-W1y-W2x");
	assert_pair("W1x R2x R2y W1y", "W1x-R2x-R2y-W1y");
	assert_pair("W1x R2y R2x W1y", "W1x-R2y-R2x-W1y");
	assert_pair("R1x W2x W2y R1y", "R1x-W2x-W2y-R1y");
	assert_pair("R1x W2y W2x R1y", "R1x-W2y-W2x-R1y");
	assert_pair("R1x W2y R1y W2x", "R1x-W2y-R1y-W2x");
	assert_pair("W1x R2y W1y R2x", "W1x-R2y-W1y-R2x");
	/* One is read and the other written. */
	assert_pair("R1x W2x R2y W1y", "R1x-W2x-R2y-W1y");
	assert_pair("R1x R2y W2x W1y", "R1x-R2y-W2x-W1y");
	assert_pair("W1x R2x W2y R1y", "W1x-R2x-W2y-R1y");
	assert_pair("R1x R2y W1y W2x", "R1x-R2y-W1y-W2x");
	assert_pair("W1x W2y R1y R2x", "W1x-W2y-R1y-R2x");
	assert_pair("W1x W2x R2y W1y", "W1x-W2x-R2y-W1y");
	/* These accesses are serial. */
	assert_pair("W1x W1y W2x W2y", "");
	assert_pair("W1x W1y R2x R2y", "");
	assert_pair("R1x R1y W2x W2y", "");
	/* These accesses are only reads. */
	assert_pair("R1x R2x R2y R1y", "");
}

static void test_patterns__equal_patterns_have_equal_keys_in_every_run(void **unused)
{
	struct pattern patterns[64];
	uint64_t key;

	(void)unused;
	run("R1x W2x");
	assert_int_equal(found_patterns(patterns, 64), 1);
	key = patterns[0].key;
	run("W3z R3y R1x R1x W2x");
	assert_int_equal(found_patterns(patterns, 64), 1);
	assert_int_equal(patterns[0].key, key);
	run("R1x W3x");
	assert_int_equal(found_patterns(patterns, 64), 1);
	assert_int_not_equal(patterns[0].key, key);
}

static void test_patterns__early_reads(void **unused)
{
	const struct pattern *patterns;

	(void)unused;
	run("R1x R1x R2x W3y R1y");
	assert_true(patterns_of_run(state, &patterns) >= 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(patterns[i].kind, PATTERN_R);
		assert_int_equal(patterns[i].threads[0], i + 1);
		assert_int_equal(patterns[i].addresses[0], 'x' * 64);
		assert_false(patterns[i].is_followed);
	}
	/* After it is written, and for y, no read is too early. */
	for (uint32_t i = 2; i < patterns_of_run(state, &patterns); i++)
		assert_int_not_equal(patterns[i].kind, PATTERN_R);
	run("R1x W1x");
	assert_int_equal(patterns_of_run(state, &patterns), 1);
	assert_true(patterns[0].is_followed);
}

static void access_bytes(unsigned thread, unsigned offset, unsigned bytes, enum op_kind kind)
{
	const struct detector_event event = {.site = offset + 1,
		.address = 4096 + offset,
		.object = 5,
		.bytes = bytes,
		.thread = {(uint16_t)thread},
		.role = thread,
		.kind = (uint8_t)kind};
	struct outcome verdict;

	assert_false(detectors[DETECTOR_patterns]->observe(state, &event, &verdict));
}

static void test_patterns__neighbours_of_four_bytes_are_two_variables(void **unused)
{
	const struct pattern *patterns;

	(void)unused;
	detectors[DETECTOR_patterns]->begin_run(state);
	access_bytes(1, 0, 4, OP_STORE);
	access_bytes(1, 4, 4, OP_STORE);
	access_bytes(2, 0, 4, OP_LOAD);
	ASSERT_PATTERNS("W1-R2 12");
	assert_int_equal(patterns_of_run(state, &patterns), 1);
	assert_int_equal(patterns[0].sites[0], 1);
	/* An access to both is one to each. */
	access_bytes(3, 0, 8, OP_LOAD);
	ASSERT_PATTERNS("W1-R2 12", "W1-R2 13", "W1-R2 13");
}

static void test_patterns__counts_what_it_drops(void **unused)
{
	struct detector_event event = {.object = 5, .address = 4096, .bytes = 8, .kind = OP_STORE};
	const struct pattern *patterns;
	struct outcome verdict;

	(void)unused;
	detectors[DETECTOR_patterns]->begin_run(state);
	for (unsigned i = 0; i < PATTERNS_KEPT_MAX; i++) {
		event.site = i + 1; /* each access makes new patterns */
		event.thread.index = (uint16_t)(i % 2);
		event.role = i % 2;
		assert_false(detectors[DETECTOR_patterns]->observe(state, &event, &verdict));
	}
	assert_int_equal(patterns_of_run(state, &patterns), PATTERNS_KEPT_MAX);
	assert_true(patterns_dropped(state) > 0);
	run("R1x W2x R1x W2x R1x");
	assert_true(patterns_of_run(state, &patterns) > 2);
	assert_int_equal(patterns_dropped(state), 0);
}

static void test_patterns__watches_so_many_variables(void **unused)
{
	struct detector_event event = {.kind = OP_STORE, .bytes = 8};
	const unsigned more = 10;
	struct outcome verdict;

	(void)unused;
	detectors[DETECTOR_patterns]->begin_run(state);
	for (unsigned i = 0; i < PATTERNS_VARIABLES_MAX + more; i++) {
		event.object = i + 1;
		event.address = 8 * i;
		assert_false(detectors[DETECTOR_patterns]->observe(state, &event, &verdict));
	}
	assert_int_equal(patterns_accesses_dropped(state), more);
	run("R1x W2x");
	ASSERT_PATTERNS("R1-W2 12");
	assert_int_equal(patterns_accesses_dropped(state), 0);
}

/* The result for any sequence of accesses equals the slow computation from the definition. */
static unsigned count_by_definition(const char (*accesses)[2], unsigned count)
{
	char rows[64][2];
	unsigned length = 0, found = 0;
	bool seen[4][4][4][2][2][2] = {0}, pairs[4][4][2][2] = {0};

	for (unsigned i = 0; i < count; i++) {
		if (length && memcmp(rows[length - 1], accesses[i], 2) == 0)
			continue;
		memcpy(rows[length++], accesses[i], 2);
	}
#define T(i) (rows[i][1] - '0')
#define W(i) (rows[i][0] == 'W')
	for (unsigned c = 0; c < length; c++) {
		int p = (int)c - 1;

		for (bool hidden = false; p >= 0 && T(p) != T(c); hidden |= W(p), p--)
			if (!hidden && (W(p) || W(c)) && !pairs[T(p)][T(c)][W(p)][W(c)]) {
				pairs[T(p)][T(c)][W(p)][W(c)] = true;
				found++;
			}
		for (unsigned r = (unsigned)(p + 1); p >= 0 && r < c; r++) {
			bool is_bad = W(r) || (W(p) && W(c));

			if (is_bad && !seen[T(p)][T(r)][T(c)][W(p)][W(r)][W(c)]) {
				seen[T(p)][T(r)][T(c)][W(p)][W(r)][W(c)] = true;
				found++;
			}
		}
	}
	return found;
}

static void test_patterns__agree_with_their_definition(void **unused)
{
	uint64_t random = 1;

	(void)unused;
	patterns_configure(state, 64);
	for (unsigned i = 0; i < 2000; i++) {
		char accesses[24][2], text[24 * 4 + 1] = "";
		const unsigned count = 1 + i % 24;
		struct pattern patterns[512];

		for (unsigned a = 0; a < count; a++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			accesses[a][0] = random >> 60 & 1 ? 'W' : 'R';
			accesses[a][1] = (char)('1' + (random >> 40) % 3);
			(void)snprintf(text + 4 * a, 5, "%c%cx ", accesses[a][0], accesses[a][1]);
		}
		text[4 * count - 1] = '\0';
		run(text);
		assert_int_equal(found_patterns(patterns, 512),
			count_by_definition((const char(*)[2])accesses, count));
	}
}

/* ---- orders of operations ---- */

static void observe_op(uint16_t thread, enum op_kind kind, uint64_t address, bool has_failed)
{
	static uint64_t step;
	const struct detector_event event = {.step = ++step,
		.site = (uint64_t)kind << 8 | thread,
		.address = address,
		.object = (object_name)address,
		.thread = {thread},
		.role = thread + UINT64_C(1),
		.kind = (uint8_t)kind,
		.has_failed = has_failed};
	struct outcome verdict;

	assert_false(detectors[DETECTOR_patterns]->observe(state, &event, &verdict));
}

/* A signal before a wait; a lock that is taken in turn; a try that fails. */
static void observe_orders(void)
{
	detectors[DETECTOR_patterns]->begin_run(state);
	observe_op(1, OP_COND_SIGNAL, 8, false);
	observe_op(2, OP_COND_WAIT, 8, false);
	observe_op(1, OP_MUTEX_LOCK, 16, false);
	observe_op(1, OP_MUTEX_UNLOCK, 16, false);
	observe_op(2, OP_MUTEX_TRYLOCK, 16, true);
	observe_op(3, OP_MUTEX_LOCK, 16, false);
}

static void test_patterns__has_orders_where_asked(void **unused)
{
	const struct pattern *patterns;

	(void)unused;
	observe_orders();
	assert_int_equal(patterns_of_run(state, &patterns), 0);
	patterns_include_orders(state, true);
	observe_orders();
	assert_int_equal(patterns_of_run(state, &patterns), 2);
	assert_int_equal(patterns[0].kind, PATTERN_WR);
	assert_int_equal(patterns[0].ops[0], OP_COND_SIGNAL);
	assert_int_equal(patterns[0].ops[1], OP_COND_WAIT);
	assert_true(pattern_is_order(&patterns[0]));
	assert_int_equal(patterns[1].kind, PATTERN_WW);
	assert_int_equal(patterns[1].threads[0], 1);
	assert_int_equal(patterns[1].threads[1], 3);
}

static void test_patterns__orders_beginnings_of_threads(void **unused)
{
	const struct pattern *patterns;

	(void)unused;
	patterns_include_orders(state, true);
	detectors[DETECTOR_patterns]->begin_run(state);
	observe_op(1, OP_THREAD_BEGIN, 24, false);
	observe_op(0, OP_THREAD_CREATED, 0, false);
	observe_op(2, OP_THREAD_BEGIN, 32, false);
	assert_in_range(patterns_of_run(state, &patterns), 2, 3);
	assert_int_equal(patterns[0].kind, PATTERN_WW);
	assert_int_equal(patterns[0].ops[0], OP_THREAD_BEGIN);
	assert_int_equal(patterns[0].ops[1], OP_THREAD_CREATED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_patterns__##name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(has_orders_where_asked),
		TEST(orders_beginnings_of_threads),
		TEST(order_patterns),
		TEST(atomicity_patterns),
		TEST(several_others_in_between),
		TEST(accesses_in_a_row_are_one),
		TEST(a_window_forgets),
		TEST(two_variables),
		TEST(equal_patterns_have_equal_keys_in_every_run),
		TEST(early_reads),
		TEST(neighbours_of_four_bytes_are_two_variables),
		TEST(counts_what_it_drops),
		TEST(watches_so_many_variables),
		TEST(agree_with_their_definition),
	};

	return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}
