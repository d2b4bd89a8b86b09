/*
 * The database side of the store. A finding's folder is written and moved into place while the
 * transaction holds the write lock (store_folder.c). A folder without a row was left by a killed
 * process.
 *
 * The database uses a rollback journal, not WAL: a store on a read-only medium stays readable.
 * synchronous=EXTRA: a commit, including the removal of its journal, is on disk before a finding is
 * reported.
 */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "base/visible.h"
#include "store/store_internal.h"

#define STORE_APPLICATION 1919181932 /* "rddl" */
#define AS_TEXT(number) #number
#define PRAGMA_TEXT(name, number) "PRAGMA " name "=" AS_TEXT(number) ";"
const char store_schema[] =
	"CREATE TABLE campaigns(id INTEGER PRIMARY KEY AUTOINCREMENT, command TEXT, options TEXT,"
	" strategy TEXT, seed TEXT NOT NULL, runs INTEGER NOT NULL, failures INTEGER NOT NULL,"
	" steps INTEGER NOT NULL, seconds REAL NOT NULL, state TEXT, restart TEXT,"
	" started INTEGER NOT NULL, run_first INTEGER NOT NULL DEFAULT 0,"
	" run_end INTEGER NOT NULL DEFAULT 0, target TEXT, course TEXT);"
	"CREATE TABLE findings(number INTEGER PRIMARY KEY AUTOINCREMENT, signature TEXT NOT NULL,"
	" program TEXT NOT NULL, kind TEXT NOT NULL, title TEXT, command TEXT,"
	" times_seen INTEGER NOT NULL, campaign INTEGER NOT NULL, found INTEGER NOT NULL,"
	" preemptions INTEGER NOT NULL, switches INTEGER NOT NULL, steps INTEGER NOT NULL, UNIQUE(program, signature));"
	"CREATE TABLE documents(number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL,"
	" campaign INTEGER NOT NULL, finding INTEGER NOT NULL, made INTEGER NOT NULL,"
	" text TEXT NOT NULL, UNIQUE(kind, campaign, finding));" PRAGMA_TEXT(
		"application_id", STORE_APPLICATION) PRAGMA_TEXT("user_version", STORE_VERSION);

int store_error(struct store *store, const char *doing, struct error *err)
{
	const char *cause = sqlite3_errmsg(store->database);
	const char *remedy = "check the disk and the permissions of that folder";

	switch (sqlite3_errcode(store->database) & 0xff) {
	case SQLITE_FULL:
		cause = "no space left on the disk";
		remedy = "free some space and start again";
		break;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		cause = "it cannot be written";
		remedy = "make that folder writable or work in another one";
		break;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		cause = "the database is damaged";
		remedy = "move that folder away; its findings/ folders can still be read";
		break;
	case SQLITE_INTERRUPT:
		cause = "the database keeps SQLite busy without an end";
		remedy = "move that folder away; its findings/ folders can still be read";
		break;
	case SQLITE_CANTOPEN:
		cause = strerror(sqlite3_system_errno(store->database));
		if (sqlite3_system_errno(store->database) == EMFILE)
			remedy = "raise ulimit -n";
		break;
	case SQLITE_BUSY:
		cause = "another raddle keeps it locked";
		remedy = "wait until that one has ended";
		break;
	case SQLITE_NOMEM:
		return error_set(err, ERROR_NOMEM, "cannot %s %s: out of memory; close something",
			doing, store->folder);
	}
	return error_set(
		err, ERROR_STORE, "cannot %s %s: %s; %s", doing, store->folder, cause, remedy);
}

int store_execute(struct store *store, const char *sql, const char *doing, struct error *err)
{
	return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : store_error(store, doing, err);
}

int store_prepare(struct store *store, sqlite3_stmt **statement, const char *sql, struct error *err)
{
	store->progress = 0;
	return sqlite3_prepare_v2(store->database, sql, -1, statement, NULL) == SQLITE_OK
		       ? 0
		       : store_error(store, "use", err);
}

/* Fails only for a wrong index or a string beyond 1 GB. */
void store_bind_text(sqlite3_stmt *statement, int index, const char *text)
{
	BUG_ON(sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT) != SQLITE_OK);
}

void store_bind_integer(sqlite3_stmt *statement, int index, int64_t value)
{
	BUG_ON(sqlite3_bind_int64(statement, index, value) != SQLITE_OK);
}

const char *store_column(sqlite3_stmt *statement, int column)
{
	const unsigned char *text = sqlite3_column_text(statement, column);

	return text ? (const char *)text : "";
}

char *store_column_text(sqlite3_stmt *statement, int column)
{
	return string_copy((const char *)sqlite3_column_text(statement, column));
}

