/* Which memory is shared: what creation and joins order is not, where everybody writes the same in every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/op.h"
#include "rewalk/segments.h"
#include "rewalk/walk_internal.h"

#define THREADS_MOST 80
#define OPS_MOST 200
#define WORD UINT64_C(0x7f0000001000)
#define OTHER UINT64_C(0x7f0000002000)
#define FLAG UINT64_C(0x7f0000003000)

/* A run: ops by step. Accesses are made at a step: behind the op of that step, before the thread's next one. */
struct course {
	struct record_op ops[OPS_MOST];
	struct run_thread threads[THREADS_MOST];
	struct run_record record;
	struct walk walk;
	struct walker walkers[THREADS_MOST];
};

static struct course *make_run(uint32_t threads)
{
	struct course *run = calloc(1, sizeof *run);

	assert_non_null(run);
	run->record = (struct run_record){
		.threads = run->threads, .thread_count = threads, .ops = run->ops};
	run->walk.record = &run->record;
	return run;
}

static void perform(
	struct course *run, uint64_t step, uint16_t thread, enum op_kind kind, uint16_t other)
{
	run->ops[run->record.op_count++] = (struct record_op){
		.step = step, .thread = thread, .other = other, .kind = (uint8_t)kind};
}

/* main creates 1 at step 10 and 2 at step 20, and joins them at steps 30 and 40. */
static struct course *make_pair(void)
{
	struct course *run = make_run(3);

	perform(run, 10, 0, OP_THREAD_CREATE, 1);
	perform(run, 20, 0, OP_THREAD_CREATE, 2);
	perform(run, 30, 0, OP_THREAD_JOIN, 1);
	perform(run, 40, 0, OP_THREAD_JOIN, 2);
	return run;
}

static void begin(struct course *run)
{
	walk_open_sharing(&run->walk);
	for (uint16_t i = 0; i < run->record.thread_count; i++) {
		run->walkers[i] =
			(struct walker){.walk = &run->walk, .thread = i, .mode = WALK_SHARING};
		run->walkers[i].seen = calloc(SEEN_SLOTS, sizeof(uint64_t));
		assert_non_null(run->walkers[i].seen);
	}
}

static void touch(struct course *run, uint16_t thread, uint64_t step, uint64_t address,
	uint32_t bytes, bool is_write)
{
	struct walker *walker = &run->walkers[thread];

	walker->segment = run->walk.segments
				  ? segments_at(run->walk.segments, thread, walker->segment, step)
				  : 0;
	walk_note_sharing(walker, address, bytes, is_write);
}

static void put(struct course *run, uint16_t thread, uint64_t step, uint64_t address)
{
	touch(run, thread, step, address, 8, true);
}

static void get(struct course *run, uint16_t thread, uint64_t step, uint64_t address)
{
	touch(run, thread, step, address, 8, false);
}

static bool is_shared(struct course *run, uint64_t address)
{
	walk_settle_sharing(&run->walk);
	return walk_is_shared(&run->walk, address, 8);
}

static void free_run(struct course *run)
{
	walk_release_sharing(&run->walk);
	for (uint16_t i = 0; i < run->record.thread_count; i++)
		free(run->walkers[i].seen);
	free(run);
}

static void test_sharing__not_what_is_written_before_the_creation(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	put(run, 0, 10, WORD); /* while the first thread runs */
	get(run, 2, 21, WORD);
	get(run, 0, 25, WORD);
	assert_false(is_shared(run, WORD));
	free_run(run);
}

static void test_sharing__what_a_thread_may_see_earlier(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	put(run, 0, 10, WORD);
	get(run, 1, 50, WORD); /* much later in the run, but nothing makes it so */
	put(run, 0, 20, OTHER);
	get(run, 2, 50, OTHER);
	assert_true(is_shared(run, WORD));
	assert_true(is_shared(run, OTHER));
	free_run(run);
}

static void test_sharing__what_is_written_again_behind_the_creation(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	put(run, 0, 10, WORD);
	put(run, 0, 20, WORD);
	get(run, 2, 21, WORD);
	assert_true(is_shared(run, WORD));
	free_run(run);
}

