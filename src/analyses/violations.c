#include "analyses/violations.h"

#include <string.h>

#include "base/strbuf.h"
#include "model/pattern.h"

#define CANDIDATES_MOST 5000

struct search {
	const struct violations_query *query;
	struct candidates *out;
	const struct party_set *set;
	const struct party *parties[2];
};

/* A wrong order of accesses: the party of each access, and which of two locations it uses. */
struct shape {
	enum pattern_kind kind;
	uint8_t parties[PATTERN_ACCESSES_MAX];
	uint8_t variables[PATTERN_ACCESSES_MAX];
};

typedef const struct party_access *const accesses_in_order[PATTERN_ACCESSES_MAX];

static const uint8_t single[PATTERN_ACCESSES_MAX] = {0, 1, 0};
static const uint8_t enclosing[PATTERN_ACCESSES_MAX] = {0, 1, 1, 0};
static const uint8_t crossing[PATTERN_ACCESSES_MAX] = {0, 1, 0, 1};

static uint32_t violations_access_count(const struct shape *shape)
{
	return shape->kind < PATTERN_WxWxWyWy ? 3 : 4;
}

static bool violations_is_kept_out(const struct party_access *from, const struct party_access *to,
	const struct party_access *between)
{
	for (uint32_t i = 0; i < from->lock_count; i++) {
		const struct party_lock *lock = &from->locks[i];
		const struct party_lock *later = party_lock_at(to, lock->address);
		const struct party_lock *other = party_lock_at(between, lock->address);

		if (later && later->taken == lock->taken && other &&
			!(lock->is_shared && other->is_shared))
			return true;
	}
	return false;
}

/* Returns whether `first` may precede `second`. If the runs differ, the test is only whether the
 * epochs can overlap. */
static bool violations_can_precede(const struct search *search, const struct party_access *first,
	const struct party_access *second)
{
	if (search->parties[0]->run == search->parties[1]->run)
		return !epoch_is_before(second->epoch, first->epoch);
	return epochs_overlap(first->epoch, second->epoch);
}

/* Returns whether the order is feasible: no access precedes one that happens before it, and no lock
 * excludes the order. */
static bool violations_is_possible(
	const struct search *search, accesses_in_order order, const struct shape *shape)
{
	const uint32_t count = violations_access_count(shape);

	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			if (shape->parties[i] != shape->parties[j] &&
				!violations_can_precede(search, order[i], order[j]))
				return false;
	for (uint32_t from = 0; from < count; from++)
		for (uint32_t to = from + 2; to < count; to++)
			for (uint32_t at = from + 1; at < to; at++)
				if (shape->parties[from] == shape->parties[to] &&
					shape->parties[at] != shape->parties[to] &&
					violations_is_kept_out(order[from], order[to], order[at]))
					return false;
	return true;
}

/* Adjacent accesses of one party may be one wide access, hence the same event. */
static bool violations_is_shown(accesses_in_order order, const struct shape *shape)
{
	for (uint32_t i = 1; i < violations_access_count(shape); i++) {
		const bool is_same = shape->parties[i - 1] == shape->parties[i];

		if (order[i - 1]->index + !is_same > order[i]->index)
			return false;
	}
	return true;
}

static bool violations_is_contended(accesses_in_order order, const struct shape *shape,
	const struct party_lock *lock, uint8_t party)
{
	for (uint32_t i = 0; i < violations_access_count(shape); i++)
		if (shape->parties[i] != party && party_lock_at(order[i], lock->address))
			return true;
	return false;
}

/* Fills the gate of an access: the first lock that the thread acquires for it and that the other
 * party needs, too. A directed run stops the thread before this lock instead of before the
 * access. */
static void violations_fill_gate(accesses_in_order order, const struct shape *shape, uint32_t at,
	struct candidate_location *location)
{
	const struct party_access *access = order[at];
	const struct party_lock *first = NULL;
	uint32_t after = 0;

	for (uint32_t i = 0; i < at; i++)
		if (shape->parties[i] == shape->parties[at])
			after = order[i]->index;
	for (uint32_t i = 0; i < access->lock_count; i++) {
		const struct party_lock *lock = &access->locks[i];

		if (lock->taken >= after && (!first || lock->taken < first->taken) &&
			violations_is_contended(order, shape, lock, shape->parties[at]))
			first = lock;
	}
	if (!first)
		return;
	location->taken = first->event;
	location->taken_context = first->context;
}

