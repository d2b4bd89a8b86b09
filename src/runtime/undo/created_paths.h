/* The paths that this run has created, and may therefore remove. Removing or renaming any other
 * path affects all later runs of the process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory is an empty set. Must not lie in memory that a rewind restores. */
#define CREATED_PATHS_MAX 1024
struct created_paths {
	uint32_t count;
	uint64_t names[CREATED_PATHS_MAX * 2]; /* open addressing; 0: free */
};

void created_paths_clear(struct created_paths *paths);

/* Records a successful call. *is_foreign: the call removed or renamed a path that this run did not
 * create. Returns false unless the call creates or removes paths. Also returns false for calls that
 * open files, whose descriptor the caller handles. */
bool created_paths_note(struct created_paths *paths, long number, const long arguments[6],
	long result, bool *is_foreign);
