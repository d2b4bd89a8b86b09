/*
 * The folders of the store: findings/F1/ with finding.json, schedule.txt, output.txt and trace. A folder is complete and synced before it gets its name.
 *
 *   kill while the temporary folder is written    leaves a .new-F1: an orphan
 *   kill between the rename and the commit        leaves an F1 without row: an orphan
 *   kill inside the exchange (known finding)      leaves the old folder or the new one, whole
 *   kill after the exchange                       leaves the old one as .new-F1: an orphan
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "campaign/store_internal.h"
#include "trace/schedule_text.h"

#define TEMPORARY ".new-"

char *store_path(struct store *store, const char *a, const char *b, const char *c)
{
	const char *const parts[] = {a, b, c};
	struct strbuf path;

	strbuf_init(&path);
	strbuf_adds(&path, store->folder);
	for (int i = 0; i < 3 && parts[i]; i++)
		strbuf_addf(&path, "/%s", parts[i]);
	return strbuf_detach(&path);
}

/* Of the files in the folder and in the folders in it, `levels` deep; what cannot be read counts nothing. */
static uint64_t folder_bytes(const char *path, int levels)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	uint64_t bytes = 0;

	while (folder && (entry = readdir(folder))) {
		struct stat status;

		if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (S_ISREG(status.st_mode)) {
			bytes += (uint64_t)status.st_size;
		} else if (S_ISDIR(status.st_mode) && levels && entry->d_name[0] != '.') {
			struct strbuf inner;

			strbuf_init(&inner);
			strbuf_addf(&inner, "%s/%s", path, entry->d_name);
			bytes += folder_bytes(inner.text, levels - 1);
			strbuf_release(&inner);
		}
	}
	if (folder)
		(void)closedir(folder); /* only read from */
	return bytes;
}

uint64_t store_bytes(struct store *store)
{
	return store->aside ? 0 : folder_bytes(store->folder, 2);
}

static int folder_error(const char *doing, const char *path, struct error *err)
{
	const int cause = errno;
	const char *remedy = "check the permissions of that folder";

	if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
		remedy = "free some space and start again";
	else if (cause == EROFS || cause == EACCES || cause == EPERM)
		remedy = "make that folder writable or work in another one";
	else if (cause == ENOENT || cause == ENOTDIR)
		remedy = "make the folder around it first";
	else if (cause == EIO)
		remedy = "check the disk";
	return error_set(
		err, ERROR_STORE, "cannot %s %s: %s; %s", doing, path, strerror(cause), remedy);
}

int store_make_folder(const char *path, struct error *err)
{
	struct stat status;

	if (!mkdir(path, 0777))
		return 0;
	if (errno != EEXIST || stat(path, &status))
		return folder_error("make the store", path, err);
	if (S_ISDIR(status.st_mode))
		return 0;
	return error_set(err, ERROR_STORE,
		"cannot make the store %s: a file of that name is in the way; move it away", path);
}

int store_sync_folder(const char *path, struct error *err)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status = 0;

	if (fd < 0)
		return folder_error("open", path, err);
	/* EINVAL: this file system cannot sync folders, and needs no syncing of them. */
	if (fsync(fd) && errno != EINVAL)
		status = folder_error("write", path, err);
	(void)close(fd); /* nothing is written through it */
	return status;
}

/* Removes a folder of files; folders inside it are none of ours and make it fail. */
static int remove_folder(const char *path, struct error *err)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int status = 0;

	if (!folder)
		return errno == ENOENT ? 0 : folder_error("remove", path, err);
	while (!status && (entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dirfd(folder), entry->d_name, 0) && errno != ENOENT)
			status = folder_error("clear", path, err);
	}
	(void)closedir(folder); /* only read from */
	if (!status && rmdir(path) && errno != ENOENT)
		status = folder_error("remove", path, err);
	return status;
}

/* ---- orphans ---- */

