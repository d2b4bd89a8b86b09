/*
 * What a run changed in the kernel, and how it is put back: the other half of a rewind beside the
 * memory image. System calls are noted as they happen; what cannot be undone taints the run.
 * The log lies in shared memory, so that restoring the target's memory does not wipe it.
 */
#ifndef RADDLE_RUNTIME_UNDO_H
#define RADDLE_RUNTIME_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNDO_RANGES_MAX 64 /* that a checkpoint can have */

/*
 * Open files of the starting point: where they stand, so that a run's reads do not move the next.
 * can_reopen: also keeps duplicates, so that what a run closes comes back. They have high numbers, and a
 * large table of descriptors makes every fork slow: for the rewind only.
 */
void undo_save_offsets(bool can_reopen);
void undo_restore_offsets(void);

/* The target has mapped memory that is shared, or given it back; undo_shared.c. */
void undo_note_shared(void *start, size_t bytes);
void undo_forget_shared(const void *start, size_t bytes);
/* What such memory holds at the starting point; again, after a run. */
void undo_save_shared(void);
void undo_restore_shared(void);

/* From here on calls are noted. */
void undo_begin_run(void);
/* Puts back descriptors, offsets and the like. Calls are not noted any more. */
void undo_world(void);

/*
 * What there is of memory that the starting point does not have: mappings that the run made, and what the
 * program break has grown by.
 */
struct undo_range {
	uintptr_t start, end;
};
struct undo_memory {
	long program_break;
	uint32_t range_count;
	struct undo_range ranges[UNDO_RANGES_MAX];
};

/*
 * Can the run at hand be put back to where it stands now, by its memory alone? NULL: yes. Else why not, in
 * words ("opened a file").
 */
const char *undo_obstacle(void);
uintptr_t undo_program_break(void); /* at the starting point */
/* False: there is too much of it. */
bool undo_note_memory_of_run(struct undo_memory *memory);
/* Gives the process just that again; what is mapped anew is zero. NULL: as at the starting point. */
bool undo_memory(const struct undo_memory *memory);

#endif
