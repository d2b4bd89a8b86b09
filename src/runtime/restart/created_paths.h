/*
 * Which paths of the file system this run made itself: those it may also take away. What it removes or
 * moves that was there before is gone for every later run of the same process.
 */
#ifndef RADDLE_RUNTIME_RESTART_CREATED_PATHS_H
#define RADDLE_RUNTIME_RESTART_CREATED_PATHS_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed memory is an empty set. To be kept where a rewind does not reach. */
#define CREATED_PATHS_MAX 1024
struct created_paths {
	uint32_t count;
	uint64_t names[CREATED_PATHS_MAX * 2]; /* open addressing; 0: free */
};

/* A run begins: it has made nothing yet. */
void created_paths_clear(struct created_paths *paths);

/*
 * Takes note of a system call that succeeded. `is_foreign` says afterwards whether it removed or moved a
 * path that this run did not make. False when the call is none that makes or removes paths; calls that
 * open files are noted too, but left to the caller (false).
 */
bool created_paths_note(struct created_paths *paths, long number, const long arguments[6],
	long result, bool *is_foreign);

#endif
