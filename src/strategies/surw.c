/*
 * Strategy `surw`: selectively uniform random walk.
 *
 * Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025,
 * sections 3.1 (weights) and 3.2 (selection). Per run one object is picked; the ops on it are the
 * *interesting* ones. Which thread performs the next interesting op (the *intended* thread) is
 * drawn by how many each thread still has before it, so every order of the interesting ops is
 * equally likely; everything else moves freely around them. A thread that has not been created yet
 * counts for the one that will create it, and at the creation the intention is divided by weight.
 *
 * Deviations from the paper:
 * - Counts come from earlier runs of the campaign, for all objects at once and by stable thread
 *   name, instead of one profiling run. Where they vary from run to run they rise half-way at once
 *   and sink slowly: an op that only some runs reach must be expected to be had in any order, and
 *   one that is expected in vain costs only another draw.
 * - An object that is only used under one and the same lock is not picked: its order is that of the
 *   lock, and holding its users back would only hold them with the lock in hand.
 * - Ops that release are not interesting: a release follows its own acquisition, so it would be
 *   counted without being a choice. Neither is the life cycle of threads, whose order is forced.
 * - Programs that block: where the intended thread waits and every enabled thread stands before an
 *   interesting op, the intention is drawn anew among the enabled ones. A thread that stands before
 *   an interesting op weighs at least 1, whatever was learnt. The paper's uniformity is for
 *   programs without blocking; with it, it is approached.
 * - The first run knows no counts and walks at random.
 *
 * Integers only: the target may have floating-point traps on.
 */
#include "base/rng.h"
#include "strategies/key_table.h"
#include "strategies/strategy.h"

#define SURW_LOCKS 4 /* what is held beyond them is not seen */

/* Locks that are held; 0: none. */
struct surw_locks {
	object_name locks[SURW_LOCKS];
};

struct surw_pair {	     /* a thread and an object, known by names */
	uint16_t thread;     /* index in `threads` */
	uint16_t object;     /* index in `objects`, UINT16_MAX: that table is full */
	uint32_t count;	     /* interesting ops in this run */
	uint32_t sixteenths; /* of the ops expected per run, learnt */
};

struct surw_object {
	uint32_t thread_count;	  /* different threads that ever had interesting ops on it */
	bool is_contended;	  /* one of them while there was more than one thread */
	struct surw_locks common; /* held at each of those so far */
};

struct surw {
	struct rng rng;
	object_name object;	   /* of this run, 0: walk at random */
	struct thread_id intended; /* THREAD_NONE: to be drawn */
	uint32_t known;		   /* threads of this run that have a weight */
	bool is_exhausted;	   /* no weight is left: walk at random */
	uint32_t eligible_count;
	uint16_t eligible[KEY_TABLE_CAPACITY]; /* indices in `objects` that two threads share */

	/* By thread index of this run. */
	uint32_t weight[THREAD_CAPACITY]; /* interesting ops left, uncreated descendants' too */
	uint32_t learnt[THREAD_CAPACITY]; /* index in `threads`, KEY_TABLE_NONE: table is full */
	struct surw_locks held[THREAD_CAPACITY];
	uint64_t candidates[BITSET_WORDS(THREAD_CAPACITY)];

	/* Learnt, by stable names. A thread's parent stands before it. */
	struct key_table threads; /* thread_name */
	struct key_table objects; /* object_name */
	struct key_table pairs;	  /* index in `threads` << 32 | object_name */
	uint32_t parent[KEY_TABLE_CAPACITY];
	uint32_t subtree[KEY_TABLE_CAPACITY]; /* expected for this run's object, descendants' too */
	struct surw_object object_of[KEY_TABLE_CAPACITY];
	struct surw_pair pair_of[KEY_TABLE_CAPACITY];
};

