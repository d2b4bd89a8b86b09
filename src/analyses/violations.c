#include "analyses/violations.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "model/pattern.h"

/* Of a unit, in search of what is possible: more are rarely of other code. */
#define ACCESSES_OF_UNIT 48
/* Units of one thread and function that make the same accesses. */
#define UNITS_ALIKE 3
#define UNITS_OF_INSTANCE 256
#define CANDIDATES_MOST 5000

/* A unit with those of its accesses that are looked at. */
struct party {
	const struct unit *unit;
	uint32_t *accesses; /* indices in the trace's accesses */
	uint32_t count;
	uint64_t signature;
};

struct search {
	const struct violations_query *query;
	struct candidates *out;
	struct party *parties; /* of the instance */
	uint32_t party_count;
	const struct unit_instance *instance;
};

/* An order of accesses that is wrong: whose they are, and to which of two places. */
struct shape {
	enum pattern_kind kind;
	uint8_t parties[PATTERN_ACCESSES_MAX];
	uint8_t variables[PATTERN_ACCESSES_MAX];
};

static const uint8_t single[PATTERN_ACCESSES_MAX] = {0, 1, 0};
static const uint8_t enclosing[PATTERN_ACCESSES_MAX] = {0, 1, 1, 0};
static const uint8_t crossing[PATTERN_ACCESSES_MAX] = {0, 1, 0, 1};

/* ---- can it be so? ---- */

static const struct unit_access *access_at(const struct search *search, uint32_t index)
{
	return &search->query->trace->accesses[index];
}

/* Is a lock that is held all the way from one access of a unit to another in the way of a third? */
static bool is_kept_out(const struct search *search, const struct unit_access *from,
	const struct unit_access *to, const struct unit_access *between)
{
	const struct unit_trace *trace = search->query->trace;
	const struct lockset *held = &trace->locksets[from->lockset];

	for (uint32_t i = 0; i < held->count; i++) {
		const struct unit_lock *lock = &trace->locks[held->first + i];
		const struct unit_lock *later = unit_trace_lock(trace, to->lockset, lock->address);
		const struct unit_lock *other =
			unit_trace_lock(trace, between->lockset, lock->address);

		if (later && later->taken == lock->taken && other &&
			!(lock->is_shared && other->is_shared))
			return true;
	}
	return false;
}

/* No access must come before an earlier one, and none is made while its locks are kept. */
static bool is_possible(
	const struct search *search, const uint32_t *order, const uint8_t *parties, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++)
			if (parties[i] != parties[j] &&
				epoch_is_before(access_at(search, order[j])->epoch,
					access_at(search, order[i])->epoch))
				return false;
	for (uint32_t from = 0; from < count; from++)
		for (uint32_t to = from + 2; to < count; to++)
			for (uint32_t at = from + 1; at < to; at++)
				if (parties[from] == parties[to] && parties[at] != parties[to] &&
					is_kept_out(search, access_at(search, order[from]),
						access_at(search, order[to]),
						access_at(search, order[at])))
					return false;
	return true;
}

static bool is_shown(const struct search *search, const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (access_at(search, order[i - 1])->event >= access_at(search, order[i])->event)
			return false;
	return true;
}

/* ---- candidates ---- */

/* Is the lock held at an access of the other party? */
static bool is_contended(const struct search *search, const uint32_t *order,
	const struct shape *shape, uint32_t count, const struct unit_lock *lock, uint8_t party)
{
	for (uint32_t i = 0; i < count; i++)
		if (shape->parties[i] != party &&
			unit_trace_lock(search->query->trace, access_at(search, order[i])->lockset,
				lock->address))
			return true;
	return false;
}

/*
 * The lock before which a thread is to be stopped instead of before the access: the first one that it
 * takes for it, after its access before, and that the other party needs, too.
 */
static void fill_gate(const struct search *search, const uint32_t *order, const struct shape *shape,
	uint32_t count, uint32_t at, struct candidate_place *place)
{
	const struct unit_trace *trace = search->query->trace;
	const struct lockset *held = &trace->locksets[access_at(search, order[at])->lockset];
	uint32_t after = 0, first = UINT32_MAX;

	for (uint32_t i = 0; i < at; i++)
		if (shape->parties[i] == shape->parties[at])
			after = access_at(search, order[i])->event;
	for (uint32_t i = 0; i < held->count; i++) {
		const struct unit_lock *lock = &trace->locks[held->first + i];

		if (lock->taken >= after && lock->taken < first &&
			is_contended(search, order, shape, count, lock, shape->parties[at]))
			first = lock->taken;
	}
	if (first == UINT32_MAX)
		return;
	place->taken = trace->events[first];
	place->taken_context = trace->contexts[first];
}

