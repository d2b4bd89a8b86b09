/*
 * The folders of the store: findings/F1/ with finding.json, its seal, schedule.txt, output.txt and
 * trace; long texts are compressed (store_compressed.h). A folder is complete and synced before it gets its name.
 *
 *   kill while the temporary folder is written    leaves a .new-F1: an orphan
 *   kill between the rename and the commit        leaves an F1 without row: an orphan
 *   kill inside the exchange (known finding)      leaves the old folder or the new one, whole
 *   kill after the exchange                       leaves the old one as .new-F1: an orphan
 *
 * A store may belong to another user (docs/security.md): every file is opened relative to its
 * folder's descriptor. No symbolic link below the folder that the user named is followed, and only
 * regular files are read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/regular_file.h"
#include "base/strbuf.h"
#include "base/files/write_all.h"
#include "store/store_compressed.h"
#include "store/store_internal.h"
#include "trace/schedule_text.h"

#define TEMPORARY ".new-"
/* Mode of the store's folders. Only the owner may read a store, because it holds output and command
 * lines. */
#define FOLDER_MODE 0700
#define FILE_MODE 0600
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Returns the path <folder>/a/b/c up to the first NULL, for messages; the caller frees it. */
static char *store_path(struct store *store, const char *a, const char *b, const char *c)
{
	const char *const parts[] = {a, b, c};
	struct strbuf path = STRBUF_EMPTY;

	strbuf_adds(&path, store->folder);
	for (int i = 0; i < 3 && parts[i]; i++)
		strbuf_addf(&path, "/%s", parts[i]);
	return strbuf_detach(&path);
}

/* Returns the size of the files, down to `levels` subfolders. Takes ownership of the descriptor;
 * -1: empty. */
static uint64_t store_folder_bytes(int fd, int levels)
{
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint64_t bytes = 0;

	while (folder && (entry = readdir(folder))) {
		struct stat status;

		if (fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISREG(status.st_mode))
			bytes += (uint64_t)status.st_size;
		else if (S_ISDIR(status.st_mode) && levels && entry->d_name[0] != '.')
			bytes += store_folder_bytes(
				openat(fd, entry->d_name, FOLDER_FLAGS), levels - 1);
	}
	if (folder)
		(void)closedir(folder); /* the file was opened for reading */
	else if (fd >= 0)
		(void)close(fd); /* the file was opened for reading */
	return bytes;
}

uint64_t store_bytes(struct store *store)
{
	return store->aside ? 0
			    : store_folder_bytes(openat(store->folder_fd, ".", FOLDER_FLAGS), 2);
}

/* Sets the message "cannot <doing> <path>" with the cause in errno. */
static int store_folder_error(const char *doing, const char *path, struct error *err)
{
	const int cause = errno;
	const char *remedy = "check the permissions of that folder";

	if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
		remedy = "free some space and start again";
	else if (cause == EROFS || cause == EACCES || cause == EPERM)
		remedy = "make that folder writable or work in another one";
	else if (cause == ELOOP || cause == ENOTDIR)
		remedy =
			"a store has folders of its own there, no symbolic links and no files: move it away";
	else if (cause == ENOENT)
		remedy = "make the folder around it first";
	else if (cause == EMFILE)
		remedy = "raise ulimit -n";
	else if (cause == EIO)
		remedy = "check the disk";
	return error_set(
		err, ERROR_STORE, "cannot %s %s: %s; %s", doing, path, strerror(cause), remedy);
}

static int store_folder_error_in(
	struct store *store, const char *doing, const char *a, const char *b, struct error *err)
{
	const int cause = errno;
	FREE_SCOPED char *path = store_path(store, "findings", a, b);

	errno = cause;
	return store_folder_error(doing, path, err);
}

/* Opens the folder, and creates it if it is missing. Does not follow a symbolic link. */
static int store_folder_make(
	int parent, const char *name, const char *path, int *fd, struct error *err)
{
	struct stat status;
	const bool is_made = !mkdirat(parent, name, FOLDER_MODE);

	if (!is_made && errno != EEXIST)
		return store_folder_error("make the store", path, err);
	*fd = openat(parent, name, FOLDER_FLAGS);
	if (*fd >= 0)
		return is_made && fchmod(*fd, FOLDER_MODE)
			       ? store_folder_error("make the store", path, err)
			       : 0;
	if (!fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) && S_ISREG(status.st_mode))
		return error_set(err, ERROR_STORE,
			"cannot make the store %s: a file of that name is in the way; move it away",
			path);
	return store_folder_error("open", path, err);
}

static int store_folder_open_for_writing(struct store *store, int parent, struct error *err)
{
	FREE_SCOPED char *findings = store_path(store, "findings", NULL, NULL);
	int status = store_folder_make(parent, ".raddle", store->folder, &store->folder_fd, err);

	if (!status)
		status = store_folder_make(
			store->folder_fd, "findings", findings, &store->findings_fd, err);
	/* EINVAL: this file system cannot sync folders, which is no error. */
	if (!status && fsync(parent) && errno != EINVAL)
		status = store_folder_error("write", store->folder, err);
	return status;
}

