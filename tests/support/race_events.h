/* Sequences of detector events in few words, for the tests of the race detector. */
#pragma once

#include <stdint.h>
#include <sys/mman.h>

#include "detectors/detector.h"

#define NOBODY UINT16_MAX

/* A variable, its neighbour in the same eight bytes, and objects. */
#define X UINT64_C(0x1000)
#define Y UINT64_C(0x1004)
#define FLAG UINT64_C(0x2000)
#define M UINT64_C(0x3000)
#define N UINT64_C(0x3040)

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQUIRE_RELEASE, SEQUENTIAL };

/* One step; its site is its location in the sequence + 1. */
#define ON(op, t, at)                                                                              \
	{                                                                                          \
		.kind = OP_##op, .thread = {t}, .address = (at), .other = { NOBODY }               \
	}
#define ACCESS(op, t, at, count, o)                                                                \
	{                                                                                          \
		.kind = OP_##op, .thread = {t}, .address = (at), .bytes = (count), .order = (o),   \
		.other = {NOBODY}, .object = 1                                                     \
	}
#define WITH(op, t, whom)                                                                          \
	{                                                                                          \
		.kind = OP_##op, .thread = {t}, .other = { whom }                                  \
	}
#define FAILED(op, t, at)                                                                          \
	{                                                                                          \
		.kind = OP_##op, .thread = {t}, .address = (at), .other = {NOBODY},                \
		.has_failed = true                                                                 \
	}
#define ARRIVE(t, number, last)                                                                    \
	{                                                                                          \
		.kind = OP_BARRIER_ARRIVE, .thread = {t}, .address = M, .argument = (number),      \
		.is_last = (last), .other = {                                                      \
			NOBODY                                                                     \
		}                                                                                  \
	}
#define LEAVE(t, number)                                                                           \
	{                                                                                          \
		.kind = OP_BARRIER_LEAVE, .thread = {t}, .address = M, .argument = (number),       \
		.other = {                                                                         \
			NOBODY                                                                     \
		}                                                                                  \
	}
#define COND_WAIT(t)                                                                               \
	{                                                                                          \
		.kind = OP_COND_WAIT, .thread = {t}, .address = N, .argument = M, .other = {       \
			NOBODY                                                                     \
		}                                                                                  \
	}
#define EXCHANGE(t, at, o)                                                                         \
	{                                                                                          \
		.kind = OP_ATOMIC_UPDATE, .thread = {t}, .address = (at), .bytes = 4,              \
		.order = (o), .other = {NOBODY}, .object = 1, .may_only_read = true                \
	}
#define WRITE(t) ACCESS(STORE, t, X, 4, 0)
#define READ(t) ACCESS(LOAD, t, X, 4, 0)
#define STORE_FLAG(t, o) ACCESS(ATOMIC_STORE, t, FLAG, 4, o)
#define LOAD_FLAG(t, o) ACCESS(ATOMIC_LOAD, t, FLAG, 4, o)
#define ADD_FLAG(t, o) ACCESS(ATOMIC_UPDATE, t, FLAG, 4, o)
#define FENCE(t, o) ACCESS(FENCE, t, 0, 0, o)
/* An annotation: the release or acquire of an address. */
#define ORDERED(t, at, o)                                                                          \
	{                                                                                          \
		.kind = OP_FENCE, .thread = {t}, .argument = (at), .order = (o), .other = {        \
			NOBODY                                                                     \
		}                                                                                  \
	}
#define CREATE(t, child) WITH(THREAD_CREATE, t, child)
#define JOIN(t, child) WITH(THREAD_JOIN, t, child)
/* Threads 1 and 2 that know nothing of each other. */
#define TWO CREATE(0, 1), CREATE(0, 2)

static void *state;

static inline int make_state(void **unused)
{
	(void)unused;
	state = mmap(NULL, detectors[DETECTOR_race]->state_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return state == MAP_FAILED;
}

static inline int free_state(void **unused)
{
	(void)unused;
	return munmap(state, detectors[DETECTOR_race]->state_bytes);
}

static inline bool observe(const struct detector_event *event, struct outcome *verdict)
{
	return detectors[DETECTOR_race]->observe(state, event, verdict);
}

/* The site of the first race, 0: there is none. Sites and steps are locations in the sequence. */
static inline unsigned first_race(
	const struct detector_event *events, unsigned count, struct outcome *verdict)
{
	detectors[DETECTOR_race]->begin_run(state);
	for (unsigned i = 0; i < count; i++) {
		struct detector_event event = events[i];

		event.site = i + 1;
		event.step = 100 + i;
		if (event.kind != OP_NONE && observe(&event, verdict))
			return i + 1;
	}
	return 0;
}
