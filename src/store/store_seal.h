/*
 * Seals prove which files of a store this user made on this machine: keyed hashes (BLAKE2b, by
 * libsodium). The random key lies outside of every store, in $XDG_STATE_HOME/raddle/key or
 * ~/.local/state/raddle/key (docs/security.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SEAL_BYTES 32
/* Length of a seal in hexadecimal digits, with the terminating 0. */
#define SEAL_TEXT_BYTES (2 * SEAL_BYTES + 1)

struct seal_key;

/* Opens the user's key; `may_make` creates a missing one. Returns NULL if there is no key; then
 * nothing is sealed. Free with seal_key_free(). */
struct seal_key *seal_key_open(bool may_make);
void seal_key_free(struct seal_key *key);

void seal_text(
	const struct seal_key *key, const void *bytes, size_t size, char text[SEAL_TEXT_BYTES]);
/* Returns whether `text`, of `length` characters, is the seal of these bytes. */
bool seal_is_valid(const struct seal_key *key, const void *bytes, size_t size, const char *text,
	size_t length);
/* Computes the seal of a file's first `size` bytes. Returns false if the file cannot be read. */
bool seal_file(const struct seal_key *key, int fd, size_t size, unsigned char seal[SEAL_BYTES]);