static bool surw_may_interest(const struct pending_op *op)
{
	if (!op->object || op->flags & OP_RELEASE)
		return false;
	switch (op->kind) {
	case OP_THREAD_BEGIN:
	case OP_THREAD_CREATE:
	case OP_THREAD_EXIT:
	case OP_THREAD_JOIN:
	case OP_THREAD_DETACH:
		return false;
	default:
		return true;
	}
}

static inline bool surw_is_interesting(const struct surw *surw, const struct pending_op *op)
{
	return op->object == surw->object && surw_may_interest(op);
}

static size_t surw_state_bytes(const struct strategy_config *config)
{
	(void)config; /* no options */
	return sizeof(struct surw);
}

static void surw_begin_campaign(void *state, const struct strategy_config *config)
{
	(void)state; /* starts empty */
	(void)config;
}

static uint32_t surw_expected(const struct surw_pair *pair)
{
	return (pair->sixteenths + 8) / 16;
}

/* What each known thread is expected to do with this run's object, its descendants included. */
static void surw_expect(struct surw *surw)
{
	for (uint32_t i = 0; i < surw->threads.count; i++)
		surw->subtree[i] = 0;
	for (uint32_t i = 0; i < surw->pairs.count; i++)
		if ((object_name)surw->pairs.keys[i] == surw->object)
			surw->subtree[surw->pair_of[i].thread] += surw_expected(&surw->pair_of[i]);
	for (uint32_t i = surw->threads.count; i-- > 1;)
		if (surw->parent[i] != KEY_TABLE_NONE)
			surw->subtree[surw->parent[i]] += surw->subtree[i];
}

static bool surw_is_guarded(const struct surw_object *object)
{
	for (uint32_t i = 0; i < SURW_LOCKS; i++)
		if (object->common.locks[i])
			return true;
	return false;
}

/* Picks this run's object among those that threads share and can use in any order. */
static object_name surw_pick(struct surw *surw)
{
	uint32_t count = 0;
	uint32_t pick;

	for (uint32_t i = 0; i < surw->eligible_count; i++)
		count += !surw_is_guarded(&surw->object_of[surw->eligible[i]]);
	if (!count)
		return 0;
	pick = rng_below(&surw->rng, count);
	for (uint32_t i = 0; i < surw->eligible_count; i++)
		if (!surw_is_guarded(&surw->object_of[surw->eligible[i]]) && !pick--)
			return (object_name)surw->objects.keys[surw->eligible[i]];
	return 0;
}

static void surw_begin_run(void *state, uint64_t seed)
{
	struct surw *surw = state;

	rng_seed(&surw->rng, seed);
	surw->intended = THREAD_NONE;
	surw->known = 0;
	surw->is_exhausted = false;
	for (uint32_t i = 0; i < surw->pairs.count; i++)
		surw->pair_of[i].count = 0;
	surw->object = surw_pick(surw);
	surw_expect(surw);
}

/* Gives the thread its learnt weight, out of what its creator holds for it. */
static void surw_meet(struct surw *surw, const struct schedule_view *view, uint32_t thread)
{
	/* Only one thread moves between two points, so it is the creator. */
	const uint32_t creator =
		thread && view->current.index < thread ? view->current.index : KEY_TABLE_NONE;
	const uint32_t count_before = surw->threads.count;
	const uint32_t learnt = key_table_add(&surw->threads, view->names[thread]);
	uint32_t held;

	surw->learnt[thread] = learnt;
	surw->weight[thread] = 0;
	surw->held[thread] = (struct surw_locks){{0}};
	surw->is_exhausted = false;
	if (learnt == KEY_TABLE_NONE)
		return;
	if (learnt == count_before) {
		surw->parent[learnt] =
			creator == KEY_TABLE_NONE ? KEY_TABLE_NONE : surw->learnt[creator];
		surw->subtree[learnt] = 0;
	}
	surw->weight[thread] = surw->subtree[learnt];
	if (creator == KEY_TABLE_NONE || !surw->weight[thread])
		return;
	held = surw->weight[creator];
	if (surw->intended.index == creator && held &&
		rng_below(&surw->rng, held) < surw->weight[thread])
		surw->intended.index = (uint16_t)thread;
	surw->weight[creator] -= held < surw->weight[thread] ? held : surw->weight[thread];
}

