/*
 * A simulated program for tests of the engine. Threads are coroutines on small stacks, a run takes
 * microseconds, and only the engine is real. A strategy and a seed give the schedules, or
 * `every_schedule`, which visits all of them.
 *
 * Assertions belong after the run: a test's threads record their observations.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "model/outcome/outcome.h"

struct simulation {
	const struct strategy *strategy; /* NULL means random */
	uint64_t seed;
	bool has_spurious_wakeups;
	uint64_t stall_ns;
	struct stalls *stalls;
	enum memory_model memory_model;
	struct delayed_stores *delayed;
	bool defers_changes;
	uint32_t tolerated;
	uint64_t step_limit; /* 0: 10000 */
};

/* One run of body(argument) as thread main. The outcome lives until the next run. */
const struct outcome *simulate(
	const struct simulation *simulation, void (*body)(void *), void *argument);

/*
 * All schedules of a program without endless loops, depth first: runs it until none is left. `before`
 * resets what `argument` points to, `after` checks it. Returns the number of runs.
 */
uint64_t simulate_every_schedule(const struct simulation *simulation, void (*body)(void *),
	void *argument, void (*before)(void *argument),
	void (*after)(void *argument, const struct outcome *outcome));

/* ---- functions for the threads of the program ---- */

struct engine_thread *simulation_create(void *(*start)(void *), void *argument);
/* Waits for its end; its result. */
void *simulation_join(struct engine_thread *thread);
/* A scheduling point that means nothing. */
void simulation_step(void);
/* Requests cancellation; the thread sees it where it waits. */
void simulation_cancel(struct engine_thread *thread);
