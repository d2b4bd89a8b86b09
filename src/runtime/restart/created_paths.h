/* The paths that this run has created, and may therefore remove. Removing or renaming any other
 * path affects all later runs of the same process. */
#ifndef RADDLE_RUNTIME_RESTART_CREATED_PATHS_H
#define RADDLE_RUNTIME_RESTART_CREATED_PATHS_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory is an empty set. Must lie in memory that a rewind does not restore. */
#define CREATED_PATHS_MAX 1024
struct created_paths {
	uint32_t count;
	uint64_t names[CREATED_PATHS_MAX * 2]; /* open addressing; 0: free */
};

/* Empties the set for a new run. */
void created_paths_clear(struct created_paths *paths);

/* Records a successful system call. *is_foreign: the call removed or renamed a path that this
 * run did not create. Returns false unless the call creates or removes paths. Calls that open
 * files are recorded, too, but return false: the caller handles the descriptor. */
bool created_paths_note(struct created_paths *paths, long number, const long arguments[6],
	long result, bool *is_foreign);

#endif
