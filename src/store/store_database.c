/*
 * The database file of a store that may belong to another user (docs/security.md).
 *
 * SQLite acts on the content of a file: a rollback journal can name a super-journal, which SQLite
 * then deletes; a schema can hold views and triggers. This file refuses files that raddle never
 * writes before SQLite sees them. It opens all others with SQLite's own protection for untrusted
 * files, and compares the schema with raddle's.
 *
 * Reading writes nothing into the store: the journal of a killed raddle is rolled back in a private
 * copy of both files.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/files/regular_file.h"
#include "store/store_internal.h"

#define DATABASE "raddle.db"
#define JOURNAL DATABASE "-journal"
/* Time to wait for the lock. A process holds it for the few fsyncs of one finding, far less than
 * this on slow disks. */
#define BUSY_MS 20000
/* Limit on steps of SQLite's machine per statement, in callbacks. A store of 100,000 findings takes
 * some 4 million steps. */
#define PROGRESS_EVERY 100000
#define PROGRESS_LIMIT 300
/* Limit on the size of a value. The largest ones are documents of campaigns, of some megabytes. */
#define VALUE_BYTES_MAX (64 << 20)

static int store_database_refuse(
	struct store *store, const char *file, const char *why, struct error *err)
{
	return error_set(err, ERROR_STORE,
		"%s/%s %s, which raddle never writes; move that folder away", store->folder, file,
		why);
}

/* Opens a regular file; *fd is -1 if it does not exist. Fails for any other kind of file. */
static int store_database_open_file(
	struct store *store, const char *name, int *fd, struct error *err)
{
	struct stat status;

	*fd = regular_file_open(store->folder_fd, name, false, &status);
	/* SQLite reports why a file cannot be opened. */
	if (*fd >= 0 || errno == ENOENT || errno == EACCES)
		return 0;
	return store_database_refuse(store, name, "is no regular file", err);
}

/* Refuses a database in write-ahead mode, for which SQLite would create and map further files in
 * the store. */
static int store_database_check_header(struct store *store, int fd, struct error *err)
{
	unsigned char header[20];
	const ssize_t got = pread(fd, header, sizeof header, 0);

	/* A file that is too short or no database passes here; SQLite itself reports it. */
	if (got < (ssize_t)sizeof header || memcmp(header, "SQLite format 3", 16) != 0)
		return 0;
	if (header[18] <= 1 && header[19] <= 1)
		return 0;
	return store_database_refuse(store, DATABASE, "has a write-ahead log", err);
}

/* Refuses a journal that names a super-journal, which SQLite may delete
 * (www.sqlite.org/fileformat.html#the_rollback_journal). */
static int store_database_check_journal(struct store *store, int fd, struct error *err)
{
	static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	unsigned char end[sizeof magic];
	struct stat status;

	if (fstat(fd, &status) || status.st_size < (off_t)sizeof end)
		return 0;
	if (pread(fd, end, sizeof end, status.st_size - (off_t)sizeof end) != (ssize_t)sizeof end ||
		memcmp(end, magic, sizeof magic) != 0)
		return 0;
	return store_database_refuse(store, JOURNAL, "names a super-journal", err);
}

static int store_database_check_files(struct store *store, struct error *err)
{
	static const char *const never[] = {DATABASE "-wal", DATABASE "-shm"};
	int fd, status = store_database_open_file(store, DATABASE, &fd, err);

	if (!status && fd >= 0) {
		status = store_database_check_header(store, fd, err);
		(void)close(fd); /* the file was opened for reading */
	}
	for (size_t i = 0; !status && i < sizeof never / sizeof *never; i++)
		if (!faccessat(store->folder_fd, never[i], F_OK, AT_SYMLINK_NOFOLLOW))
			status =
				store_database_refuse(store, never[i], "is a write-ahead log", err);
	if (!status)
		status = store_database_open_file(store, JOURNAL, &fd, err);
	if (!status && fd >= 0) {
		status = store_database_check_journal(store, fd, err);
		(void)close(fd); /* the file was opened for reading */
	}
	return status;
}

/* Creates the database with mode 0600: SQLite would apply the umask only, and gives the journal the
 * same mode. */
