/*
 * Seals: which files of a store this user made on this machine. A seal is a hash (BLAKE2b, by libsodium) of the file's
 * bytes under a random key that lies outside of every store, in $XDG_STATE_HOME/raddle/key or
 * ~/.local/state/raddle/key. A store that somebody else made, or changed, has no valid seal (docs/security.md).
 */
#ifndef RADDLE_CAMPAIGN_STORE_SEAL_H
#define RADDLE_CAMPAIGN_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#define SEAL_BYTES 32
/* Hexadecimal digits and the 0 behind them. */
#define SEAL_TEXT_BYTES (2 * SEAL_BYTES + 1)

struct seal_key;

/*
 * The user's key; `may_make`: made where there is none. NULL where there is none, and none can be made: nothing is sealed
 * then. Freed with seal_key_free.
 */
struct seal_key *seal_key_open(bool may_make);
void seal_key_free(struct seal_key *key);

/* The seal of these bytes, as text. */
void seal_text(
	const struct seal_key *key, const void *bytes, size_t size, char text[SEAL_TEXT_BYTES]);
/* Is `text` the seal of these bytes? `length` of the text. */
bool seal_is_valid(const struct seal_key *key, const void *bytes, size_t size, const char *text,
	size_t length);
/* The seal of a file's bytes from its start up to `size`. False: the file cannot be read. */
bool seal_file(const struct seal_key *key, int fd, size_t size, unsigned char seal[SEAL_BYTES]);

#endif