static void test_sharing__not_what_is_left_for_who_joins(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	put(run, 0, 10, WORD);
	put(run, 2, 21, WORD);
	put(run, 2, 21, OTHER);
	get(run, 0, 30, OTHER); /* only the other one has been joined */
	get(run, 0, 40, WORD);
	assert_false(is_shared(run, WORD));
	assert_true(is_shared(run, OTHER));
	free_run(run);
}

static void test_sharing__a_join_that_failed_orders_nothing(void **state)
{
	struct course *run = make_run(2);

	(void)state;
	perform(run, 10, 0, OP_THREAD_CREATE, 1);
	perform(run, 20, 0, OP_THREAD_TRYJOIN, 1);
	run->ops[1].flags = RECORD_OP_FAILED;
	begin(run);
	put(run, 1, 11, WORD);
	get(run, 0, 25, WORD);
	assert_true(is_shared(run, WORD));
	free_run(run);
}

static void test_sharing__ancestors_order_too(void **state)
{
	struct course *run = make_run(4);

	(void)state;
	perform(run, 10, 0, OP_THREAD_CREATE, 1);
	perform(run, 20, 1, OP_THREAD_CREATE, 2);
	perform(run, 30, 0, OP_THREAD_JOIN, 1);
	perform(run, 40, 0, OP_THREAD_CREATE, 3);
	begin(run);
	put(run, 0, 9, WORD);
	get(run, 2, 21, WORD);
	put(run, 1, 11, OTHER);
	get(run, 2, 21, OTHER);
	get(run, 3, 41, OTHER); /* its creator has joined who wrote */
	put(run, 2, 21, FLAG);
	get(run, 3, 41, FLAG); /* who was joined had not joined that one */
	assert_false(is_shared(run, WORD));
	assert_false(is_shared(run, OTHER));
	assert_true(is_shared(run, FLAG));
	free_run(run);
}

/* main reads what is shared, writes another word, and creates a thread that reads that: it is another value each time. */
static void test_sharing__what_depends_on_shared_memory_goes_on(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	get(run, 0, 10, FLAG);
	put(run, 0, 10, WORD);
	put(run, 1, 11, FLAG);
	get(run, 2, 21, WORD);
	assert_true(is_shared(run, FLAG));
	assert_true(is_shared(run, WORD));
	free_run(run);
}

/* Through a word that is ordered, too, and whoever is walked first. */
static void test_sharing__what_depends_on_it_by_way_of_others_goes_on(void **state)
{
	struct course *run = make_run(4);

	(void)state;
	perform(run, 10, 0, OP_THREAD_CREATE, 1);
	perform(run, 20, 0, OP_THREAD_CREATE, 2);
	perform(run, 30, 2, OP_THREAD_CREATE, 3);
	begin(run);
	get(run, 3, 31, OTHER);
	get(run, 2, 21, WORD);
	put(run, 2, 21, OTHER);
	get(run, 0, 10, FLAG);
	put(run, 0, 10, WORD);
	put(run, 1, 11, FLAG);
	assert_true(is_shared(run, WORD));
	assert_true(is_shared(run, OTHER));
	free_run(run);
}

static void test_sharing__what_depends_on_an_outcome_goes_on(void **state)
{
	struct course *run = make_run(3);

	(void)state;
	perform(run, 10, 0, OP_THREAD_CREATE, 1);
	perform(run, 15, 0, OP_MUTEX_TRYLOCK, UINT16_MAX);
	perform(run, 20, 0, OP_THREAD_CREATE, 2);
	begin(run);
	put(run, 0, 15, WORD);
	get(run, 2, 21, WORD);
	assert_true(is_shared(run, WORD));
	free_run(run);
}

/* The thread is given what was read. */
static void test_sharing__what_depends_on_an_argument_goes_on(void **state)
{
	struct course *run = make_run(4);

	(void)state;
	perform(run, 10, 0, OP_THREAD_CREATE, 1);
	perform(run, 20, 0, OP_THREAD_CREATE, 2);
	perform(run, 30, 2, OP_THREAD_CREATE, 3);
	begin(run);
	get(run, 0, 10, FLAG);
	put(run, 1, 11, FLAG);
	put(run, 2, 21, WORD);
	get(run, 3, 31, WORD);
	assert_true(is_shared(run, WORD));
	free_run(run);
}