static void store_database_create(struct store *store)
{
	const int fd = openat(store->folder_fd, DATABASE,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return;		/* the file exists, or SQLite reports the error */
	(void)fchmod(fd, 0600); /* may fail: some file systems have no modes */
	(void)close(fd);	/* empty */
}

static int store_database_count_progress(void *count)
{
	return ++*(unsigned *)count > PROGRESS_LIMIT;
}

/* Protects against hostile files as in https://www.sqlite.org/security.html, "Untrusted SQLite
 * Database Files". */
static void store_database_protect(struct store *store)
{
	sqlite3 *database = store->database;

	/* These calls cannot fail on an open database. */
	(void)sqlite3_busy_timeout(database, BUSY_MS);
	(void)sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	(void)sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	(void)sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	(void)sqlite3_limit(database, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
	(void)sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
	store->progress = 0;
	sqlite3_progress_handler(
		database, PROGRESS_EVERY, store_database_count_progress, &store->progress);
}

static int store_database_open_at(
	struct store *store, const char *folder, int flags, struct error *err)
{
	FREE_SCOPED char *path = NULL;
	int status;

	BUG_ON(asprintf(&path, "%s/" DATABASE, folder) < 0);
	status = sqlite3_open_v2(path, &store->database, flags | SQLITE_OPEN_NOFOLLOW, NULL);
	if (status != SQLITE_OK)
		return store_error(store, "open", err);
	store_database_protect(store);
	return store_execute(store, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", "open", err);
}

static bool store_database_copy_file(struct store *store, const char *name)
{
	FREE_SCOPED char *path = NULL;
	int from, to;
	ssize_t got = -1;

	BUG_ON(asprintf(&path, "%s/%s", store->copy, name) < 0);
	from = openat(store->folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	while (from >= 0 && to >= 0 && (got = sendfile(to, from, NULL, 1 << 30)) > 0)
		continue;
	if (from >= 0)
		(void)close(from); /* the file was opened for reading */
	if (to >= 0 && close(to))
		got = -1;
	return got == 0;
}

/* Opens a copy of the database, which rolls the copy's journal back. No raddle writes to the
 * originals meanwhile. */
static int store_database_open_copy(struct store *store, struct error *err)
{
	const char *temporary = getenv("TMPDIR");

	BUG_ON(sqlite3_close(store->database) != SQLITE_OK);
	store->database = NULL;
	BUG_ON(asprintf(&store->copy, "%s/raddle-store.XXXXXX", temporary ? temporary : "/tmp") <
		0);
	if (!mkdtemp(store->copy)) {
		free(store->copy);
		store->copy = NULL;
		return error_set(err, ERROR_STORE,
			"%s was left by a raddle that was killed, and there is no room for a copy of "
			"it (%s); free some space or set TMPDIR",
			store->folder, strerror(errno));
	}
	if (!store_database_copy_file(store, DATABASE) || !store_database_copy_file(store, JOURNAL))
		return error_set(err, ERROR_STORE,
			"%s was left by a raddle that was killed, and cannot be copied to %s; free some space or set TMPDIR",
			store->folder, store->copy);
	return store_database_open_at(store, store->copy, SQLITE_OPEN_READWRITE, err);
}

void store_remove_copy(struct store *store)
{
	static const char *const files[] = {DATABASE, JOURNAL};

	if (!store->copy)
		return;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		FREE_SCOPED char *path = NULL;

		BUG_ON(asprintf(&path, "%s/%s", store->copy, files[i]) < 0);
		(void)unlink(path); /* fails if the file was never copied */
	}
	(void)rmdir(store->copy); /* a failure leaves a temporary folder only */
	free(store->copy);
	store->copy = NULL;
}

/* Opens the database. sqlite3_open_v2() does not access the file yet. Returns SQLite's extended
 * result code. */
static int store_database_look(struct store *store)
{
	(void)sqlite3_exec(store->database, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
	return sqlite3_extended_errcode(store->database);
}

int store_connect(struct store *store, struct error *err)
{
	const int flags =
		store->access == STORE_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	char path[PATH_MAX];
	int status = store_database_check_files(store, err);

	if (status)
		return status;
	/* SQLITE_OPEN_NOFOLLOW refuses all links in the path, so the path is resolved first: links
	 * above the store are permitted. */
	if (!realpath(store->folder, path))
		return error_set(err, ERROR_STORE, "cannot open %s: %s; move it to a shorter path",
			store->folder, strerror(errno));
	if (store->access == STORE_WRITE)
		store_database_create(store);
	status = store_database_open_at(store, path, flags, err);
	if (!status && store->access == STORE_READ &&
		store_database_look(store) == SQLITE_READONLY_ROLLBACK)
		status = store_database_open_copy(store, err);
	return status;
}

static const char schema_query[] =
	"SELECT group_concat(type || char(9) || name || char(9) || tbl_name || char(9) ||"
	" coalesce(sql, ''), char(10)) FROM (SELECT * FROM sqlite_schema ORDER BY type, name)";

/* Returns all entries of the schema as one text, which the caller frees; NULL if unreadable. */
static char *store_database_schema_text(sqlite3 *database)
{
	sqlite3_stmt *statement;
	char *text = NULL;

	if (sqlite3_prepare_v2(database, schema_query, -1, &statement, NULL) != SQLITE_OK)
		return NULL;
	if (sqlite3_step(statement) == SQLITE_ROW)
		text = store_column_text(statement, 0);
	(void)sqlite3_finalize(statement); /* a NULL result reports the failure */
	return text;
}

int store_check_schema(struct store *store, struct error *err)
{
	sqlite3 *fresh;
	char *expected, *found;
	bool is_same;

	BUG_ON(sqlite3_open(":memory:", &fresh) != SQLITE_OK);
	BUG_ON(sqlite3_exec(fresh, store_schema, NULL, NULL, NULL) != SQLITE_OK);
	expected = store_database_schema_text(fresh);
	found = store_database_schema_text(store->database);
	BUG_ON(!expected);
	is_same = found && !strcmp(expected, found);
	free(expected);
	free(found);
	BUG_ON(sqlite3_close(fresh) != SQLITE_OK);
	if (is_same)
		return 0;
	return store_database_refuse(store, DATABASE, "has other tables, views or triggers", err);
}