/* The vulnerable-window lockset: held at every access, and given back between those of one unit. */
static bool has_window(const struct search *search, const uint32_t *order,
	const struct shape *shape, uint32_t count)
{
	const struct unit_trace *trace = search->query->trace;
	const struct lockset *held = &trace->locksets[access_at(search, order[0])->lockset];

	for (uint32_t i = 0; i < held->count; i++) {
		const struct unit_lock *lock = &trace->locks[held->first + i];
		bool is_common = true, is_kept = true;

		for (uint32_t at = 1; at < count && is_common; at++) {
			const struct unit_lock *other = unit_trace_lock(
				trace, access_at(search, order[at])->lockset, lock->address);

			is_common = other;
			is_kept &= shape->parties[at] || !other || other->taken == lock->taken;
		}
		if (is_common && !is_kept)
			return true;
	}
	return false;
}

static char *copy_name(const char *name)
{
	char *copy = name ? strdup(name) : NULL;

	BUG_ON(name && !copy);
	return copy;
}

static uint64_t key_of(const struct search *search, const uint32_t *order,
	const struct shape *shape, uint32_t count)
{
	const struct unit_trace *trace = search->query->trace;
	struct candidate candidate = {
		.kind = CANDIDATE_VIOLATION, .place_count = count, .pattern = (uint8_t)shape->kind};

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t event = access_at(search, order[i])->event;

		candidate.places[i].op.site = trace->events[event].site;
		candidate.places[i].context = trace->contexts[event];
	}
	return candidate_scenario_key(&candidate);
}

static void add_candidate(struct search *search, const uint32_t *order, const struct shape *shape,
	uint32_t count, uint64_t key)
{
	const struct unit_trace *trace = search->query->trace;
	struct candidate candidate = {.kind = CANDIDATE_VIOLATION,
		.place_count = count,
		.key = key,
		.pattern = (uint8_t)shape->kind,
		.has_window = has_window(search, order, shape, count),
		.set = copy_name(
			atomic_sets_kind(search->query->sets, search->instance->kind)->name)};

	for (uint32_t i = 0; i < count; i++) {
		const struct unit_access *access = access_at(search, order[i]);
		const struct unit *unit = &trace->units[access->unit];
		const uint8_t party = shape->parties[i];

		candidate.places[i] = (struct candidate_place){
			.thread = thread_order_name(trace->order, unit->thread),
			.run = search->query->run,
			.op = trace->events[access->event],
			.context = trace->contexts[access->event],
			.party = party,
			.variable = shape->variables[i],
		};
		/* A wide access is to the part that matters here. */
		candidate.places[i].op.address = access->location;
		fill_gate(search, order, shape, count, i, &candidate.places[i]);
		if (!candidate.units[party] && unit->routine)
			candidate.units[party] = copy_name(unit->routine->routine.name);
	}
	candidates_add(search->out, &candidate);
}

static void consider(struct search *search, const uint32_t *order, const struct shape *shape)
{
	const uint32_t count = shape->kind < PATTERN_WxWxWyWy ? 3 : 4;
	uint64_t key;

	if (search->query->mode == VIOLATIONS_SHOWN
			? !is_shown(search, order, count)
			: !is_possible(search, order, shape->parties, count))
		return;
	key = key_of(search, order, shape, count);
	if (search->query->only_key && search->query->only_key != key)
		return;
	if (search->out->count >= CANDIDATES_MOST) {
		search->out->is_cut = true;
		return;
	}
	add_candidate(search, order, shape, count, key);
}

/* ---- rows of the table ---- */

static struct shape shape_of(enum pattern_kind kind, const uint8_t *parties, bool has_two)
{
	struct shape shape = {.kind = kind};

	for (unsigned i = 0; i < PATTERN_ACCESSES_MAX; i++) {
		shape.parties[i] = parties[i];
		shape.variables[i] = has_two ? pattern_descriptions[kind].variables[i] == 'y' : 0;
	}
	return shape;
}

/* Rows 1 to 5: one place, an access of the other unit between two. */
static void consider_single(
	struct search *search, uint32_t first, uint32_t last, const struct party *other)
{
	static const enum pattern_kind kinds[2][2] = {
		{PATTERN_RWR, PATTERN_RWW}, {PATTERN_WWR, PATTERN_WWW}};
	const struct unit_access *a = access_at(search, first), *b = access_at(search, last);

	for (uint32_t k = 0; k < other->count; k++) {
		const struct unit_access *between = access_at(search, other->accesses[k]);
		const uint32_t order[] = {first, other->accesses[k], last};
		struct shape shape;

		if (between->location != a->location ||
			(!between->is_write && !(a->is_write && b->is_write)))
			continue;
		shape = shape_of(between->is_write ? kinds[a->is_write][b->is_write] : PATTERN_WRW,
			single, false);
		consider(search, order, &shape);
	}
}

