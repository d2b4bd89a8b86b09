/* Reverts a run's changes in the kernel: the part of a rewind beside the memory image. The
 * runtime logs system calls as they occur; a call that cannot be reverted taints the run. The
 * log lies in shared memory, so the restore of the target's memory does not erase it. */
#ifndef RADDLE_RUNTIME_UNDO_H
#define RADDLE_RUNTIME_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNDO_RANGES_MAX 64 /* most ranges that a checkpoint can have */

/* Saves the offsets of files that are open at the starting point, so that a run's reads do not
 * change the next run. can_reopen: also keeps duplicates of the descriptors, so that a rewind
 * can reopen what a run closes. The duplicates have high numbers, and a large descriptor table
 * makes every fork slow: for the rewind only. */
void undo_save_offsets(bool can_reopen);
void undo_restore_offsets(void);

/* Called when the target maps or unmaps shared memory; undo_shared.c. */
void undo_note_shared(void *start, size_t bytes);
void undo_forget_shared(const void *start, size_t bytes);
/* Save the content of shared memory at the starting point, and restore it after a run. */
void undo_save_shared(void);
void undo_restore_shared(void);

/* Begins to log calls. */
void undo_begin_run(void);
/* Reverts descriptors, offsets and other logged changes, and ends logging. */
void undo_world(void);

/* Memory that the starting point does not have: mappings that the run made, and the growth of the program break. */
struct undo_range {
	uintptr_t start, end;
};
struct undo_memory {
	long program_break;
	uint32_t range_count;
	struct undo_range ranges[UNDO_RANGES_MAX];
};

/* NULL: restoring memory alone can return the run to its present state. Else the reason why not,
 * in words ("opened a file"). */
const char *undo_obstacle(void);
uintptr_t undo_program_break(void); /* at the starting point */
/* Stores the memory that the run has added. False: too many ranges. */
bool undo_note_memory_of_run(struct undo_memory *memory);
/* Gives the process exactly this additional memory; new mappings are zero. NULL: none, as at the starting point. */
bool undo_memory(const struct undo_memory *memory);

#endif
