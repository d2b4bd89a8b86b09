#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"
#include "store/store_seal.h"

struct store_aside;

#define STORE_VERSION 4

struct store {
	/* NULL for a store on disk; otherwise the store is in memory, and the other fields are
	 * empty */
	struct store_aside *aside;
	enum store_access access;
	sqlite3 *database;
	char *folder;	      /* <directory>/.raddle */
	int folder_fd;	      /* descriptor of `folder`; -1: not open */
	int findings_fd;      /* descriptor of findings/; -1: no such folder */
	struct seal_key *key; /* NULL if nothing is sealed and no seal is valid */
	unsigned progress;    /* number of progress callbacks of the last statement */
	char *copy;	      /* folder of the private copy of the database; NULL if none */
};

extern const char store_schema[];

/* ---- store.c ---- */

/* Sets the database's last error as one line: cannot <doing> <folder>. Returns the code. */
int store_error(struct store *store, const char *doing, struct error *err);
int store_execute(struct store *store, const char *sql, const char *doing, struct error *err);
int store_prepare(
	struct store *store, sqlite3_stmt **statement, const char *sql, struct error *err);
/* Returns the first value of the statement's only row. */
int store_read_integer(struct store *store, const char *sql, int64_t *value, struct error *err);
void store_bind_text(sqlite3_stmt *statement, int index, const char *text);
void store_bind_integer(sqlite3_stmt *statement, int index, int64_t value);
/* Returns the text of a column, "" for NULL. The text is valid until the next step of the
 * statement. */
const char *store_column(sqlite3_stmt *statement, int column);
/* Returns a copy of the column's text, which the caller frees; NULL for NULL. */
char *store_column_text(sqlite3_stmt *statement, int column);
/* Returns a copy as one line filtered by base/visible.h, "" for NULL; for columns that are
 * displayed. */
char *store_column_line(sqlite3_stmt *statement, int column);
/* Ends a transaction: commits when status is 0, else rolls back and returns status. */
int store_end(struct store *store, int status, struct error *err);

/* ---- store_aside.c: a store in memory ---- */

void store_aside_begin(struct store_aside *aside, struct store_campaign *campaign);
void store_aside_update(struct store_aside *aside, const struct store_campaign *campaign);
void store_aside_add(struct store_aside *aside, int64_t campaign, struct finding *finding);
void store_aside_count(struct store_aside *aside, const char *id, uint64_t times);
void store_aside_free(struct store_aside *aside);

/* ---- store_finding.c ---- */

/* Limit on finding.json, which contains the schedule. */
#define FINDING_BYTES_MAX ((size_t)32 << 20)

/* Reads a file of at most `limit` bytes, compressed or not. The caller frees the text, which ends
 * with an extra 0. */
int store_read_file(struct store *store, const char *const name[2], size_t limit, char **text,
	size_t *size, struct error *err);

/* Adds a row inside a transaction. `program`: the command with its folder; NULL means any. `times`:
 * how often the finding was seen. */
int store_put_finding(struct store *store, int64_t campaign, struct finding *finding,
	const char *program, uint64_t times, bool *is_new, struct error *err);

/* ---- store_document.c ---- */

/* Adds a document inside a transaction; the newer one of a kind is kept. */
int store_put_document(
	struct store *store, const struct store_document *document, struct error *err);

/* ---- store_database.c: the database file, which another user may have made ---- */

/* Opens raddle.db for store->access, with SQLite's protection against hostile files. */
int store_connect(struct store *store, struct error *err);
/* Refuses any table, index, view or trigger that store_schema does not make. */
int store_check_schema(struct store *store, struct error *err);
/* Removes the private copy, if one was made. The database must be closed before. */
void store_remove_copy(struct store *store);

/* ---- store_folder.c ---- */

/* Opens folder_fd and findings_fd. STORE_WRITE creates missing folders and syncs `directory`. */
int store_open_folders(struct store *store, const char *directory, struct error *err);
/* Opens a regular file of finding `id` for reading; -1 and errno on failure. */
int store_open_file(struct store *store, const char *id, const char *file);
/* Returns false if the finding has no such file, neither as it is nor compressed. */
bool store_has_file(struct store *store, const char *id, const char *file);
/* Removes folders of findings that the database does not list. The caller holds the write lock. */
int store_remove_orphans(struct store *store, struct error *err);
/* Writes the finding's folder under a temporary name, syncs it, and moves it into place, exchanging
 * an older one. Until the transaction commits, the folder is an orphan. The caller holds the write
 * lock and has set the id. */
int store_write_folder(struct store *store, const struct finding *finding, struct error *err);
