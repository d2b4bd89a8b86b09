/* The log of a run's changes in the kernel, for undo.c, undo_memory.c and undo_shared.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bitset.h"
#include "abi/contract.h"
#include "runtime/undo/created_paths.h"
#include "runtime/undo.h"

#define UNDO_MAPPINGS_MAX 4096
#define UNDO_DESCRIPTORS 4096 /* beyond, a descriptor taints the run */
#define UNDO_SAVED_MAX                                                                             \
	64 /* lower descriptors of the starting point are duplicated, where a duplicate has no side effect */

struct undo_log {
	bool is_noting;
	const char *obstacle;	   /* see undo_obstacle(); NULL if none */
	bool is_discarding_output; /* descriptors 1 and 2 are /dev/null */
	uint32_t mapping_count;
	struct created_paths created; /* the count first: most runs touch one page of the log */
	struct undo_range mappings[UNDO_MAPPINGS_MAX];
	/* descriptors that this run opened, and that are still open */
	uint64_t opened[BITSET_WORDS(UNDO_DESCRIPTORS)];
	uint32_t opened_end;
	uint64_t present[BITSET_WORDS(UNDO_DESCRIPTORS)]; /* open at the starting point */
	uint64_t regular[BITSET_WORDS(UNDO_DESCRIPTORS)]; /* regular files among `present` */
	uint64_t moved[BITSET_WORDS(UNDO_DESCRIPTORS)];	  /* regular files that this run has used */
	bool has_moved;
	long offset[UNDO_DESCRIPTORS];
	long saved[UNDO_SAVED_MAX];	   /* duplicate with a high number; 0: none */
	long status_flags[UNDO_SAVED_MAX]; /* F_GETFL and F_GETFD at the starting point */
	long descriptor_flags[UNDO_SAVED_MAX];
	uint64_t closed;  /* starting descriptors that the run closed or replaced */
	uint64_t flagged; /* starting descriptors whose flags the run changed */
	bool has_moved_affinity;
	unsigned char affinity[128];
	long program_break;
	bool has_moved_break;
};

/* Lies in shared memory; the pointer is set before the starting point. */
extern struct undo_log *undo;

/* Taints the run with an effect that a rewind (TAINT_REWIND), or even a fork at the first creation
 * (TAINT_SHARED), cannot revert. */
void undo_taint(enum contract_taint taint, const char *what, long number);
/* Forbids checkpoints from this point of the run on. */
void undo_obstruct(const char *what);

/* Logs calls about memory and processor affinity. Returns false for another call. */
bool undo_note_memory(long number, const long arguments[6], long result);

/* Called before each run. */
void undo_begin_shared(void);