char *store_column_line(sqlite3_stmt *statement, int column)
{
	return visible_text(store_column(statement, column), false);
}

int store_read_integer(struct store *store, const char *sql, int64_t *value, struct error *err)
{
	sqlite3_stmt *statement;
	int status = store_prepare(store, &statement, sql, err);

	*value = 0;
	if (status)
		return status;
	if (sqlite3_step(statement) == SQLITE_ROW)
		*value = sqlite3_column_int64(statement, 0);
	else
		status = store_error(store, "read", err);
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	return status;
}

static int store_check_version(struct store *store, int64_t version, struct error *err)
{
	int64_t application;
	int status = store_read_integer(store, "PRAGMA application_id", &application, err);

	if (status)
		return status;
	if (application != STORE_APPLICATION || version < 1)
		return error_set(err, ERROR_STORE,
			"%s/raddle.db is a database, but not raddle's; move it away",
			store->folder);
	if (version != STORE_VERSION)
		return error_set(err, ERROR_VERSION,
			"%s was written by %s raddle (store version %" PRId64
			", this one reads %d); use that raddle or move the folder away",
			store->folder, version > STORE_VERSION ? "a newer" : "an older", version,
			STORE_VERSION);
	return 0;
}

/* Accepts a database of this version, and sets is_empty for one without tables. */
static int store_check_contents(struct store *store, bool *is_empty, struct error *err)
{
	int64_t version = 0, tables = 0;
	int status = store_read_integer(store, "PRAGMA user_version", &version, err);

	if (!status)
		status = store_read_integer(
			store, "SELECT count(*) FROM sqlite_schema", &tables, err);
	*is_empty = !status && !version && !tables;
	if (!status && !*is_empty)
		status = store_check_version(store, version, err);
	return status || *is_empty ? status : store_check_schema(store, err);
}

/* Creates the schema under the write lock, so that only one of two processes fills an empty
 * database. */
static int store_fill_schema(struct store *store, struct error *err)
{
	bool is_empty;
	const int status = store_check_contents(store, &is_empty, err);

	return is_empty ? store_execute(store, store_schema, "make", err) : status;
}

static int store_check_integrity(struct store *store, struct error *err)
{
	sqlite3_stmt *statement;
	bool is_sound = false;
	int result, status = store_prepare(store, &statement, "PRAGMA quick_check(1)", err);

	if (status)
		return status;
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		is_sound = !strcmp(store_column(statement, 0), "ok");
	else if (result == SQLITE_INTERRUPT)
		status = store_error(store, "read", err);
	(void)sqlite3_finalize(statement); /* failures show in is_sound */
	if (is_sound || status)
		return status;
	return error_set(err, ERROR_STORE,
		"the database %s/raddle.db is damaged; move that folder away; its findings/ folders can still be read",
		store->folder);
}

/* Treats an empty file as an empty store. It is no error for a reader: a raddle that is killed
 * before its first commit leaves one. */
static int store_read_as_empty(struct store *store, struct error *err)
{
	BUG_ON(sqlite3_close(store->database) != SQLITE_OK);
	BUG_ON(sqlite3_open(":memory:", &store->database) != SQLITE_OK);
	return store_execute(store, store_schema, "make", err);
}

static int store_prepare_reading(struct store *store, struct error *err)
{
	bool is_empty;
	const int status = store_check_contents(store, &is_empty, err);

	return is_empty ? store_read_as_empty(store, err) : status;
}

static int store_prepare_writing(struct store *store, struct error *err)
{
	int status = store_execute(
		store, "PRAGMA synchronous=EXTRA; PRAGMA foreign_keys=OFF", "open", err);

	if (!status)
		status = store_execute(store, "BEGIN IMMEDIATE", "open", err);
	if (status)
		return status;
	status = store_fill_schema(store, err);
	if (!status)
		status = store_remove_orphans(store, err);
	return store_end(store, status, err);
}

int store_end(struct store *store, int status, struct error *err)
{
	if (!status)
		status = store_execute(store, "COMMIT", "write to", err);
	if (status && !sqlite3_get_autocommit(store->database))
		(void)sqlite3_exec(store->database, "ROLLBACK", NULL, NULL,
			NULL); /* the first error is reported; closing rolls back, too */
	return status;
}

/* Returns whether the store is writable. SQLite opens a file without write permission for reading,
 * and reports no error. */
static bool store_is_writable(struct store *store)
{
	return sqlite3_db_readonly(store->database, "main") == 0 &&
	       !faccessat(store->folder_fd, ".", W_OK, 0) &&
	       !faccessat(store->findings_fd, ".", W_OK, 0);
}

