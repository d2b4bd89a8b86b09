/*
 * Finds cycles in the order of locks. A cycle is a list of requests by different threads, each for
 * a lock that the next one holds. All requests must be possible at the same time: no two hold a
 * common lock (gate), and no happens-before order separates them (creation, join).
 *
 * The search covers kinds of requests, so threads with the same behaviour are examined once.
 * Shorter cycles are searched first, because they are more likely. Cycles of the same code are one
 * candidate.
 */
#include <stdlib.h>

#include "analyses/lock_order_internal.h"
#include "base/array.h"
#include "base/hash_table.h"

/* Bounds of the search, a few seconds; a bound that is reached marks the candidates incomplete. */
#define SEARCH_STEPS_MAX (UINT64_C(1) << 22)
#define CIRCLES_MAX 4096
#define ASSIGNMENT_STEPS_MAX 20000

struct holders {
	uint64_t name; /* name of the lock; or of the thread, with THREAD_BIT */
	uint32_t *kinds;
	uint32_t count;
	UT_hash_handle hh;
};

#define THREAD_BIT (UINT64_C(1) << 32)

struct search {
	const struct lock_order *graph;
	struct holders *holders;
	struct candidates *out;
	uint32_t length; /* length of the cycles searched now */
	bool has_reached_length;
	uint64_t steps, circles;
	uint32_t path[CANDIDATE_LOCATIONS_MAX]; /* indices of request kinds */
	uint32_t assignment_steps;
	const struct request *chosen[CANDIDATE_LOCATIONS_MAX];
};

static const struct request *lock_order_cycles_request_of(
	const struct search *search, uint32_t kind)
{
	return kind_request(search->graph, search->graph->kinds[kind]);
}

static void lock_order_cycles_add_holder(struct search *search, uint64_t name, uint32_t kind)
{
	struct holders *holders;

	HASH_FIND(hh, search->holders, &name, sizeof name, holders);
	if (!holders) {
		holders = array_new(1, sizeof *holders);
		holders->name = name;
		HASH_ADD(hh, search->holders, name, sizeof holders->name, holders);
	}
	for (uint32_t i = holders->count; i--;)
		if (holders->kinds[i] == kind)
			return;
	ARRAY_APPEND(holders->kinds, holders->count, kind);
}

static void lock_order_cycles_index_holders(struct search *search)
{
	const struct lock_order *graph = search->graph;

	for (uint32_t i = 0; i < graph->request_count; i++) {
		const struct request *request = graph->requests[i];

		for (uint32_t held = 0; held < request->key.held_count; held++)
			lock_order_cycles_add_holder(
				search, request->held[held].object, request->kind);
	}
	/* A live thread "holds" the object that joins of it wait for. */
	for (uint32_t i = 0; i < graph->request_count; i++)
		if (graph->requests[i]->key.joined)
			for (uint32_t j = 0; j < graph->request_count; j++)
				if (graph->requests[j]->key.thread ==
					graph->requests[i]->key.joined)
					lock_order_cycles_add_holder(search,
						THREAD_BIT | graph->requests[j]->key.thread,
						graph->requests[j]->kind);
}

static const struct holders *lock_order_cycles_holders_of(
	const struct search *search, const struct request *wanted)
{
	const uint64_t name =
		wanted->key.joined ? THREAD_BIT | wanted->key.joined : wanted->key.object;
	struct holders *holders;

	HASH_FIND(hh, search->holders, &name, sizeof name, holders);
	return holders;
}

static void lock_order_cycles_forget_holders(struct search *search)
{
	HASH_FREE_EACH(search->holders, holders, free(holders->kinds));
}

/* Returns the index of the lock among those of `holder`, held in a mode that blocks `wanted`; -1:
 * none. */
static int lock_order_cycles_find_held(const struct request *wanted, const struct request *holder)
{
	const bool wants_shared = wanted->key.op == OP_RWLOCK_RDLOCK;

	for (uint32_t i = 0; i < holder->key.held_count; i++)
		if (holder->held[i].object == wanted->key.object &&
			!(wants_shared && holder->held[i].is_shared))
			return (int)i;
	return -1;
}

static bool lock_order_cycles_waits_for(const struct request *wanted, const struct request *holder)
{
	/* The joined thread is compared later, when threads are chosen. */
	return wanted->key.joined || lock_order_cycles_find_held(wanted, holder) >= 0;
}

/* Returns whether two requests can be in one cycle. They cannot with a common exclusive lock, or
 * for the same object. */
static bool lock_order_cycles_excludes(const struct request *first, const struct request *second)
{
	if (first->key.object == second->key.object && first->key.joined == second->key.joined)
		return true;
	for (uint32_t i = 0; i < first->key.held_count; i++)
		for (uint32_t j = 0; j < second->key.held_count; j++)
			if (first->held[i].object == second->held[j].object &&
				!(first->held[i].is_shared && second->held[j].is_shared))
				return true;
	return false;
}

static bool lock_order_cycles_may_overlap(const struct request *first, const struct request *second)
{
	for (uint32_t i = 0; i < first->epoch_count; i++)
		for (uint32_t j = 0; j < second->epoch_count; j++)
			if (epochs_overlap(first->epochs[i].epoch, second->epochs[j].epoch))
				return true;
	return false;
}