/* Returns whether a lock is held at every access, but released between those of one unit: whether
 * the vulnerable-window lockset is not empty. */
static bool violations_has_window(accesses_in_order order, const struct shape *shape)
{
	for (uint32_t i = 0; i < order[0]->lock_count; i++) {
		const struct party_lock *lock = &order[0]->locks[i];
		bool is_common = true, is_kept = true;

		for (uint32_t at = 1; at < violations_access_count(shape) && is_common; at++) {
			const struct party_lock *other = party_lock_at(order[at], lock->address);

			is_common = other;
			is_kept &= shape->parties[at] || !other || other->taken == lock->taken;
		}
		if (is_common && !is_kept)
			return true;
	}
	return false;
}

static uint64_t violations_key_of(accesses_in_order order, const struct shape *shape)
{
	struct candidate candidate = {.kind = CANDIDATE_VIOLATION,
		.location_count = violations_access_count(shape),
		.pattern = (uint8_t)shape->kind};

	for (uint32_t i = 0; i < candidate.location_count; i++) {
		candidate.locations[i].op.site = order[i]->event.site;
		candidate.locations[i].context = order[i]->context;
	}
	return candidate_scenario_key(&candidate);
}

static void violations_add_candidate(
	struct search *search, accesses_in_order order, const struct shape *shape, uint64_t key)
{
	struct candidate candidate = {.kind = CANDIDATE_VIOLATION,
		.location_count = violations_access_count(shape),
		.key = key,
		.pattern = (uint8_t)shape->kind,
		.has_window = violations_has_window(order, shape),
		.set = string_copy(atomic_sets_kind(search->query->sets, search->set->kind)->name),
		.units = {string_copy(search->parties[0]->function),
			string_copy(search->parties[1]->function)}};

	for (uint32_t i = 0; i < candidate.location_count; i++) {
		const struct party *party = search->parties[shape->parties[i]];

		candidate.locations[i] = (struct candidate_location){
			.thread = party->name,
			.run = party->run,
			.op = order[i]->event,
			.context = order[i]->context,
			.party = shape->parties[i],
			.variable = shape->variables[i],
		};
		/* Only the relevant part of a wide access counts. */
		candidate.locations[i].op.address = order[i]->location;
		violations_fill_gate(order, shape, i, &candidate.locations[i]);
	}
	candidates_add(search->out, &candidate);
}

static void violations_consider(
	struct search *search, accesses_in_order order, const struct shape *shape)
{
	const bool is_it = search->query->mode == VIOLATIONS_SHOWN
				   ? violations_is_shown(order, shape)
				   : violations_is_possible(search, order, shape);
	uint64_t key;

	if (!is_it)
		return;
	key = violations_key_of(order, shape);
	if (search->query->only_key && search->query->only_key != key)
		return;
	if (search->out->count >= CANDIDATES_MOST)
		search->out->is_cut = true;
	else
		violations_add_candidate(search, order, shape, key);
}

static struct shape violations_shape_of(
	enum pattern_kind kind, const uint8_t *parties, bool has_two)
{
	struct shape shape = {.kind = kind};

	for (unsigned i = 0; i < PATTERN_ACCESSES_MAX; i++) {
		shape.parties[i] = parties[i];
		shape.variables[i] = has_two && pattern_descriptions[kind].variables[i] == 'y';
	}
	return shape;
}

/* Finds rows 1 to 5: one location, with an access of the other unit between two accesses. */
static void violations_consider_single(
	struct search *search, const struct party_access *a, const struct party_access *b)
{
	static const enum pattern_kind kinds[2][2] = {
		{PATTERN_RWR, PATTERN_RWW}, {PATTERN_WWR, PATTERN_WWW}};
	const struct party *other = search->parties[1];

	for (uint32_t k = 0; k < other->count; k++) {
		const struct party_access *between = &other->accesses[k];
		accesses_in_order order = {a, between, b};
		struct shape shape;

		if (between->location != a->location ||
			(!between->is_write && !(a->is_write && b->is_write)))
			continue;
		shape = violations_shape_of(
			between->is_write ? kinds[a->is_write][b->is_write] : PATTERN_WRW, single,
			false);
		violations_consider(search, order, &shape);
	}
}