static int store_open_database(struct store *store, struct error *err)
{
	int status = store_connect(store, err);

	if (status)
		return status;
	if (store->access == STORE_READ)
		status = store_prepare_reading(store, err);
	else if (store_is_writable(store))
		status = store_prepare_writing(store, err);
	else
		status = error_set(err, ERROR_STORE,
			"cannot write to %s: it or a file in it is read-only; make that folder writable or work in another one",
			store->folder);
	return status ? status : store_check_integrity(store, err);
}

int store_open(
	struct store **out, const char *directory, enum store_access access, struct error *err)
{
	struct store *store = array_new(1, sizeof *store);
	int status;

	store->access = access;
	store->folder_fd = store->findings_fd = -1;
	BUG_ON(asprintf(&store->folder, "%s/.raddle", directory) < 0);
	store->key = seal_key_open(access == STORE_WRITE);
	status = store_open_folders(store, directory, err);
	if (!status)
		status = store_open_database(store, err);
	if (status)
		store_close(store);
	else
		*out = store;
	return status;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	store_aside_free(store->aside);
	/* fails if a statement was left open */
	BUG_ON(sqlite3_close(store->database) != SQLITE_OK);
	store_remove_copy(store);
	seal_key_free(store->key);
	if (store->folder_fd >= 0)
		(void)close(store->folder_fd); /* every change is already synced */
	if (store->findings_fd >= 0)
		(void)close(store->findings_fd);
	free(store->folder);
	free(store);
}

static void store_bind_progress(sqlite3_stmt *statement, const struct store_campaign *campaign)
{
	char seed[24];

	(void)snprintf(seed, sizeof seed, "%" PRIu64, campaign->seed); /* 20 digits at most */
	store_bind_text(statement, 1, campaign->strategy);
	store_bind_text(statement, 2, seed);
	store_bind_integer(statement, 3, (int64_t)campaign->runs);
	store_bind_integer(statement, 4, (int64_t)campaign->failures);
	store_bind_integer(statement, 5, (int64_t)campaign->steps);
	BUG_ON(sqlite3_bind_double(statement, 6, campaign->seconds) != SQLITE_OK);
	store_bind_text(statement, 7, campaign->state);
	store_bind_text(statement, 8, campaign->restart);
	store_bind_integer(statement, 9, (int64_t)campaign->run_end);
	store_bind_text(statement, 10, campaign->course);
}

int store_campaign_begin(struct store *store, struct store_campaign *campaign, struct error *err)
{
	sqlite3_stmt *statement;
	char target[17];
	int status;

	if (store->aside) {
		store_aside_begin(store->aside, campaign);
		return 0;
	}
	status = store_prepare(store, &statement,
		"INSERT INTO campaigns(strategy, seed, runs, failures, steps, seconds, state,"
		" restart, run_end, course, command, options, started, run_first, target)"
		" VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		err);
	if (status)
		return status;
	store_bind_progress(statement, campaign);
	(void)snprintf(target, sizeof target, "%016" PRIx64, campaign->target); /* 16 digits */
	store_bind_text(statement, 11, campaign->command);
	store_bind_text(statement, 12, campaign->options);
	store_bind_integer(statement, 13, campaign->started);
	store_bind_integer(statement, 14, (int64_t)campaign->run_first);
	store_bind_text(statement, 15, target);
	if (sqlite3_step(statement) == SQLITE_DONE)
		campaign->id = sqlite3_last_insert_rowid(store->database);
	else
		status = store_error(store, "write to", err);
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	return status;
}

int store_campaign_update(
	struct store *store, const struct store_campaign *campaign, struct error *err)
{
	sqlite3_stmt *statement;
	int status;

	if (store->aside) {
		store_aside_update(store->aside, campaign);
		return 0;
	}
	status = store_prepare(store, &statement,
		"UPDATE campaigns SET strategy=?, seed=?, runs=?, failures=?, steps=?, seconds=?,"
		" state=?, restart=?, run_end=?, course=? WHERE id=?",
		err);
	if (status)
		return status;
	store_bind_progress(statement, campaign);
	store_bind_integer(statement, 11, campaign->id);
	if (sqlite3_step(statement) != SQLITE_DONE)
		status = store_error(store, "write to", err);
	else if (!sqlite3_changes(store->database))
		status = error_set(err, ERROR_NOTFOUND,
			"the store %s has no campaign %" PRId64 "; it was removed in the meantime",
			store->folder, campaign->id);
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	return status;
}

void store_campaign_release(struct store_campaign *campaign)
{
	free(campaign->command);
	free(campaign->options);
	free(campaign->strategy);
	free(campaign->state);
	free(campaign->restart);
	free(campaign->course);
	*campaign = (struct store_campaign){0};
}