static inline uint32_t surw_weight(
	const struct surw *surw, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	if (op->kind == OP_NONE)
		return 0; /* it ended with fewer ops than expected */
	if (!surw->weight[thread] && surw_is_interesting(surw, op))
		return 1;
	return surw->weight[thread];
}

/* Draws the intended thread by weight; `among` limits it to these threads, NULL: all. */
static void surw_draw(struct surw *surw, const struct schedule_view *view, const uint64_t *among)
{
	uint64_t total = 0;
	uint64_t ticket;

	for (uint32_t i = 0; i < view->thread_count; i++)
		if (!among || bitset_has(among, i))
			total += surw_weight(surw, view, i);
	surw->intended = THREAD_NONE;
	surw->is_exhausted = !total;
	if (!total)
		return;
	ticket = rng_below64(&surw->rng, total);
	for (uint32_t i = 0; i < view->thread_count; i++) {
		uint32_t weight = 0;

		if (!among || bitset_has(among, i))
			weight = surw_weight(surw, view, i);
		if (ticket < weight) {
			surw->intended.index = (uint16_t)i;
			return;
		}
		ticket -= weight;
	}
}

/* Fills `candidates` with the enabled threads that the intention does not hold back. */
static uint32_t surw_collect(struct surw *surw, const struct schedule_view *view)
{
	const uint32_t word_count = BITSET_WORDS(view->thread_count);
	uint32_t count = 0;

	for (uint32_t word = 0; word < word_count; word++) {
		uint64_t kept = view->enabled[word];

		for (uint64_t rest = kept; rest; rest &= rest - 1) {
			const uint32_t thread = word * 64 + (uint32_t)__builtin_ctzll(rest);

			if (thread != surw->intended.index &&
				surw_is_interesting(surw, &view->pending[thread]))
				kept &= ~(rest & -rest);
		}
		surw->candidates[word] = kept;
		count += (uint32_t)__builtin_popcountll(kept);
	}
	return count;
}

static struct thread_id surw_choose_among(
	struct surw *surw, const uint64_t *threads, uint32_t count)
{
	const uint32_t rank = count > 1 ? rng_below(&surw->rng, count) : 0;

	return (struct thread_id){(uint16_t)bitset_select(threads, rank)};
}

static struct thread_id surw_choose(void *state, const struct schedule_view *view)
{
	struct surw *surw = state;
	uint32_t count;

	while (surw->known < view->thread_count)
		surw_meet(surw, view, surw->known++);
	if (!surw->object || surw->is_exhausted || view->enabled_count == 1)
		return surw_choose_among(surw, view->enabled, view->enabled_count);
	if (surw->intended.index >= view->thread_count ||
		view->pending[surw->intended.index].kind == OP_NONE)
		surw_draw(surw, view, NULL);
	if (surw->is_exhausted)
		return surw_choose_among(surw, view->enabled, view->enabled_count);
	count = surw_collect(surw, view);
	if (count)
		return surw_choose_among(surw, surw->candidates, count);
	surw_draw(surw, view, view->enabled);
	return surw->intended;
}

/* Takes a lock into what the thread holds, or out of it. Attempts may fail, so they do not count;
 * neither does waiting on a condition variable, since the thread does nothing meanwhile. */
static void surw_hold(struct surw_locks *held, const struct pending_op *op)
{
	const bool takes =
		(op->flags & (OP_ACQUIRE | OP_MAYBLOCK | OP_READ)) == (OP_ACQUIRE | OP_MAYBLOCK);

	if (op->kind == OP_COND_WAKE || !(takes || op->flags & OP_RELEASE))
		return;
	for (uint32_t i = 0; i < SURW_LOCKS; i++)
		if (held->locks[i] == (takes ? 0 : op->object)) {
			held->locks[i] = takes ? op->object : 0;
			return;
		}
}

