/*
 * Spinning in instrumented code. A thread that repeats the same reads with the same values, and
 * writes nothing that others can see, waits for another thread. The thread yields at the REPEATS-th
 * repeated read and at every later one (engine/fairness.c), but for the first ones of some runs
 * (engine_run.free_yields). Loops on flags thus end under every
 * strategy, at the same step in every run. An atomic update counts as a read while the value that
 * it finds is unchanged, as in a try-lock loop. The state is restored with the run.
 */
#include "runtime/spinning.h"

#include "base/hash.h"
#include "engine/engine.h"
#include "runtime/guarded_read.h"
#include "runtime/sites.h"

/* Reads of one iteration; conditions of more variables are rare. */
#define READS_MAX 8
/* A second read is normal, a third after a wake-up; a fourth means that the whole loop repeats. */
#define REPEATS 4

struct spinning_thread {
	uint64_t reads[READS_MAX]; /* hashes of site, address and value */
	uint8_t count;
	uint8_t repeats; /* consecutive known reads */
	uint8_t oldest;
};

/* Indexed by thread. Threads beyond never yield here. */
static struct spinning_thread spinning[256];

void spinning_begin_run(uint32_t count)
{
	for (uint32_t i = 0; i < count && i < 256; i++)
		spinning[i] = (struct spinning_thread){0};
}

static bool spinning_is_read(uint8_t kind)
{
	return kind == SITE_LOAD || kind == SITE_ATOMIC_LOAD || kind == SITE_ATOMIC_UPDATE ||
	       kind == SITE_COMPARE_EXCHANGE;
}

/* Writes may be missed in a partial run: a read then counts only where spinning was seen before. */
static bool spinning_is_sure(const struct memory_access *access)
{
	return !sites_memory()->is_partial ||
	       (access->site_state && *access->site_state & SITE_WAITED);
}

void spinning_note(const struct memory_access *access)
{
	const struct engine_thread *self = engine_current();
	struct spinning_thread *own = &spinning[self->id.index % 256];
	uint64_t read, value;

	if (self->id.index >= 256)
		return;
	if (!spinning_is_read(access->kind) ||
		!guarded_read(access->address, access->bytes, &value)) {
		own->count = own->repeats = 0;
		return;
	}
	read = hash_pair(hash_pair(access->site, (uintptr_t)access->address), value);
	for (uint8_t i = 0; i < own->count; i++) {
		if (own->reads[i] != read)
			continue;
		if (own->repeats < UINT8_MAX)
			own->repeats++;
		if (own->repeats >= REPEATS * own->count && spinning_is_sure(access)) {
			if (access->site_state)
				*access->site_state |= SITE_WAITED;
			sites_memory()->has_waited = sites_memory()->has_site_news = 1;
			engine_delay_repeating();
		}
		return;
	}
	own->repeats = 0;
	if (own->count < READS_MAX)
		own->reads[own->count++] = read;
	else
		own->reads[own->oldest++ % READS_MAX] = read;
}
