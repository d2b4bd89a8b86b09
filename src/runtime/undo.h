/* Reverts a run's changes in the kernel, beside the memory image of a rewind. The runtime logs
 * system calls as they occur; one that cannot be reverted taints the run. The log lies in shared
 * memory, which the restore does not erase. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNDO_RANGES_MAX 64 /* most ranges that a checkpoint can have */
#define STANDARD_DESCRIPTORS 3

/* Offsets of files that are open at the starting point: a run's reads must not change the next
 * run. can_reopen: also duplicates the descriptors, to reopen what a run closes. Their high
 * numbers make every fork slow, so only for the rewind. */
void undo_save_offsets(bool can_reopen);
void undo_restore_offsets(void);

/* Called when the target maps or unmaps shared memory (undo_shared.c). */
void undo_note_shared(void *start, size_t bytes);
void undo_forget_shared(const void *start, size_t bytes);
bool undo_has_shared(void);
/* Saves the content of shared memory at the starting point. */
void undo_save_shared(void);
void undo_restore_shared(void);

void undo_begin_run(void);
/* Logs the target's call for a later rewind, or taints the run. `result`: raw. */
void runtime_note_call(long number, const long arguments[6], long result);
/* Reverts the logged changes (descriptors, offsets and others) and ends logging. */
void undo_world(void);

/* Mappings that the run made, and the growth of the program break. */
struct undo_range {
	uintptr_t start, end;
};
struct undo_memory {
	long program_break;
	uint32_t range_count;
	struct undo_range ranges[UNDO_RANGES_MAX];
};

/* Returns NULL if restoring memory alone can return to this state; otherwise the reason against it
 * ("opened a file"). */
const char *undo_obstacle(void);
uintptr_t undo_program_break(void); /* at the starting point */
/* Stores the memory that the run has added. Returns false if they are too many ranges. */
bool undo_note_memory_of_run(struct undo_memory *memory);
/* Gives the process exactly this additional memory (NULL: no memory); new mappings are zero. */
bool undo_memory(const struct undo_memory *memory);
