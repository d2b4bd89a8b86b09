/*
 * Seals prove which files of a store this user made on this machine: keyed hashes (BLAKE2b, by
 * libsodium). The random key lies outside of every store, in $XDG_STATE_HOME/raddle/key or
 * ~/.local/state/raddle/key (docs/security.md).
 */
#ifndef RADDLE_STORE_STORE_SEAL_H
#define RADDLE_STORE_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#define SEAL_BYTES 32
/* Hexadecimal digits and the terminating 0. */
#define SEAL_TEXT_BYTES (2 * SEAL_BYTES + 1)

struct seal_key;

/* `may_make` creates a missing key. Returns NULL if no key exists; nothing is sealed then. Free
 * with seal_key_free(). */
struct seal_key *seal_key_open(bool may_make);
void seal_key_free(struct seal_key *key);

void seal_text(
	const struct seal_key *key, const void *bytes, size_t size, char text[SEAL_TEXT_BYTES]);
/* Is `text`, of `length` characters, the seal of these bytes? */
bool seal_is_valid(const struct seal_key *key, const void *bytes, size_t size, const char *text,
	size_t length);
/* Computes the seal of a file's first `size` bytes. Returns false if the file cannot be read. */
bool seal_file(const struct seal_key *key, int fd, size_t size, unsigned char seal[SEAL_BYTES]);

#endif