/* Where an open address may lead: who reads there may read something else, so what he wrote is not known either. */
static void test_sharing__what_is_shared_later_is_settled_again(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	put(run, 0, 9, FLAG);
	get(run, 0, 10, FLAG);
	put(run, 0, 10, WORD);
	get(run, 2, 21, WORD);
	assert_false(is_shared(run, FLAG));
	assert_false(is_shared(run, WORD));
	assert_true(walk_share(&run->walk, FLAG >> 3));
	assert_false(walk_share(&run->walk, FLAG >> 3));
	assert_true(is_shared(run, FLAG));
	assert_true(is_shared(run, WORD));
	free_run(run);
}

static void test_sharing__halves_of_a_word_are_apart(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	touch(run, 0, 9, WORD, 4, true);
	touch(run, 0, 10, WORD + 4, 4, true);
	touch(run, 1, 11, WORD, 4, false);
	touch(run, 2, 21, WORD + 4, 4, false);
	touch(run, 0, 10, OTHER + 4, 4, true);
	touch(run, 1, 11, OTHER, 4, false);
	touch(run, 2, 21, OTHER, 8, false);
	assert_false(is_shared(run, WORD));
	assert_false(is_shared(run, OTHER));
	touch(run, 1, 11, OTHER + 2, 4, false);
	assert_true(is_shared(run, OTHER));
	free_run(run);
}

/* Memory that was given back and taken again. */
static void test_sharing__addresses_that_are_used_again(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	put(run, 1, 11, WORD);
	put(run, 0, 10, WORD);
	get(run, 2, 21, WORD);
	assert_true(is_shared(run, WORD));
	free_run(run);
}

static void test_sharing__what_a_function_may_have_written(void **state)
{
	struct course *run = make_pair();

	(void)state;
	begin(run);
	for (uint32_t i = 0; i < 3; i++) {
		put(run, 0, 10, WORD + 8 * i);
		get(run, 2, 21, WORD + 8 * i);
	}
	walk_note_opaque(&run->walkers[0], WORD + 8);
	assert_false(is_shared(run, WORD));
	assert_true(is_shared(run, WORD + 8));
	assert_true(is_shared(run, WORD + 16));
	assert_false(walk_is_known(&run->walk, WORD + 24));
	walk_note_opaque(&run->walkers[0], OTHER);
	assert_false(walk_is_known(&run->walk, OTHER >> 3));
	free_run(run);
}

static void test_sharing__many_threads_are_not_told_apart(void **state)
{
	struct course *run = make_run(THREADS_MOST);

	(void)state;
	for (uint16_t i = 1; i < THREADS_MOST; i++)
		perform(run, 10u * i, 0, OP_THREAD_CREATE, i);
	begin(run);
	put(run, 0, 9, WORD);
	for (uint16_t i = 1; i < THREADS_MOST; i++) {
		get(run, i, 1000, WORD);
		get(run, i, 1000, FLAG); /* nobody writes there */
	}
	put(run, 0, 9, OTHER);
	get(run, 1, 1000, OTHER);
	assert_true(is_shared(run, WORD));
	assert_false(is_shared(run, FLAG));
	assert_false(is_shared(run, OTHER));
	free_run(run);
}

#define CASE(name) cmocka_unit_test(test_sharing__##name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(not_what_is_written_before_the_creation),
		CASE(what_a_thread_may_see_earlier),
		CASE(what_is_written_again_behind_the_creation),
		CASE(not_what_is_left_for_who_joins),
		CASE(a_join_that_failed_orders_nothing),
		CASE(ancestors_order_too),
		CASE(what_depends_on_shared_memory_goes_on),
		CASE(what_depends_on_it_by_way_of_others_goes_on),
		CASE(what_depends_on_an_outcome_goes_on),
		CASE(what_depends_on_an_argument_goes_on),
		CASE(what_is_shared_later_is_settled_again),
		CASE(halves_of_a_word_are_apart),
		CASE(addresses_that_are_used_again),
		CASE(what_a_function_may_have_written),
		CASE(many_threads_are_not_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
