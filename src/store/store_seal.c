#include "store/store_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/files/regular_file.h"

#define CHUNK_BYTES 65536

struct seal_key {
	unsigned char bytes[crypto_generichash_KEYBYTES];
};

_Static_assert(SEAL_BYTES == crypto_generichash_BYTES, "the seal is one hash");

/* Creates the missing folders of the path after its first `kept` bytes. A failure shows in the
 * later open(). */
static void store_seal_make_folders(char *path, size_t kept)
{
	char *slash = path + kept;

	while ((slash = strchr(slash + 1, '/')) != NULL) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	(void)mkdir(path, 0700);
}

/* Creates missing folders of $XDG_STATE_HOME (as XDG requires), but no home folder. */
static int store_seal_open_folder(bool may_make)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const bool has_state = state && *state == '/';
	const struct passwd *user;
	char path[PATH_MAX];
	int length;

	user = has_state || (home && *home == '/') ? NULL : getpwuid(geteuid());
	if (user)
		home = user->pw_dir;
	if (!has_state && (!home || *home != '/'))
		return -1;
	length = snprintf(path, sizeof path, "%s%s/raddle", has_state ? state : home,
		has_state ? "" : "/.local/state");
	if (length >= (int)sizeof path)
		return -1;
	if (may_make)
		store_seal_make_folders(path, has_state ? 0 : strlen(home));
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Reads the key. Rejects a key file that other users can access, since they could forge seals. */
static bool store_seal_read_key(int folder, struct seal_key *key)
{
	struct stat status;
	const int fd = regular_file_open(folder, "key", false, &status);
	bool is_read;

	if (fd < 0)
		return false;
	is_read = !(status.st_mode & 077) && status.st_uid == geteuid() &&
		  read(fd, key->bytes, sizeof key->bytes) == (ssize_t)sizeof key->bytes;
	(void)close(fd); /* the file was opened for reading */
	return is_read;
}

/* Makes a key. link() fails if a key exists, so that two concurrent processes end up with one
 * key. */
static void store_seal_make_key(int folder)
{
	unsigned char bytes[crypto_generichash_KEYBYTES];
	char name[32];
	int fd;

	randombytes_buf(bytes, sizeof bytes);
	(void)snprintf(name, sizeof name, "key.%ld", (long)getpid()); /* fits */
	(void)unlinkat(folder, name, 0); /* left by a killed process with the same pid */
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes && !fsync(fd))
		/* fails if another process has made a key */
		(void)linkat(folder, name, folder, "key", 0);
	(void)close(fd);		 /* synced */
	(void)unlinkat(folder, name, 0); /* the linked name remains */
	sodium_memzero(bytes, sizeof bytes);
}

struct seal_key *seal_key_open(bool may_make)
{
	struct seal_key *key;
	bool is_read;
	int folder;

	if (sodium_init() < 0)
		return NULL;
	folder = store_seal_open_folder(may_make);
	if (folder < 0)
		return NULL;
	key = array_new(1, sizeof *key);
	is_read = store_seal_read_key(folder, key);
	if (!is_read && may_make && faccessat(folder, "key", F_OK, AT_SYMLINK_NOFOLLOW)) {
		store_seal_make_key(folder);
		is_read = store_seal_read_key(folder, key);
	}
	(void)close(folder); /* the file was opened for reading */
	if (is_read)
		return key;
	seal_key_free(key);
	return NULL;
}

void seal_key_free(struct seal_key *key)
{
	if (!key)
		return;
	sodium_memzero(key, sizeof *key);
	free(key);
}

void seal_text(
	const struct seal_key *key, const void *bytes, size_t size, char text[SEAL_TEXT_BYTES])
{
	unsigned char seal[SEAL_BYTES];

	/* The hash fails only for invalid lengths of key or seal. */
	BUG_ON(crypto_generichash(seal, sizeof seal, bytes, size, key->bytes, sizeof key->bytes));
	(void)sodium_bin2hex(
		text, SEAL_TEXT_BYTES, seal, sizeof seal); /* cannot fail: returns its argument */
}

bool seal_is_valid(
	const struct seal_key *key, const void *bytes, size_t size, const char *text, size_t length)
{
	char expected[SEAL_TEXT_BYTES];

	seal_text(key, bytes, size, expected);
	return length == SEAL_TEXT_BYTES - 1 && !sodium_memcmp(expected, text, length);
}

bool seal_file(const struct seal_key *key, int fd, size_t size, unsigned char seal[SEAL_BYTES])
{
	static const char purpose[] = "state of a campaign";
	crypto_generichash_state state;
	unsigned char chunk[CHUNK_BYTES];
	size_t at = 0;

	(void)crypto_generichash_init(&state, key->bytes, sizeof key->bytes, SEAL_BYTES);
	/* The purpose is part of the hash, so a finding's seal is not valid for a state. */
	(void)crypto_generichash_update(&state, (const unsigned char *)purpose, sizeof purpose);
	while (at < size) {
		const size_t left = size - at;
		const ssize_t got =
			pread(fd, chunk, left < sizeof chunk ? left : sizeof chunk, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		(void)crypto_generichash_update(&state, chunk, (size_t)got);
		at += (size_t)got;
	}
	return !crypto_generichash_final(&state, seal, SEAL_BYTES);
}
