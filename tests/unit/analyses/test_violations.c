/* The orders of two units that are reported, and the facts that rule them out: the eleven patterns,
 * locks, waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses/violations.c"

/* The only set. */
const struct atomic_kind *atomic_sets_kind(const struct atomic_sets *sets, uint32_t kind)
{
	static const struct atomic_kind account = {.name = (char *)(uintptr_t) "struct account"};

	(void)sets;
	assert_int_equal(kind, 0);
	return &account;
}

/* ---- units by what they do: "Rx", "Wy", and "(" and ")" for taking and giving back the lock ---- */

#define ACCESSES_MOST 16

struct made {
	struct party party;
	struct party_access accesses[ACCESSES_MOST];
	struct party_lock locks[ACCESSES_MOST];
};

static const struct trace_thread threads[] = {
	{.path = "main"}, {.path = "main.0"}, {.path = "main.1"}};
static const struct trace_run run = {.threads = threads, .thread_count = 3};

/* `text`: "(Rx)(Ry)" takes the lock anew for each; a small r in front of the bracket: for reading. */
static void make(struct made *made, uint32_t thread, const char *text, const struct epoch *epoch,
	uint32_t *index)
{
	uint32_t taken = 0;
	bool is_shared = false, is_held = false;

	*made = (struct made){.party = {.thread = thread,
				      .name = thread,
				      .function = thread == 1 ? "copy" : "transfer",
				      .accesses = made->accesses}};
	for (; *text; text++) {
		struct party_access *access = &made->accesses[made->party.count];

		if (*text == 'r') {
			is_shared = true;
		} else if (*text == '(') {
			is_held = true;
			taken = ++*index;
		} else if (*text == ')') {
			is_held = is_shared = false;
			++*index;
		} else {
			*access = (struct party_access){.index = ++*index,
				.context = thread,
				.location = (uint64_t)text[1],
				.epoch = epoch,
				.locks = &made->locks[made->party.count],
				.lock_count = is_held,
				.is_write = *text == 'W'};
			access->event = (struct trace_event){.step = access->index,
				.site = 0x1000 * thread + made->party.count,
				.address = access->location};
			made->locks[made->party.count] = (struct party_lock){.address = 0x10,
				.taken = taken,
				.is_shared = is_shared,
				.event = {.kind = OP_MUTEX_LOCK, .site = 0x1100 * thread}};
			made->party.count++;
			text++;
		}
	}
}

struct case_of {
	const char *own, *other;
	enum violations_mode mode;
};

/* All reports about two units that only locks keep apart; of the first one's interruption. */
static struct candidates find_between(
	const struct case_of *this, const struct epoch *own_epoch, const struct epoch *other_epoch)
{
	struct made own, other;
	struct party parties[2];
	struct party_set set = {.parties = parties, .count = 2};
	const struct party_pool pool = {.sets = &set, .count = 1};
	struct candidates found = {0};
	uint32_t index = 0;

	make(&own, 1, this->own, own_epoch, &index);
	make(&other, 2, this->other, other_epoch, &index);
	parties[0] = own.party;
	parties[1] = other.party;
	violations_find(&(struct violations_query){.pool = &pool, .mode = this->mode}, &found);
	return found;
}

static struct candidates find(const char *own, const char *other)
{
	struct thread_order *order = thread_order_new(&run);
	struct candidates found = find_between(&(struct case_of){.own = own, .other = other},
		thread_order_epoch(order, 1), thread_order_epoch(order, 2));

	thread_order_free(order);
	return found;
}

static bool has(const struct candidates *found, enum pattern_kind kind)
{
	for (uint32_t i = 0; i < found->count; i++)
		if (found->items[i].pattern == kind &&
			strcmp(found->items[i].units[0], "copy") == 0)
			return true;
	return false;
}

static void test_violations__are_the_eleven_of_the_table(void **unused)
{
	static const struct {
		const char *own, *other;
		enum pattern_kind kind;
	} rows[] = {
		{"RxWx", "Wx", PATTERN_RWW},
		{"RxRx", "Wx", PATTERN_RWR},
		{"WxWx", "Rx", PATTERN_WRW},
		{"WxRx", "Wx", PATTERN_WWR},
		{"WxWx", "Wx", PATTERN_WWW},
		{"WxWy", "WxWy", PATTERN_WxWxWyWy},
		{"WxWy", "WyWx", PATTERN_WxWyWxWy},
		{"WxWy", "WyWx", PATTERN_WxWyWyWx},
		{"WxWy", "RxRy", PATTERN_WxRxRyWy},
		{"WxWy", "RyRx", PATTERN_WxRyRxWy},
		{"RxRy", "WxWy", PATTERN_RxWxWyRy},
		{"RxRy", "WyWx", PATTERN_RxWyWxRy},
		{"RxRy", "WyWx", PATTERN_RxWyRyWx},
		{"WxWy", "RyRx", PATTERN_WxRyWyRx},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct candidates found = find(rows[i].own, rows[i].other);

		if (!has(&found, rows[i].kind))
			fail_msg("%s and %s do not give %s", rows[i].own, rows[i].other,
				pattern_descriptions[rows[i].kind].text);
		candidates_release(&found);
	}
}

