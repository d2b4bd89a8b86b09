/*
 * Reads of memory that the target is about to use, by us before it does. The address may be wrong, and
 * then it is the target's own access that must crash, at its own line: a read here just fails.
 */
#ifndef RADDLE_RUNTIME_GUARDED_READ_H
#define RADDLE_RUNTIME_GUARDED_READ_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of 1, 2, 4 or 8 bytes; false: they cannot be read, or it is another number of them. */
bool guarded_read(const void *address, size_t bytes, uint64_t *value);
/* How many of these words, of eight bytes each, are those that are known, up to the first that is not, or cannot be read. */
size_t guarded_same_words(const void *address, const void *known, size_t words);
/*
 * Copies what is known of the bytes to where more is known, word by word, as long as it is what stands there, and can be
 * read. How many bytes: all, or up to the first word that is not so. There are eight at least. `target` does not
 * lie behind `known` in the same bytes.
 */
size_t guarded_same_copied(const void *address, const void *known, void *target, size_t bytes);

struct guarded_same {
	uint64_t words; /* that are the same, up to the first that is not, or cannot be read */
	uint64_t zeros; /* not 0: one of them has a byte that is zero */
};

/* At least one word. Bits that are set in `ahead` are none of the first word's zeros. */
struct guarded_same guarded_same_string(
	const void *address, const void *known, size_t words, uint64_t ahead);
/*
 * Length of the string with its terminating zero, which is looked for in its first `most` bytes.
 * Where it cannot be read to its end: the length up to and with the byte that cannot be read.
 */
size_t guarded_string_bytes(const char *string, size_t most);
/*
 * From a signal handler, with its ucontext_t: was it a fault of one of these reads? Then that read fails
 * when the handler returns.
 */
bool guarded_read_has_failed(int signal, const siginfo_t *info, void *context);

#endif
