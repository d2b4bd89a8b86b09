/* Reads of memory that the target is about to access. The address may be invalid. A read here
 * then only fails, and the target's own access crashes at its own line. */
#ifndef RADDLE_RUNTIME_GUARDED_READ_H
#define RADDLE_RUNTIME_GUARDED_READ_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads 1, 2, 4 or 8 bytes. False: not readable, or another number of bytes. */
bool guarded_read(const void *address, size_t bytes, uint64_t *value);
/* Compares words of eight bytes with known ones. Returns the number of equal words before the
 * first that differs or cannot be read. */
size_t guarded_same_words(const void *address, const void *known, size_t words);
/* Copies known bytes to `target`, word by word, while they equal the memory at `address`. Stops
 * at the first word that differs or cannot be read. Returns the number of bytes copied. `bytes`
 * is at least eight. `target` must not overlap the bytes behind `known`. */
size_t guarded_same_copied(const void *address, const void *known, void *target, size_t bytes);

struct guarded_same {
	uint64_t words; /* equal words before the first that differs or cannot be read */
	uint64_t zeros; /* not 0: one of these words contains a zero byte */
};

/* Compares at least one word. Bits set in `ahead` hide zero bytes of the first word. */
struct guarded_same guarded_same_string(
	const void *address, const void *known, size_t words, uint64_t ahead);
/* Length of the string with its terminating zero, searched in its first `most` bytes. If the
 * string is unreadable before its end: the length up to and including the first unreadable byte. */
size_t guarded_string_bytes(const char *string, size_t most);
/* For a signal handler, with its ucontext_t. True: the fault belongs to a read of this file,
 * which fails when the handler returns. */
bool guarded_read_has_failed(int signal, const siginfo_t *info, void *context);

#endif