static void test_violations__are_not_what_is_serialisable(void **unused)
{
	static const char *const pairs[][2] = {{"RxRx", "Rx"}, {"RxRy", "RxRy"}, {"Rx", "Wx"},
		{"RxRy", "Wx"}, {"WxWy", "Rx"}, {"RxRz", "WxWy"}, {"RxWx", "WyRy"}};

	(void)unused;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct candidates found = find(pairs[i][0], pairs[i][1]);

		if (found.count)
			fail_msg("%s and %s give %s", pairs[i][0], pairs[i][1],
				pattern_descriptions[found.items[0].pattern].text);
		candidates_release(&found);
	}
}

/* The second situation: a common lock that is released between the accesses of one unit. */
static void test_violations__through_released_locks(void **unused)
{
	struct candidates kept = find("(RxRy)", "(WxWy)");
	struct candidates given_back = find("(Rx)(Ry)", "(WxWy)");
	const struct candidate *found;

	(void)unused;
	assert_int_equal(kept.count, 0);
	assert_int_equal(given_back.count, 1);
	found = &given_back.items[0];
	assert_int_equal(found->pattern, PATTERN_RxWxWyRy);
	assert_true(found->has_window);
	/* Threads stop before the locks that they would keep from each other. */
	assert_int_equal(found->locations[0].taken.kind, OP_MUTEX_LOCK);
	assert_int_equal(found->locations[1].taken.site, 0x2200);
	assert_int_equal(found->locations[2].taken.kind, OP_NONE); /* held already */
	assert_int_equal(found->locations[3].taken.site, 0x1100);
	candidates_release(&given_back);
}

/* The first situation: one of them does without the lock. */
static void test_violations__where_one_thread_takes_no_lock(void **unused)
{
	struct candidates found = find("(RxWx)", "Wx");

	(void)unused;
	assert_int_equal(found.count, 1);
	assert_false(found.items[0].has_window);
	assert_int_equal(found.items[0].locations[1].taken.kind, OP_NONE);
	candidates_release(&found);
}

static void test_violations__between_readers_of_a_lock(void **unused)
{
	struct candidates readers = find("r(RxRx)", "r(Wx)");
	struct candidates writer = find("r(RxRx)", "(Wx)");

	(void)unused;
	assert_int_equal(readers.count, 1);
	assert_int_equal(writer.count, 0);
	candidates_release(&readers);
}

/* A crossing order is impossible if one unit holds its own lock. */
static void test_violations__heed_the_locks_of_both(void **unused)
{
	struct candidates found = find("(Rx)(Ry)", "(WyWx)");

	(void)unused;
	assert_true(has(&found, PATTERN_RxWyWxRy));
	assert_false(has(&found, PATTERN_RxWyRyWx));
	candidates_release(&found);
}

/* A unit that waits for the other's end cannot be interrupted by it; neither can its beginning. */
static void test_violations__respect_waiting(void **unused)
{
	struct thread_order *order = thread_order_new(&run);
	const struct trace_event create = {.thread = 1, .kind = OP_COND_SIGNAL, .address = 5};
	const struct trace_event wait = {.thread = 2, .kind = OP_COND_WAIT, .address = 5};
	const struct trace_event wake = {.thread = 2, .kind = OP_MUTEX_LOCK, .address = 6};
	const struct case_of this = {.own = "RxRx", .other = "Wx"};
	struct candidates found;

	(void)unused;
	const struct epoch *before = thread_order_epoch(order, 1);

	thread_order_add_waits(order, &wait);
	thread_order_add_waits(order, &create);
	thread_order_add_waits(order, &wake);
	found = find_between(&this, before, thread_order_epoch(order, 2));
	assert_int_equal(found.count, 0);
	found = find_between(&this, thread_order_epoch(order, 1), thread_order_epoch(order, 2));
	assert_int_equal(found.count, 1);
	candidates_release(&found);
	thread_order_free(order);
}

/* Watching: only patterns that occurred in this order, not all possible ones. */
static void test_violations__shown_are_those_of_the_run(void **unused)
{
	struct case_of this = {.own = "RxRx", .other = "Wx", .mode = VIOLATIONS_SHOWN};
	struct made own, other;
	struct party parties[2];
	struct party_set set = {.parties = parties, .count = 2};
	const struct party_pool pool = {.sets = &set, .count = 1};
	struct candidates found = find_between(&this, NULL, NULL);
	uint32_t index = 0;

	(void)unused;
	assert_int_equal(found.count, 0);
	make(&own, 1, "RxRx", NULL, &index);
	make(&other, 2, "Wx", NULL, &index);
	own.accesses[1].index = ++index;
	parties[0] = own.party;
	parties[1] = other.party;
	violations_find(
		&(struct violations_query){.pool = &pool, .mode = VIOLATIONS_SHOWN}, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.items[0].pattern, PATTERN_RWR);
	candidates_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_violations__are_the_eleven_of_the_table),
		cmocka_unit_test(test_violations__are_not_what_is_serialisable),
		cmocka_unit_test(test_violations__through_released_locks),
		cmocka_unit_test(test_violations__where_one_thread_takes_no_lock),
		cmocka_unit_test(test_violations__between_readers_of_a_lock),
		cmocka_unit_test(test_violations__heed_the_locks_of_both),
		cmocka_unit_test(test_violations__respect_waiting),
		cmocka_unit_test(test_violations__shown_are_those_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
