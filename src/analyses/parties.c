#include "analyses/parties.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/slots.h"

/* Limit on accesses per unit. Further accesses are rarely made by other code. */
#define ACCESSES_OF_PARTY 48
#define LOCKS_OF_ACCESS 8
/* Limits: equal units of one thread and function over all runs; parties of a set. */
#define PARTIES_EQUAL_MOST 3
#define PARTIES_OF_SET 256

void party_pool_release(struct party_pool *pool)
{
	for (uint32_t i = 0; i < pool->count; i++) {
		for (uint32_t at = 0; at < pool->sets[i].count; at++) {
			free(pool->sets[i].parties[at].accesses);
			free(pool->sets[i].parties[at].locks);
		}
		free(pool->sets[i].parties);
	}
	free(pool->sets);
	*pool = (struct party_pool){0};
}

const struct party_lock *party_lock_at(const struct party_access *access, uint64_t address)
{
	for (uint32_t i = 0; i < access->lock_count; i++)
		if (access->locks[i].address == address)
			return &access->locks[i];
	return NULL;
}

struct shared_location {
	uint64_t location; /* key of slots.h */
	uint32_t thread;
	bool is_shared, is_written;
};

static void parties_note_unit(
	struct slots *locations, const struct unit_trace *trace, const struct unit *unit)
{
	for (uint32_t at = 0; at < unit->count; at++) {
		const struct unit_access *access = unit_trace_access(trace, unit, at);
		struct shared_location *location =
			slots_get(locations, sizeof *location, access->location);

		if (!location) {
			location = slots_add(locations, sizeof *location, access->location);
			location->thread = unit->thread;
		}
		location->is_shared |= location->thread != unit->thread;
		location->is_written |= access->is_write;
	}
}

static struct slots parties_find_shared(
	const struct unit_trace *trace, const struct unit_instance *instance)
{
	struct slots locations = {0};

	for (uint32_t i = 0; i < instance->unit_count; i++)
		parties_note_unit(&locations, trace, &trace->units[instance->units[i]]);
	return locations;
}

struct making {
	const struct unit_trace *trace;
	const struct unit *unit;
	const struct slots *locations; /* struct shared_location */
	uint32_t *kept;		       /* indices of accesses */
	uint32_t count, most;
	bool is_whole;
};

static uint64_t parties_access_code(
	const struct unit_trace *trace, const struct unit_access *access)
{
	const struct lockset *held = &trace->locksets[access->lockset];
	uint64_t code = hash_pair(
		hash_pair(trace->events[access->event].site, trace->contexts[access->event]),
		hash_pair(access->location, access->is_write));

	for (uint32_t i = 0; i < held->count; i++)
		code = hash_pair(code, trace->locks[held->first + i].address);
	return code;
}

/* If the unit already has two equal accesses, replaces the second by this one. Returns whether it
 * did. */
static bool parties_replaces(struct making *making, uint32_t index)
{
	const uint64_t code = parties_access_code(making->trace, &making->trace->accesses[index]);
	uint32_t seen = 0;

	for (uint32_t i = 0; i < making->count; i++) {
		const struct unit_access *kept = &making->trace->accesses[making->kept[i]];

		if (parties_access_code(making->trace, kept) != code || ++seen < 2)
			continue;
		for (; i + 1 < making->count; i++)
			making->kept[i] = making->kept[i + 1];
		making->kept[i] = index;
		return true;
	}
	return false;
}

/* Collects the accesses to shared locations of all runs: a thread may read in one run what it writes
 * in another. */
static void parties_choose_accesses(struct making *making)
{
	const struct unit_trace *trace = making->trace;

	for (uint32_t at = 0; at < making->unit->count && making->count < making->most; at++) {
		const uint32_t index = trace->unit_accesses[making->unit->first + at];
		const struct shared_location *location = slots_get(making->locations,
			sizeof(struct shared_location), trace->accesses[index].location);

		if ((making->is_whole && !(location->is_shared && location->is_written)) ||
			(!making->is_whole && parties_replaces(making, index)))
			continue;
		making->kept[making->count++] = index;
	}
}

static void parties_fill_locks(
	const struct unit_trace *trace, const struct lockset *held, struct party_lock *out)
{
	for (uint32_t i = 0; i < held->count && i < LOCKS_OF_ACCESS; i++) {
		const struct unit_lock *lock = &trace->locks[held->first + i];

		out[i] = (struct party_lock){.address = lock->address,
			.taken = lock->taken,
			.is_shared = lock->is_shared,
			.event = trace->events[lock->taken],
			.context = trace->contexts[lock->taken]};
	}
}

