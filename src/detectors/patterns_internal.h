/*
 * What the files of the recorder of access patterns share: its state. patterns.c keeps windows and
 * finds patterns over one variable, patterns_pairs.c those over two, patterns_table.c keeps what was
 * found.
 */
#ifndef RADDLE_DETECTORS_PATTERNS_INTERNAL_H
#define RADDLE_DETECTORS_PATTERNS_INTERNAL_H

#include "detectors/detector.h"
#include "detectors/patterns.h"

#define PATTERNS_SLOTS 32768u	   /* of variables: a power of two */
#define PATTERNS_SLOTS_LEAST 256u  /* in use: likewise */
#define PATTERNS_KEPT_SLOTS 16384u /* of patterns: a power of two */
/*
 * A thread's accesses to other variables are taken to belong to the present one if they are among its
 * last ones to so many: updates of what belongs together stand close together.
 */
#define PATTERNS_RECENT 3u

/* An access, or the last one of several in a row of one thread and kind. */
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
	uint32_t index; /* of it */
	uint32_t first; /* of its window, in the accesses of all */
	uint32_t class;
	uint32_t count;	 /* entries of its window that are in use */
	uint32_t newest; /* which of them, where there are any */
	uint32_t
		since_write; /* entries that are newer than its newest write; UINT32_MAX: there is none */
	uint32_t write_step; /* of its newest write, 0: there was none */
	/* Of the newest entry: asked for more often than all the rest. */
	uint16_t newest_thread;
	bool newest_is_write;
	bool is_split; /* its upper half is a variable of its own */
};

/* What a thread did last, to different variables; a ring. */
struct patterns_thread {
	uint32_t generation;
	uint32_t newest;
	uint64_t role;
	thread_name name;
	uint32_t variables[PATTERNS_RECENT]; /* index + 1; 0: none */
	struct patterns_access accesses[PATTERNS_RECENT];
};

/*
 * Where a variable is, by hash of its name. Most runs have few variables, and are fast while all that they
 * touch is close together: so slots are small, few of them are in use (more and more, as variables
 * come), and variables and windows stand in the order in which they came.
 */
struct patterns_slot {
	object_name name;
	uint16_t generation; /* others than the present one are free */
	uint16_t index;
};

struct patterns_state {
	/* [host] */
	uint32_t window; /* 0: the standard one */
	uint32_t limit;	 /* of patterns that are kept, 0: PATTERNS_KEPT_MAX */
	bool has_orders; /* operations on synchronisation objects are accesses, too */
	/* The run. */
	uint32_t generation;
	uint32_t variable_count;
	uint32_t slots_used; /* a power of two; 0: PATTERNS_SLOTS_LEAST. Stays for the next run */
	uint16_t slots_generation;
	uint32_t kept_count;
	uint64_t accesses_dropped;
	uint64_t patterns_dropped;
	struct patterns_slot slots[PATTERNS_SLOTS];
	struct patterns_variable variables[PATTERNS_VARIABLES_MAX];
	struct patterns_thread threads[THREAD_CAPACITY];
	/* Found patterns, and where they are: index + 1 where the generation is the run's. */
	struct pattern kept[PATTERNS_KEPT_MAX];
	uint32_t kept_variables[PATTERNS_KEPT_MAX]; /* indices of their first variables */
	struct {
		uint64_t quick; /* tells patterns of this run apart */
		uint32_t generation;
		uint32_t index;
	} kept_slots[PATTERNS_KEPT_SLOTS];
	/* The windows: `window` entries for each variable, as a ring. */
	struct patterns_access accesses[PATTERNS_VARIABLES_MAX * PATTERNS_WINDOW_MOST];
};

static inline uint32_t patterns_window(const struct patterns_state *state)
{
	return state->window ? state->window : PATTERNS_WINDOW;
}

/* The n-th newest entry, from 0; n below the variable's count. */
static inline struct patterns_access *patterns_entry(
	struct patterns_state *state, const struct patterns_variable *variable, uint32_t n)
{
	/* No remainder: this is on the path of every access. */
	const uint32_t at = variable->newest >= n ? variable->newest - n
						  : variable->newest + patterns_window(state) - n;

	return &state->accesses[variable->first + at];
}

/* One access of a pattern and the variable that it is to. */
struct patterns_part {
	const struct patterns_access *access;
	const struct patterns_variable *variable;
};

/* Keeps the pattern with these parts, as many as its kind has. */
void patterns_keep(
	struct patterns_state *state, enum pattern_kind kind, const struct patterns_part *parts);

/*
 * `access` to `variable` is about to be put into its window: what does it complete with this recent access
 * of its thread to another variable?
 */
void patterns_find_pair(struct patterns_state *state, const struct patterns_part *before,
	const struct patterns_part *now);

#endif
