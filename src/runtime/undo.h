/*
 * What a run changed in the kernel, and how it is put back: the other half of a rewind beside the
 * memory image. System calls are noted as they happen; what cannot be undone taints the run.
 * The log lies in shared memory, so that restoring the target's memory does not wipe it.
 */
#ifndef RADDLE_RUNTIME_UNDO_H
#define RADDLE_RUNTIME_UNDO_H

#include <stdbool.h>

/*
 * Open files of the starting point: where they stand, so that a run's reads do not move the next.
 * can_reopen: also keeps duplicates, so that what a run closes comes back. They have high numbers, and a
 * large table of descriptors makes every fork slow: for the rewind only.
 */
void undo_save_offsets(bool can_reopen);
void undo_restore_offsets(void);

/* From here on calls are noted. */
void undo_begin_run(void);
/* Puts everything back: mappings, descriptors, program break, offsets. */
void undo_run(void);

#endif