/* Notes what was held at an op on the object. What happens before there is a second thread cannot be
 * ordered otherwise and says nothing. */
static void surw_note_locks(struct surw_object *object, const struct surw_locks *held)
{
	if (!object->is_contended)
		object->common = *held;
	object->is_contended = true;
	for (uint32_t i = 0; i < SURW_LOCKS; i++) {
		bool is_held = false;

		for (uint32_t j = 0; j < SURW_LOCKS; j++)
			is_held |= held->locks[j] == object->common.locks[i];
		if (!is_held)
			object->common.locks[i] = 0;
	}
}

/* A pair that was not seen before. */
static void surw_add_pair(struct surw *surw, uint32_t pair, uint32_t learnt, object_name object)
{
	const uint32_t index = key_table_add(&surw->objects, object);
	const bool is_known = index != KEY_TABLE_NONE;

	surw->pair_of[pair] = (struct surw_pair){
		.thread = (uint16_t)learnt, .object = is_known ? (uint16_t)index : UINT16_MAX};
	if (is_known && ++surw->object_of[index].thread_count == 2)
		surw->eligible[surw->eligible_count++] = (uint16_t)index;
}

/* Counts an op for the runs to come. */
static void surw_learn(
	struct surw *surw, const struct schedule_view *view, uint32_t thread, object_name name)
{
	const uint32_t learnt = surw->learnt[thread];
	const uint32_t count_before = surw->pairs.count;
	const uint32_t pair = key_table_add(&surw->pairs, (uint64_t)learnt << 32 | (uint64_t)name);
	uint32_t object;

	if (pair == KEY_TABLE_NONE)
		return;
	if (pair == count_before)
		surw_add_pair(surw, pair, learnt, name);
	object = surw->pair_of[pair].object;
	if (object != UINT16_MAX && view->thread_count > 1)
		surw_note_locks(&surw->object_of[object], &surw->held[thread]);
	surw->pair_of[pair].count++;
}

static void surw_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct surw *surw = state;
	const struct pending_op *op = &view->pending[thread.index];

	while (surw->known < view->thread_count)
		surw_meet(surw, view, surw->known++);
	if (surw_may_interest(op) && surw->learnt[thread.index] != KEY_TABLE_NONE)
		surw_learn(surw, view, thread.index, op->object);
	surw_hold(&surw->held[thread.index], op);
	if (!surw_may_interest(op))
		return;
	if (op->object != surw->object)
		return;
	if (surw->weight[thread.index])
		surw->weight[thread.index]--;
	surw->intended = THREAD_NONE;
}

static void surw_end_run(void *state, const struct run_summary *summary)
{
	struct surw *surw = state;

	/* A run that was cut off says little about what threads do in a whole one. */
	if (summary->outcome != OUTCOME_PASSED && summary->outcome != OUTCOME_EXIT)
		return;
	for (uint32_t i = 0; i < surw->pairs.count; i++) {
		struct surw_pair *pair = &surw->pair_of[i];

		const uint32_t seen = pair->count * 16;

		if (!pair->sixteenths)
			pair->sixteenths = seen;
		else if (seen > pair->sixteenths)
			pair->sixteenths += (seen - pair->sixteenths + 1) / 2;
		else
			pair->sixteenths -= (pair->sixteenths - seen) / 8;
	}
}

const struct strategy strategy_surw = {
	.name = "surw",
	.summary = "picks one shared object per run and makes every order of the ops on it equally "
		   "likely",
	.state_bytes = surw_state_bytes,
	.begin_campaign = surw_begin_campaign,
	.begin_run = surw_begin_run,
	.choose = surw_choose,
	.executed = surw_executed,
	.end_run = surw_end_run,
};
