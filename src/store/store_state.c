/*
 * States of exhaustive campaigns: .raddle/state-N, for --resume. A strategy uses the indices of its
 * state unchecked: only a state with a valid seal is read.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/regular_file.h"
#include "store/store_internal.h"

#define STATE_NAME_BYTES 48

static void store_state_name(int64_t campaign, bool is_new, char name[STATE_NAME_BYTES])
{
	(void)snprintf(name, STATE_NAME_BYTES, "state-%" PRId64 "%s", campaign,
		is_new ? ".new" : ""); /* fits */
}

int store_state_create(struct store *store, int64_t campaign)
{
	char name[STATE_NAME_BYTES];

	store_state_name(campaign, true, name);
	(void)unlinkat(store->folder_fd, name, 0); /* a killed campaign may have left the file */
	return openat(
		store->folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool store_state_seal(const struct store *store, int fd)
{
	unsigned char seal[SEAL_BYTES];
	struct stat status;

	return store->key && !fstat(fd, &status) &&
	       seal_file(store->key, fd, (size_t)status.st_size, seal) &&
	       pwrite(fd, seal, sizeof seal, status.st_size) == (ssize_t)sizeof seal;
}

bool store_state_publish(struct store *store, int64_t campaign, int fd, bool is_whole)
{
	char name[STATE_NAME_BYTES], fresh[STATE_NAME_BYTES];
	bool is_sealed = is_whole && store_state_seal(store, fd);

	is_sealed &= !close(fd);
	store_state_name(campaign, false, name);
	store_state_name(campaign, true, fresh);
	if (is_sealed && !renameat(store->folder_fd, fresh, store->folder_fd, name))
		return true;
	(void)unlinkat(store->folder_fd, fresh, 0); /* an incomplete state is of no use */
	return false;
}

static int store_state_open_file(struct store *store, int64_t campaign, uint64_t *size)
{
	char name[STATE_NAME_BYTES];
	struct stat status;
	int fd;

	store_state_name(campaign, false, name);
	fd = regular_file_open(store->folder_fd, name, false, &status);
	if (fd >= 0)
		*size = (uint64_t)status.st_size;
	return fd;
}

bool store_state_exists(struct store *store, int64_t campaign)
{
	uint64_t size;
	const int fd = store_state_open_file(store, campaign, &size);

	if (fd >= 0)
		(void)close(fd); /* the file was opened for reading */
	return fd >= 0;
}

static bool store_state_is_sealed(const struct store *store, int fd, uint64_t *size)
{
	unsigned char seal[SEAL_BYTES], kept[SEAL_BYTES];

	if (*size < sizeof kept)
		return false;
	*size -= sizeof kept;
	return seal_file(store->key, fd, *size, seal) &&
	       pread(fd, kept, sizeof kept, (off_t)*size) == (ssize_t)sizeof kept &&
	       !memcmp(seal, kept, sizeof kept);
}

int store_state_open(
	struct store *store, int64_t campaign, int *fd, uint64_t *size, struct error *err)
{
	int status = 0;

	*fd = store_state_open_file(store, campaign, size);
	if (*fd < 0)
		return error_set(err, ERROR_NOTFOUND,
			"campaign %" PRId64
			" has no state to resume from: it made all schedules, or was ended in its first seconds; start again without --resume",
			campaign);
	if (!store->key)
		status = error_set(err, ERROR_STORE,
			"the state of campaign %" PRId64
			" cannot be trusted: there is no key in ~/.local/state/raddle; set XDG_STATE_HOME, or start again without --resume",
			campaign);
	else if (!store_state_is_sealed(store, *fd, size))
		status = error_set(err, ERROR_FORMAT,
			"the state of campaign %" PRId64
			" is damaged, or was made by another user or on another machine; start again without --resume",
			campaign);
	if (status)
		(void)close(*fd); /* the file was opened for reading */
	return status;
}

void store_state_remove(struct store *store, int64_t campaign)
{
	char name[STATE_NAME_BYTES];

	store_state_name(campaign, false, name);
	(void)unlinkat(store->folder_fd, name, 0); /* fails if the campaign has no state */
}
