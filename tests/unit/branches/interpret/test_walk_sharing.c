/* Tests which memory is shared. Memory is not shared if creation and joins order its accesses, or
 * if all threads write the same in every run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/op.h"
#include "branches/values/segments.h"
#include "branches/interpret/walk_internal.h"

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

#define CREATE(at, by, whom)                                                                       \
	{                                                                                          \
		.step = at, .thread = by, .kind = OP_THREAD_CREATE, .other = whom                  \
	}
#define JOIN(at, by, whom)                                                                         \
	{                                                                                          \
		.step = at, .thread = by, .kind = OP_THREAD_JOIN, .other = whom                    \
	}
/* main creates 1 at step 10 and 2 at step 20, and joins them at steps 30 and 40. */
#define PAIR                                                                                       \
	{                                                                                          \
		CREATE(10, 0, 1), CREATE(20, 0, 2), JOIN(30, 0, 1), JOIN(40, 0, 2)                 \
	}

static struct course *make_pair(void)
{
	static const struct record_op pair[] = PAIR;
	struct course *run = make_run(3);

	memcpy(run->ops, pair, sizeof pair);
	run->record.op_count = sizeof pair / sizeof *pair;
	return run;
}

static void begin(struct course *run)
{
	walk_open_sharing(&run->walk);
	for (uint16_t i = 0; i < run->record.thread_count; i++) {
		run->walkers[i] =
			(struct walker){.walk = &run->walk, .thread = i, .mode = WALK_SHARING};
		run->walkers[i].room = calloc(1, sizeof(struct walk_room));
		run->walkers[i].seen = calloc(SEEN_SLOTS, sizeof(uint64_t));
		assert_non_null(run->walkers[i].room);
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
	for (uint16_t i = 0; i < run->record.thread_count; i++) {
		free(run->walkers[i].seen);
		free(run->walkers[i].room);
	}
	free(run);
}

/* ---- scenes: accesses in the order in which they are walked, and the results ---- */

struct access {
	uint16_t thread;
	uint64_t step;
	char kind; /* 'w', 'r'; 0: there are no more */
	uint64_t address;
};

struct scene {
	const char *name;
	struct record_op ops[4];
	struct access accesses[8];
	uint64_t shared[3], ordered[3]; /* 0: there are no more */
};

static const struct scene scenes[] = {
	{"what is written before the creation is not shared", PAIR,
		{/* the first thread runs meanwhile */ {0, 10, 'w', WORD}, {2, 21, 'r', WORD},
			{0, 25, 'r', WORD}},
		.ordered = {WORD}},
	{"what a thread may see earlier is: much later in the run, but nothing makes it so", PAIR,
		{{0, 10, 'w', WORD}, {1, 50, 'r', WORD}, {0, 20, 'w', OTHER}, {2, 50, 'r', OTHER}},
		.shared = {WORD, OTHER}},
	{"what is written again behind the creation is", PAIR,
		{{0, 10, 'w', WORD}, {0, 20, 'w', WORD}, {2, 21, 'r', WORD}}, .shared = {WORD}},
	{"what is left for who joins is not; only the other one has been joined", PAIR,
		{{0, 10, 'w', WORD}, {2, 21, 'w', WORD}, {2, 21, 'w', OTHER}, {0, 30, 'r', OTHER},
			{0, 40, 'r', WORD}},
		.shared = {OTHER}, .ordered = {WORD}},
	{"a join that failed orders nothing",
		{CREATE(10, 0, 1), {.step = 20,
					   .kind = OP_THREAD_TRYJOIN,
					   .other = 1,
					   .flags = RECORD_OP_FAILED}},
		{{1, 11, 'w', WORD}, {0, 25, 'r', WORD}}, .shared = {WORD}},
	{"ancestors order, too; who was joined had not joined the one that wrote the flag",
		{CREATE(10, 0, 1), CREATE(20, 1, 2), JOIN(30, 0, 1), CREATE(40, 0, 3)},
		{{0, 9, 'w', WORD}, {2, 21, 'r', WORD}, {1, 11, 'w', OTHER}, {2, 21, 'r', OTHER},
			{3, 41, 'r', OTHER}, {2, 21, 'w', FLAG}, {3, 41, 'r', FLAG}},
		.shared = {FLAG}, .ordered = {WORD, OTHER}},
	{"a thread that has read shared memory writes another value each time", PAIR,
		{{0, 10, 'r', FLAG}, {0, 10, 'w', WORD}, {1, 11, 'w', FLAG}, {2, 21, 'r', WORD}},
		.shared = {FLAG, WORD}},
	{"also through an ordered word, in every order of walking the threads",
		{CREATE(10, 0, 1), CREATE(20, 0, 2), CREATE(30, 2, 3)},
		{{3, 31, 'r', OTHER}, {2, 21, 'r', WORD}, {2, 21, 'w', OTHER}, {0, 10, 'r', FLAG},
			{0, 10, 'w', WORD}, {1, 11, 'w', FLAG}},
		.shared = {WORD, OTHER}},
	{"a value that depends on an outcome stays a term",
		{CREATE(10, 0, 1), {.step = 15, .kind = OP_MUTEX_TRYLOCK, .other = UINT16_MAX},
			CREATE(20, 0, 2)},
		{{0, 15, 'w', WORD}, {2, 21, 'r', WORD}}, .shared = {WORD}},
	{"a thread is given what was read", {CREATE(10, 0, 1), CREATE(20, 0, 2), CREATE(30, 2, 3)},
		{{0, 10, 'r', FLAG}, {1, 11, 'w', FLAG}, {2, 21, 'w', WORD}, {3, 31, 'r', WORD}},
		.shared = {WORD}},
	{"memory that was given back and taken again is shared", PAIR,
		{{1, 11, 'w', WORD}, {0, 10, 'w', WORD}, {2, 21, 'r', WORD}}, .shared = {WORD}},
};

static void play(const struct scene *scene)
{
	struct course *run = make_run(4);

	for (int i = 0; i < 4 && scene->ops[i].step; i++)
		run->ops[run->record.op_count++] = scene->ops[i];
	begin(run);
	for (const struct access *i = scene->accesses; i->kind; i++)
		touch(run, i->thread, i->step, i->address, 8, i->kind == 'w');
	for (const uint64_t *i = scene->shared; *i; i++)
		assert_true(is_shared(run, *i));
	for (const uint64_t *i = scene->ordered; *i; i++)
		assert_false(is_shared(run, *i));
	free_run(run);
}

static void test_sharing__in_scenes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		print_message("%s\n", scenes[i].name);
		play(&scenes[i]);
	}
}

/* ---- others ---- */

/* An open address may lead to this word. A thread that reads there may read another value; the
 * values that it wrote are then unknown, too. */
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

static void test_sharing__many_threads_are_not_distinguished(void **state)
{
	struct course *run = make_run(THREADS_MOST);

	(void)state;
	for (uint16_t i = 1; i < THREADS_MOST; i++)
		perform(run, 10u * i, 0, OP_THREAD_CREATE, i);
	begin(run);
	put(run, 0, 9, WORD);
	for (uint16_t i = 1; i < THREADS_MOST; i++) {
		get(run, i, 1000, WORD);
		get(run, i, 1000, FLAG); /* no thread writes there */
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
		CASE(in_scenes),
		CASE(what_is_shared_later_is_settled_again),
		CASE(halves_of_a_word_are_apart),
		CASE(what_a_function_may_have_written),
		CASE(many_threads_are_not_distinguished),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
