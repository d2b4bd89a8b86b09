/* Reads of memory that the target is about to access. A read of an invalid address only fails
 * here; the target's own access then crashes at its own line. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads 1, 2, 4 or 8 bytes. Returns false if not readable, or another number of bytes. */
bool guarded_read(const void *address, size_t bytes, uint64_t *value);
/* Returns the number of eight-byte words before the first that differs or cannot be read. */
size_t guarded_same_words(const void *address, const void *known, size_t words);
/* Copies known bytes to `target`, word by word, up to the first word that differs from `address`
 * or cannot be read. Returns the bytes copied. `bytes` is at least eight. `target` must not
 * overlap the bytes behind `known`. */
size_t guarded_same_copied(const void *address, const void *known, void *target, size_t bytes);

struct guarded_same {
	uint64_t words;
	uint64_t zeros; /* nonzero if one of these words contains a zero byte */
};

/* Compares at least one word. Bits set in `ahead` hide zero bytes of the first word. */
struct guarded_same guarded_same_string(
	const void *address, const void *known, size_t words, uint64_t ahead);
/* Returns the length with the terminating zero, searched in the first `most` bytes; or up to and
 * including the first unreadable byte. */
size_t guarded_string_bytes(const char *string, size_t most);
/* Called by a signal handler with its ucontext_t. Returns true if the fault is a read of this file;
 * that read then fails when the handler returns. */
bool guarded_read_has_failed(int signal, const siginfo_t *info, void *context);