/* Rows 6, 8 and 9: both places touched between; the kinds are by who comes first to x. */
static void consider_enclosing(
	struct search *search, uint32_t first, uint32_t last, uint32_t k, uint32_t l)
{
	const struct unit_access *a = access_at(search, first), *b = access_at(search, k);
	const bool is_x_first = b->location == a->location;
	const uint32_t order[] = {first, k, l, last};
	struct shape shape;
	enum pattern_kind kind;

	if (!a->is_write)
		kind = is_x_first ? PATTERN_RxWxWyRy : PATTERN_RxWyWxRy;
	else if (b->is_write)
		kind = is_x_first ? PATTERN_WxWxWyWy : PATTERN_WxWyWxWy;
	else
		kind = is_x_first ? PATTERN_WxRxRyWy : PATTERN_WxRyRxWy;
	shape = shape_of(kind, enclosing, true);
	consider(search, order, &shape);
}

/* Rows 7, 10 and 11: each unit is between the other's accesses. */
static void consider_crossing(
	struct search *search, uint32_t first, uint32_t last, uint32_t k, uint32_t l)
{
	const struct unit_access *a = access_at(search, first), *b = access_at(search, k);
	const uint32_t order[] = {first, k, last, l};
	enum pattern_kind kind = PATTERN_WxWyWyWx;
	struct shape shape;

	if (access_at(search, l)->location != a->location)
		return;
	if (!a->is_write)
		kind = PATTERN_RxWyRyWx;
	else if (!b->is_write)
		kind = PATTERN_WxRyWyRx;
	shape = shape_of(kind, crossing, true);
	consider(search, order, &shape);
}

static void consider_double(
	struct search *search, uint32_t first, uint32_t last, const struct party *other)
{
	const struct unit_access *a = access_at(search, first), *b = access_at(search, last);

	if (a->is_write != b->is_write)
		return;
	for (uint32_t k = 0; k < other->count; k++) {
		const struct unit_access *c = access_at(search, other->accesses[k]);

		if (c->location != a->location && c->location != b->location)
			continue;
		for (uint32_t l = k + 1; l < other->count; l++) {
			const struct unit_access *d = access_at(search, other->accesses[l]);

			if (d->location == c->location || d->is_write != c->is_write ||
				(d->location != a->location && d->location != b->location) ||
				(!a->is_write && !c->is_write))
				continue;
			consider_enclosing(
				search, first, last, other->accesses[k], other->accesses[l]);
			consider_crossing(
				search, first, last, other->accesses[k], other->accesses[l]);
		}
	}
}

static void consider_parties(
	struct search *search, const struct party *own, const struct party *other)
{
	for (uint32_t i = 0; i < own->count; i++) {
		for (uint32_t j = i + 1; j < own->count; j++) {
			const struct unit_access *a = access_at(search, own->accesses[i]);
			const struct unit_access *b = access_at(search, own->accesses[j]);

			if (a->location == b->location)
				consider_single(search, own->accesses[i], own->accesses[j], other);
			else
				consider_double(search, own->accesses[i], own->accesses[j], other);
		}
	}
}

/* ---- units that are looked at ---- */

static uint64_t access_code(const struct search *search, const struct unit_access *access)
{
	const struct unit_trace *trace = search->query->trace;
	const struct lockset *held = &trace->locksets[access->lockset];
	uint64_t code = hash_pair(
		hash_pair(trace->events[access->event].site, trace->contexts[access->event]),
		hash_pair(access->location, access->is_write));

	for (uint32_t i = 0; i < held->count; i++)
		code = hash_pair(code, trace->locks[held->first + i].address);
	return code;
}

/* A place that two threads touch, one of them writing. */
struct shared_place {
	uint64_t location;
	uint32_t thread;
	bool is_shared, is_written;
};

struct shared_places {
	struct shared_place *slots;
	uint32_t mask;
};

static struct shared_place *find_place(const struct shared_places *places, uint64_t location)
{
	uint32_t slot = (uint32_t)hash_mix(location) & places->mask;

	while (places->slots[slot].location && places->slots[slot].location != location)
		slot = (slot + 1) & places->mask;
	return &places->slots[slot];
}

static struct shared_places find_shared(const struct search *search)
{
	const struct unit_trace *trace = search->query->trace;
	struct shared_places places = {.mask = 63};
	uint32_t total = 0;