/* The number in "F12"; 0 when the name is not of that form. */
static int64_t finding_number(const char *name)
{
	char *end = NULL;
	int64_t number;

	if (name[0] != 'F' || name[1] < '1' || name[1] > '9')
		return 0;
	errno = 0;
	number = strtoll(name + 1, &end, 10);
	return *end || errno ? 0 : number;
}

static int is_orphan(struct store *store, const char *name, bool *answer, struct error *err)
{
	const int64_t number = finding_number(name);
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
	DIR *folder = opendir(store->findings);
	struct dirent *entry;
	int status = 0;

	if (!folder)
		return errno == ENOENT ? 0 : folder_error("read", store->findings, err);
	while (!status && (entry = readdir(folder))) {
		bool answer;

		status = is_orphan(store, entry->d_name, &answer, err);
		if (!status && answer) {
			char *path = store_path(store, "findings", entry->d_name, NULL);

			status = remove_folder(path, err);
			free(path);
		}
	}
	(void)closedir(folder); /* only read from */
	return status;
}

/* ---- writing a finding ---- */

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		const ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return -1;
		bytes += written;
		size -= (size_t)written;
	}
	return 0;
}

static int write_file(
	const char *folder, const char *name, const char *bytes, size_t size, struct error *err)
{
	char *path;
	int fd, status = 0;

	BUG_ON(asprintf(&path, "%s/%s", folder, name) < 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 || write_all(fd, bytes, size) || fsync(fd))
		status = folder_error("write", path, err);
	if (fd >= 0 && close(fd) && !status)
		status = folder_error("write", path, err);
	free(path);
	return status;
}

static int fill_folder(const char *folder, const struct finding *finding, struct error *err)
{
	char *json = finding_to_json(finding);
	struct strbuf schedule;
	int status = store_make_folder(folder, err);

	strbuf_init(&schedule);
	schedule_text_write(&finding->schedule, &schedule);
	if (!status)
		status = write_file(folder, "finding.json", json, strlen(json), err);
	if (!status)
		status = write_file(folder, "schedule.txt", schedule.text, schedule.length, err);
	if (!status && finding->output)
		status = write_file(
			folder, "output.txt", finding->output, strlen(finding->output), err);
	if (!status && finding->trace)
		status = write_file(folder, "trace", finding->trace, finding->trace_size, err);
	if (!status)
		status = store_sync_folder(folder, err);
	strbuf_release(&schedule);
	free(json);
	return status;
}

/*
 * Moves the new folder to its name. A finding that is replaced changes hands in one step; a file
 * system without that step (EINVAL) gets the new folder after the old one has gone, and a kill
 * just there leaves the row with an empty place, which loading reports.
 */
static int move_folder(const char *from, const char *to, struct error *err)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE))
		return remove_folder(from, err);
	if (errno != ENOENT && errno != EINVAL)
		return folder_error("write", to, err);
	if (errno == EINVAL && remove_folder(to, err))
		return ERROR_STORE;
	return rename(from, to) ? folder_error("write", to, err) : 0;
}

int store_write_folder(struct store *store, const struct finding *finding, struct error *err)
{
	char name[sizeof TEMPORARY + sizeof finding->id];
	char *temporary, *final;
	int status;

	(void)snprintf(name, sizeof name, TEMPORARY "%s", finding->id); /* sized to fit */
	temporary = store_path(store, "findings", name, NULL);
	final = store_path(store, "findings", finding->id, NULL);
	status = remove_folder(temporary, err);
	if (!status)
		status = fill_folder(temporary, finding, err);
	if (!status)
		status = move_folder(temporary, final, err);
	if (!status)
		status = store_sync_folder(store->findings, err);
	if (status)
		(void)remove_folder(temporary, NULL); /* an orphan at worst */
	free(temporary);
	free(final);
	return status;
}

char *store_finding_path(struct store *store, const char *id, const char *file)
{
	return finding_number(id) ? store_path(store, "findings", id, file) : NULL;
}
