/*
 * State of the detector `patterns`, shared by its files. patterns.c keeps the windows and finds
 * patterns over one variable. patterns_pairs.c finds patterns over two variables. patterns_table.c
 * stores the results.
 */
#pragma once

#include "detectors/detector.h"
#include "detectors/patterns.h"

#define PATTERNS_SLOTS 32768u	   /* hash table of variables: a power of two */
#define PATTERNS_SLOTS_LEAST 256u  /* slots in use at first: a power of two */
#define PATTERNS_KEPT_SLOTS 16384u /* hash table of patterns: a power of two */
/* An access is paired with this many of its thread's last ones, because related updates are close
 * together in time. */
#define PATTERNS_RECENT 3u

/* An access, or the last of several consecutive accesses of one thread and kind. */
struct patterns_access {
	uint64_t site;
	uint32_t step;
	uint16_t thread;
	bool is_write;
	uint8_t op; /* enum op_kind */
};

struct patterns_variable {
	uint64_t address;
	object_name name;
	uint32_t index; /* index in patterns_state.variables */
	uint32_t first; /* first entry of its window in patterns_state.accesses */
	uint32_t class;
	uint32_t count;	 /* number of entries in its window */
	uint32_t newest; /* index of the newest entry in the window, if count > 0 */
	/* entries newer than the newest write; UINT32_MAX: no write in this run */
	uint32_t since_write;
	uint32_t write_step; /* step of the newest write, 0: none */
	/* Copies of fields of the newest entry, because almost every access reads them. */
	uint16_t newest_thread;
	bool newest_is_write;
	bool is_split; /* the upper half is a separate variable */
};

/* The thread's last accesses to different variables, as a ring. */
struct patterns_thread {
	uint32_t generation;
	uint32_t newest;
	uint64_t role;
	thread_name name;
	uint32_t variables[PATTERNS_RECENT]; /* index + 1; 0: free */
	struct patterns_access accesses[PATTERNS_RECENT];
};

/* A slot of the hash table, keyed by name. Slots are small and variables stored in the order of
 * first access: most runs have few, and compact memory is faster. */
struct patterns_slot {
	object_name name;
	uint16_t generation; /* the slot is free if this differs from slots_generation */
	uint16_t index;
};

struct patterns_state {
	/* The following fields are written by the command. */
	uint32_t window; /* 0: PATTERNS_WINDOW */
	bool has_orders; /* record operations on synchronisation objects as accesses */
	/* State of the run. */
	uint32_t generation;
	uint32_t variable_count;
	uint32_t slots_used; /* a power of two; 0: PATTERNS_SLOTS_LEAST. Later runs keep the size */
	uint16_t slots_generation;
	uint32_t kept_count;
	uint64_t accesses_dropped;
	uint64_t patterns_dropped;
	struct patterns_slot slots[PATTERNS_SLOTS];
	struct patterns_variable variables[PATTERNS_VARIABLES_MAX];
	struct patterns_thread threads[THREAD_CAPACITY];
	/* The patterns found, and their hash table. A slot of another generation is free. */
	struct pattern kept[PATTERNS_KEPT_MAX];
	/* Index of the first variable of each pattern */
	uint32_t kept_variables[PATTERNS_KEPT_MAX];
	struct {
		uint64_t quick; /* hash that identifies a pattern within this run */
		uint32_t generation;
		uint32_t index;
	} kept_slots[PATTERNS_KEPT_SLOTS];
	/* The windows: a ring of patterns_window() entries for each variable. */
	struct patterns_access accesses[PATTERNS_VARIABLES_MAX * PATTERNS_WINDOW_MOST];
};

static inline uint32_t patterns_window(const struct patterns_state *state)
{
	return state->window ? state->window : PATTERNS_WINDOW;
}

/* Returns the n-th newest entry (0: newest). `n` must be below the variable's count. */
static inline struct patterns_access *patterns_entry(
	struct patterns_state *state, const struct patterns_variable *variable, uint32_t n)
{
	/* The code avoids a remainder operation, because every access takes this path. */
	const uint32_t at = variable->newest >= n ? variable->newest - n
						  : variable->newest + patterns_window(state) - n;

	return &state->accesses[variable->first + at];
}

/* One access of a pattern and its variable. */
struct patterns_part {
	const struct patterns_access *access;
	const struct patterns_variable *variable;
};

/* Records a pattern. `parts` has as many elements as the kind has accesses. */
void patterns_keep(
	struct patterns_state *state, enum pattern_kind kind, const struct patterns_part *parts);

/*
 * Records the two-variable patterns that `now` completes with `before`, its thread's recent access
 * to another variable. Call before `now` enters its window.
 */
void patterns_find_pair(struct patterns_state *state, const struct patterns_part *before,
	const struct patterns_part *now);