static void parties_fill_party(const struct making *making, struct party *party)
{
	const struct unit_trace *trace = making->trace;

	party->accesses = array_new(making->count + 1u, sizeof *party->accesses);
	party->locks = array_new(making->count * LOCKS_OF_ACCESS + 1u, sizeof *party->locks);
	party->count = making->count;
	for (uint32_t i = 0; i < making->count; i++) {
		const struct unit_access *access = &trace->accesses[making->kept[i]];
		const struct lockset *held = &trace->locksets[access->lockset];
		struct party_lock *locks = party->locks + i * LOCKS_OF_ACCESS;

		parties_fill_locks(trace, held, locks);
		party->accesses[i] = (struct party_access){
			.event = trace->events[access->event],
			.index = access->event,
			.context = trace->contexts[access->event],
			.location = access->location,
			.epoch = access->epoch,
			.locks = locks,
			.lock_count = held->count < LOCKS_OF_ACCESS ? held->count : LOCKS_OF_ACCESS,
			.is_write = access->is_write,
		};
	}
}

static uint64_t parties_signature_of(
	const struct making *making, thread_name name, const char *function)
{
	uint64_t signature = hash_pair(name, function ? hash_bytes(function, strlen(function)) : 0);

	for (uint32_t i = 0; i < making->count; i++)
		signature =
			hash_pair(signature, parties_access_code(making->trace,
						     &making->trace->accesses[making->kept[i]]));
	return signature;
}

static bool parties_is_wanted(
	struct party_set *set, const struct making *making, uint64_t signature)
{
	uint32_t equal = 0;

	if (!making->count || making->is_whole)
		return making->count;
	for (uint32_t i = 0; i < set->count; i++)
		equal += set->parties[i].signature == signature;
	if (equal >= PARTIES_EQUAL_MOST)
		return false;
	set->is_cut |= set->count >= PARTIES_OF_SET;
	return set->count < PARTIES_OF_SET;
}

static void parties_add_party(struct party_set *set, const struct making *making, uint32_t run)
{
	const struct atomic_routine *routine = making->unit->routine;
	struct party party = {.run = run,
		.thread = making->unit->thread,
		.name = thread_order_name(making->trace->order, making->unit->thread),
		.function = routine ? routine->routine.name : NULL};

	party.signature = parties_signature_of(making, party.name, party.function);
	if (!parties_is_wanted(set, making, party.signature))
		return;
	parties_fill_party(making, &party);
	ARRAY_APPEND(set->parties, set->count, party);
}

static struct party_set *parties_find_set(
	struct party_pool *pool, const struct unit_instance *instance, uint32_t run)
{
	const uint32_t own_run = instance->is_lasting ? UINT32_MAX : run;

	for (uint32_t i = 0; i < pool->count; i++)
		if (pool->sets[i].kind == instance->kind &&
			pool->sets[i].address == instance->address &&
			pool->sets[i].block == instance->block && pool->sets[i].run == own_run)
			return &pool->sets[i];
	ARRAY_APPEND(pool->sets, pool->count,
		(struct party_set){.kind = instance->kind,
			.address = instance->address,
			.block = instance->block,
			.run = own_run});
	return &pool->sets[pool->count - 1];
}

void party_pool_add(
	struct party_pool *pool, const struct unit_trace *trace, uint32_t run, bool is_whole)
{
	for (uint32_t i = 0; i < trace->instance_count; i++) {
		const struct unit_instance *instance = &trace->instances[i];
		struct slots locations;
		struct party_set *set;

		if (instance->kind == UNIT_NO_SET)
			continue;
		locations = parties_find_shared(trace, instance);
		set = parties_find_set(pool, instance, run);
		for (uint32_t at = 0; at < instance->unit_count; at++) {
			const struct unit *unit = &trace->units[instance->units[at]];
			struct making making = {.trace = trace,
				.unit = unit,
				.locations = &locations,
				.is_whole = is_whole,
				.most = is_whole || unit->count < ACCESSES_OF_PARTY
						? unit->count
						: ACCESSES_OF_PARTY};

			making.kept = array_new(making.most + 1u, sizeof *making.kept);
			parties_choose_accesses(&making);
			parties_add_party(set, &making, run);
			free(making.kept);
		}
		pool->is_cut |= set->is_cut;
		slots_release(&locations);
	}
	pool->is_cut |= trace->is_cut;
}