static int store_folder_open_for_reading(struct store *store, int parent, struct error *err)
{
	store->folder_fd = openat(parent, ".raddle", FOLDER_FLAGS);
	if (store->folder_fd < 0 && errno == ENOENT)
		return error_set(err, ERROR_NOTFOUND,
			"there is no store %s: %s; start in the folder where `raddle run` was started",
			store->folder, strerror(errno));
	if (store->folder_fd < 0)
		return store_folder_error("open", store->folder, err);
	store->findings_fd = openat(store->folder_fd, "findings", FOLDER_FLAGS);
	if (store->findings_fd < 0 && errno != ENOENT)
		return store_folder_error_in(store, "open", NULL, NULL, err);
	return 0;
}

int store_open_folders(struct store *store, const char *directory, struct error *err)
{
	/* The user named this directory, so it may be a symbolic link. */
	const int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status;

	if (parent < 0 && store->access == STORE_WRITE)
		return store_folder_error("make the store", store->folder, err);
	if (parent < 0)
		return error_set(err, ERROR_NOTFOUND,
			"there is no store %s: %s; start in the folder where `raddle run` was started",
			store->folder, strerror(errno));
	status = store->access == STORE_WRITE ? store_folder_open_for_writing(store, parent, err)
					      : store_folder_open_for_reading(store, parent, err);
	(void)close(parent); /* nothing was written through it */
	return status;
}

static int store_folder_sync(struct store *store, int fd, const char *name, struct error *err)
{
	/* EINVAL: this file system cannot sync folders, which is no error. */
	if (!fsync(fd) || errno == EINVAL)
		return 0;
	return store_folder_error_in(store, "write", name, NULL, err);
}

/* Removes a file, or a folder of files only: raddle makes no subfolders. */
static int store_folder_remove(struct store *store, const char *name, struct error *err)
{
	const int fd = openat(store->findings_fd, name, FOLDER_FLAGS);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int status = 0;

	if (!folder) {
		const bool is_link_or_file = fd < 0 && (errno == ELOOP || errno == ENOTDIR);

		if (fd >= 0)
			(void)close(fd); /* the file was opened for reading */
		if (fd < 0 && errno == ENOENT)
			return 0;
		if (is_link_or_file && !unlinkat(store->findings_fd, name, 0))
			return 0;
		return store_folder_error_in(store, "remove", name, NULL, err);
	}
	while (!status && (entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(fd, entry->d_name, 0) && errno != ENOENT)
			status = store_folder_error_in(store, "clear", name, NULL, err);
	}
	(void)closedir(folder); /* the file was opened for reading */
	if (!status && unlinkat(store->findings_fd, name, AT_REMOVEDIR) && errno != ENOENT)
		status = store_folder_error_in(store, "remove", name, NULL, err);
	return status;
}

static int64_t store_folder_number(const char *name)
{
	char *end = NULL;
	int64_t number;

	if (name[0] != 'F' || name[1] < '1' || name[1] > '9')
		return 0;
	errno = 0;
	number = strtoll(name + 1, &end, 10);
	return *end || errno ? 0 : number;
}

static int store_folder_is_orphan(
	struct store *store, const char *name, bool *answer, struct error *err)
{
	const int64_t number = store_folder_number(name);
	sqlite3_stmt *statement;
	int status, result;

	*answer = !strncmp(name, TEMPORARY, strlen(TEMPORARY));
	if (!number)
		return 0;
	status = store_prepare(store, &statement, "SELECT 1 FROM findings WHERE number=?", err);
	if (status)
		return status;
	store_bind_integer(statement, 1, number);
	result = sqlite3_step(statement);
	*answer = result == SQLITE_DONE;
	if (result != SQLITE_DONE && result != SQLITE_ROW)
		status = store_error(store, "read", err);
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	return status;
}

int store_remove_orphans(struct store *store, struct error *err)
{
	const int fd = openat(store->findings_fd, ".", FOLDER_FLAGS);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int status = 0;

	if (!folder) {
		status = store_folder_error_in(store, "read", NULL, NULL, err);
		if (fd >= 0)
			(void)close(fd); /* the file was opened for reading */
		return status;
	}
	while (!status && (entry = readdir(folder))) {
		bool is_left_over;

		status = store_folder_is_orphan(store, entry->d_name, &is_left_over, err);
		if (!status && is_left_over)
			status = store_folder_remove(store, entry->d_name, err);
	}
	(void)closedir(folder); /* the file was opened for reading */
	return status;
}

struct new_folder {
	struct store *store;
	const char *name;
	int fd;
};