/* Finds rows 6, 8 and 9: both locations accessed in between. The kind depends on the thread that
 * accesses x first. */
static void violations_consider_enclosing(struct search *search, const struct party_access *a,
	const struct party_access *b, const struct party_access *k, const struct party_access *l)
{
	const bool is_x_first = k->location == a->location;
	accesses_in_order order = {a, k, l, b};
	struct shape shape;
	enum pattern_kind kind;

	if (!a->is_write)
		kind = is_x_first ? PATTERN_RxWxWyRy : PATTERN_RxWyWxRy;
	else if (k->is_write)
		kind = is_x_first ? PATTERN_WxWxWyWy : PATTERN_WxWyWxWy;
	else
		kind = is_x_first ? PATTERN_WxRxRyWy : PATTERN_WxRyRxWy;
	shape = violations_shape_of(kind, enclosing, true);
	violations_consider(search, order, &shape);
}

/* Finds rows 7, 10 and 11: each unit accesses between the other's accesses. */
static void violations_consider_crossing(struct search *search, const struct party_access *a,
	const struct party_access *b, const struct party_access *k, const struct party_access *l)
{
	accesses_in_order order = {a, k, b, l};
	enum pattern_kind kind = PATTERN_WxWyWyWx;
	struct shape shape;

	if (l->location != a->location)
		return;
	if (!a->is_write)
		kind = PATTERN_RxWyRyWx;
	else if (!k->is_write)
		kind = PATTERN_WxRyWyRx;
	shape = violations_shape_of(kind, crossing, true);
	violations_consider(search, order, &shape);
}

static void violations_consider_double(
	struct search *search, const struct party_access *a, const struct party_access *b)
{
	const struct party *other = search->parties[1];

	if (a->is_write != b->is_write)
		return;
	for (uint32_t i = 0; i < other->count; i++) {
		const struct party_access *k = &other->accesses[i];

		if ((k->location != a->location && k->location != b->location) ||
			(!a->is_write && !k->is_write))
			continue;
		for (uint32_t j = i + 1; j < other->count; j++) {
			const struct party_access *l = &other->accesses[j];

			if (l->location == k->location || l->is_write != k->is_write ||
				(l->location != a->location && l->location != b->location))
				continue;
			violations_consider_enclosing(search, a, b, k, l);
			violations_consider_crossing(search, a, b, k, l);
		}
	}
}

static void violations_consider_parties(struct search *search)
{
	const struct party *own = search->parties[0];

	for (uint32_t i = 0; i < own->count && !candidates_are_enough(search->out); i++)
		for (uint32_t j = i + 1; j < own->count; j++) {
			if (own->accesses[i].location == own->accesses[j].location)
				violations_consider_single(
					search, &own->accesses[i], &own->accesses[j]);
			else
				violations_consider_double(
					search, &own->accesses[i], &own->accesses[j]);
		}
}

static bool violations_can_interfere(const struct search *search)
{
	const struct party *own = search->parties[0], *other = search->parties[1];

	if (own->name == other->name || own->count < 2)
		return false;
	return search->query->mode == VIOLATIONS_POSSIBLE ||
	       (own->accesses[0].index < other->accesses[other->count - 1].index &&
		       other->accesses[0].index < own->accesses[own->count - 1].index);
}

void violations_find(const struct violations_query *query, struct candidates *out)
{
	struct search search = {.query = query, .out = out};

	out->is_cut |= query->pool->is_cut;
	for (uint32_t i = 0; i < query->pool->count; i++) {
		search.set = &query->pool->sets[i];
		for (uint32_t a = 0; a < search.set->count; a++)
			for (uint32_t b = 0; b < search.set->count; b++) {
				search.parties[0] = &search.set->parties[a];
				search.parties[1] = &search.set->parties[b];
				if (candidates_are_enough(out))
					break;
				if (violations_can_interfere(&search))
					violations_consider_parties(&search);
			}
	}
	out->is_cut |= candidates_are_enough(out);
}