	for (uint32_t i = 0; i < search->instance->unit_count; i++)
		total += trace->units[search->instance->units[i]].count;
	while (places.mask < 2 * total)
		places.mask = 2 * places.mask + 1;
	places.slots = calloc(places.mask + 1u, sizeof *places.slots);
	BUG_ON(!places.slots);
	for (uint32_t i = 0; i < search->instance->unit_count; i++) {
		const struct unit *unit = &trace->units[search->instance->units[i]];

		for (uint32_t at = 0; at < unit->count; at++) {
			const struct unit_access *access = unit_trace_access(trace, unit, at);
			struct shared_place *place = find_place(&places, access->location);

			if (!place->location)
				*place = (struct shared_place){
					.location = access->location, .thread = unit->thread};
			place->is_shared |= place->thread != unit->thread;
			place->is_written |= access->is_write;
		}
	}
	return places;
}

/* Has the party this access already, twice? Then the newest takes the place of the second. */
static bool replaces(const struct search *search, struct party *party, uint32_t index)
{
	const uint64_t code = access_code(search, access_at(search, index));
	uint32_t seen = 0;

	for (uint32_t i = 0; i < party->count; i++) {
		if (access_code(search, access_at(search, party->accesses[i])) != code ||
			++seen < 2)
			continue;
		for (; i + 1 < party->count; i++)
			party->accesses[i] = party->accesses[i + 1];
		party->accesses[i] = index;
		return true;
	}
	return false;
}

static void fill_party(const struct search *search, const struct shared_places *places,
	const struct unit *unit, struct party *party)
{
	const bool is_reduced = search->query->mode == VIOLATIONS_POSSIBLE;
	const uint32_t most =
		is_reduced && unit->count > ACCESSES_OF_UNIT ? ACCESSES_OF_UNIT : unit->count;

	*party = (struct party){.unit = unit};
	party->accesses = calloc(most + 1u, sizeof *party->accesses);
	BUG_ON(!party->accesses);
	party->signature =
		hash_pair(unit->thread, unit->routine ? hash_bytes(unit->routine->routine.name,
								strlen(unit->routine->routine.name))
						      : 0);
	for (uint32_t at = 0; at < unit->count && party->count < most; at++) {
		const uint32_t index = search->query->trace->unit_accesses[unit->first + at];
		const struct shared_place *place =
			find_place(places, access_at(search, index)->location);

		if (!place->is_shared || !place->is_written ||
			(is_reduced && replaces(search, party, index)))
			continue;
		party->accesses[party->count++] = index;
	}
	for (uint32_t i = 0; i < party->count; i++)
		party->signature = hash_pair(party->signature,
			access_code(search, access_at(search, party->accesses[i])));
}

static bool is_wanted(const struct search *search, const struct party *party)
{
	uint32_t alike = 0;

	if (!party->count)
		return false;
	if (search->query->mode == VIOLATIONS_SHOWN)
		return true;
	for (uint32_t i = 0; i < search->party_count; i++)
		alike += search->parties[i].signature == party->signature;
	return alike < UNITS_ALIKE && search->party_count < UNITS_OF_INSTANCE;
}

static void fill_parties(struct search *search)
{
	const struct unit_trace *trace = search->query->trace;
	struct shared_places places = find_shared(search);

	search->parties = calloc(search->instance->unit_count + 1u, sizeof *search->parties);
	BUG_ON(!search->parties);
	search->party_count = 0;
	for (uint32_t i = 0; i < search->instance->unit_count; i++) {
		struct party *party = &search->parties[search->party_count];

		fill_party(search, &places, &trace->units[search->instance->units[i]], party);
		if (is_wanted(search, party))
			search->party_count++;
		else
			free(party->accesses);
	}
	free(places.slots);
}

/* In this run the one must have been at work when the other was. */
static bool can_interfere(
	const struct search *search, const struct party *own, const struct party *other)
{
	if (own->unit->thread == other->unit->thread || own->count < 2)
		return false;
	return search->query->mode == VIOLATIONS_POSSIBLE ||
	       (own->unit->begins < other->unit->ends && other->unit->begins < own->unit->ends);
}

void violations_find(const struct violations_query *query, struct candidates *out)
{
	struct search search = {.query = query, .out = out};

	for (uint32_t i = 0; i < query->trace->instance_count; i++) {
		search.instance = &query->trace->instances[i];
		if (search.instance->kind == UNIT_NO_SET)
			continue;
		fill_parties(&search);
		for (uint32_t a = 0; a < search.party_count; a++)
			for (uint32_t b = 0; b < search.party_count; b++)
				if (can_interfere(&search, &search.parties[a], &search.parties[b]))
					consider_parties(
						&search, &search.parties[a], &search.parties[b]);
		for (uint32_t a = 0; a < search.party_count; a++)
			free(search.parties[a].accesses);
		free(search.parties);
	}
}