static int store_folder_write_file(const struct new_folder *folder, const char *name,
	const char *bytes, size_t size, struct error *err)
{
	const int fd = openat(
		folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
	int status = 0;

	if (fd < 0 || fchmod(fd, FILE_MODE) || !write_all(fd, bytes, size) || fsync(fd))
		status = store_folder_error_in(folder->store, "write", folder->name, name, err);
	if (fd >= 0 && close(fd) && !status)
		status = store_folder_error_in(folder->store, "write", folder->name, name, err);
	return status;
}

static int store_folder_write_text(const struct new_folder *folder, const char *name,
	const char *text, size_t size, struct error *err)
{
	STRBUF_SCOPED file = STRBUF_EMPTY;
	FREE_SCOPED char *stored = store_compress(text, size, &size);

	strbuf_addf(&file, "%s%s", name, stored ? STORE_COMPRESSED : "");
	return store_folder_write_file(folder, file.text, stored ? stored : text, size, err);
}

static int store_folder_fill(
	const struct new_folder *folder, const struct finding *finding, struct error *err)
{
	FREE_SCOPED char *json = finding_to_json(finding);
	char seal[SEAL_TEXT_BYTES];
	STRBUF_SCOPED schedule = STRBUF_EMPTY;
	int status = store_folder_write_text(folder, "finding.json", json, strlen(json), err);

	schedule_text_write(&finding->schedule, &schedule);
	if (!status && finding->is_own && folder->store->key) {
		seal_text(folder->store->key, json, strlen(json), seal);
		status = store_folder_write_file(folder, "seal", seal, strlen(seal), err);
	}
	if (!status)
		status = store_folder_write_text(
			folder, "schedule.txt", schedule.text, schedule.length, err);
	if (!status && finding->output)
		status = store_folder_write_file(
			folder, "output.txt", finding->output, strlen(finding->output), err);
	if (!status && finding->trace)
		status = store_folder_write_file(
			folder, "trace", finding->trace, finding->trace_size, err);
	if (!status)
		status = store_folder_sync(folder->store, folder->fd, folder->name, err);
	return status;
}

/*
 * Moves a folder atomically, if the file system can. Otherwise (EINVAL) the old folder is removed
 * first; a kill in between leaves a row without folder, which loading reports.
 */
static int store_folder_move(
	struct store *store, const char *from, const char *to, struct error *err)
{
	const int in = store->findings_fd;

	if (!renameat2(in, from, in, to, RENAME_EXCHANGE))
		return store_folder_remove(store, from, err);
	if (errno != ENOENT && errno != EINVAL)
		return store_folder_error_in(store, "write", to, NULL, err);
	if (errno == EINVAL && store_folder_remove(store, to, err))
		return ERROR_STORE;
	return renameat(in, from, in, to) ? store_folder_error_in(store, "write", to, NULL, err)
					  : 0;
}

int store_write_folder(struct store *store, const struct finding *finding, struct error *err)
{
	char name[sizeof TEMPORARY + sizeof finding->id];
	struct new_folder folder = {.store = store, .name = name, .fd = -1};
	FREE_SCOPED char *path = NULL;
	int status;

	(void)snprintf(name, sizeof name, TEMPORARY "%s", finding->id); /* sized to fit */
	path = store_path(store, "findings", name, NULL);
	status = store_folder_remove(store, name, err);
	if (!status)
		status = store_folder_make(store->findings_fd, name, path, &folder.fd, err);
	if (!status)
		status = store_folder_fill(&folder, finding, err);
	if (folder.fd >= 0)
		(void)close(folder.fd); /* every file is already synced */
	if (!status)
		status = store_folder_move(store, name, finding->id, err);
	if (!status)
		status = store_folder_sync(store, store->findings_fd, NULL, err);
	if (status)
		(void)store_folder_remove(store, name, NULL); /* a failure leaves an orphan only */
	return status;
}

char *store_finding_path(struct store *store, const char *id, const char *file)
{
	return store_folder_number(id) ? store_path(store, "findings", id, file) : NULL;
}

bool store_has_file(struct store *store, const char *id, const char *file)
{
	STRBUF_SCOPED compressed = STRBUF_EMPTY;
	int fd = store_open_file(store, id, file);

	strbuf_addf(&compressed, "%s" STORE_COMPRESSED, file);
	if (fd < 0 && errno == ENOENT)
		fd = store_open_file(store, id, compressed.text);
	if (fd >= 0)
		(void)close(fd); /* the file was opened for reading */
	return fd >= 0 || errno != ENOENT;
}

int store_open_file(struct store *store, const char *id, const char *file)
{
	struct stat status;
	const int folder =
		store->findings_fd < 0 ? -1 : openat(store->findings_fd, id, FOLDER_FLAGS);
	const int fd = folder < 0 ? -1 : regular_file_open(folder, file, false, &status);
	const int cause = store->findings_fd < 0 ? ENOENT : errno;

	if (folder >= 0)
		(void)close(folder); /* the folder was opened for reading */
	errno = cause;
	return fd;
}