static bool lock_order_cycles_fits(
	const struct search *search, uint32_t location, const struct request *request)
{
	if (location && search->chosen[location - 1]->key.joined &&
		search->chosen[location - 1]->key.joined != request->key.thread)
		return false;
	if (location + 1 == search->length && request->key.joined &&
		request->key.joined != search->chosen[0]->key.thread)
		return false;
	for (uint32_t i = 0; i < location; i++)
		if (search->chosen[i]->key.thread == request->key.thread ||
			!lock_order_cycles_may_overlap(search->chosen[i], request))
			return false;
	return true;
}

static bool lock_order_cycles_choose_threads(struct search *search, uint32_t location)
{
	const struct lock_order *graph = search->graph;

	if (location == search->length)
		return true;
	for (uint32_t i = graph->kinds[search->path[location]]->first; i != UINT32_MAX;
		i = graph->requests[i]->kind_next) {
		if (search->assignment_steps++ > ASSIGNMENT_STEPS_MAX)
			return false;
		if (!lock_order_cycles_fits(search, location, graph->requests[i]))
			continue;
		search->chosen[location] = graph->requests[i];
		if (lock_order_cycles_choose_threads(search, location + 1))
			return true;
	}
	return false;
}

/* Returns the request's epoch in this run, else in another run. */
static const struct request_epoch *lock_order_cycles_request_epoch_in(
	const struct request *request, uint32_t run)
{
	for (uint32_t i = 0; i < request->epoch_count; i++)
		if (request->epochs[i].run == run)
			return &request->epochs[i];
	return &request->epochs[0];
}

static void lock_order_cycles_add_candidate(struct search *search)
{
	struct candidate candidate = {
		.kind = CANDIDATE_LOCK_CYCLE, .location_count = search->length};

	for (uint32_t i = 0; i < search->length; i++) {
		const struct request *request = search->chosen[i];
		const struct request *before =
			search->chosen[(i + search->length - 1) % search->length];
		const struct request_epoch *instance = lock_order_cycles_request_epoch_in(
			request, search->chosen[0]->epochs[0].run);
		const int held =
			before->key.joined ? -1 : lock_order_cycles_find_held(before, request);

		candidate.locations[i] = (struct candidate_location){
			.thread = request->key.thread, .run = instance->run, .op = instance->op};
		if (held >= 0)
			candidate.locations[i].taken = instance->taken[held];
	}
	candidate.key = candidate_key(&candidate);
	candidates_add(search->out, &candidate);
}

static void lock_order_cycles_check_cycle(struct search *search)
{
	if (!lock_order_cycles_waits_for(
		    lock_order_cycles_request_of(search, search->path[search->length - 1]),
		    lock_order_cycles_request_of(search, search->path[0])))
		return;
	search->assignment_steps = 0;
	if (!lock_order_cycles_choose_threads(search, 0))
		return;
	search->circles++;
	lock_order_cycles_add_candidate(search);
}

static bool lock_order_cycles_is_given_up(const struct search *search)
{
	return search->steps > SEARCH_STEPS_MAX || search->circles > CIRCLES_MAX ||
	       candidates_are_enough(search->out);
}

static bool lock_order_cycles_may_follow(const struct search *search, uint32_t depth, uint32_t kind)
{
	/* A cycle is searched only from its lowest kind. */
	if (kind <= search->path[0])
		return false;
	for (uint32_t i = 0; i < depth; i++)
		if (search->path[i] == kind ||
			lock_order_cycles_excludes(
				lock_order_cycles_request_of(search, search->path[i]),
				lock_order_cycles_request_of(search, kind)))
			return false;
	return true;
}

static void lock_order_cycles_extend(struct search *search, uint32_t depth)
{
	const struct request *last = lock_order_cycles_request_of(search, search->path[depth - 1]);
	const struct holders *holders;

	search->steps++;
	if (depth == search->length) {
		search->has_reached_length = true;
		lock_order_cycles_check_cycle(search);
		return;
	}
	holders = lock_order_cycles_holders_of(search, last);
	for (uint32_t i = 0;
		holders && i < holders->count && !lock_order_cycles_is_given_up(search); i++) {
		if (!lock_order_cycles_waits_for(
			    last, lock_order_cycles_request_of(search, holders->kinds[i])) ||
			!lock_order_cycles_may_follow(search, depth, holders->kinds[i]))
			continue;
		search->path[depth] = holders->kinds[i];
		lock_order_cycles_extend(search, depth + 1);
	}
}

void lock_order_find_cycles(const struct lock_order *graph, struct candidates *out)
{
	struct search search = {.graph = graph, .out = out, .has_reached_length = true};

	lock_order_cycles_index_holders(&search);
	for (search.length = 2;
		search.length <= CANDIDATE_LOCATIONS_MAX && search.has_reached_length &&
		!lock_order_cycles_is_given_up(&search);
		search.length++) {
		search.has_reached_length = false;
		for (uint32_t kind = 0;
			kind < graph->kind_count && !lock_order_cycles_is_given_up(&search);
			kind++) {
			search.path[0] = kind;
			lock_order_cycles_extend(&search, 1);
		}
	}
	out->is_cut |= lock_order_cycles_is_given_up(&search);
	lock_order_cycles_forget_holders(&search);
}
