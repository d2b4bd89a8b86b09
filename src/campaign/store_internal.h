/* What the files of the store share: the open store, its statements and its folders. */
#ifndef RADDLE_CAMPAIGN_STORE_INTERNAL_H
#define RADDLE_CAMPAIGN_STORE_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "campaign/store.h"

struct store_aside;

struct store {
	struct store_aside *aside; /* NULL: it is a real one; else the rest is empty */
	sqlite3 *database;
	char *folder;	/* <directory>/.raddle */
	char *findings; /* <folder>/findings */
	int64_t version;
};

/* ---- store.c ---- */

/* The database's last error as one line: cannot <doing> <folder>. */
int store_error(struct store *store, const char *doing, struct error *err);
int store_execute(struct store *store, const char *sql, const char *doing, struct error *err);
int store_prepare(
	struct store *store, sqlite3_stmt **statement, const char *sql, struct error *err);
void store_bind_text(sqlite3_stmt *statement, int index, const char *text);
void store_bind_integer(sqlite3_stmt *statement, int index, int64_t value);
/* A copy, NULL for NULL. */
char *store_column_text(sqlite3_stmt *statement, int column);
/* Ends a transaction: commits when status is 0, else rolls back and returns status. */
int store_end(struct store *store, int status, struct error *err);

/* ---- store_aside.c: where a store is none ---- */

void store_aside_begin(struct store_aside *aside, struct store_campaign *campaign);
void store_aside_update(struct store_aside *aside, const struct store_campaign *campaign);
void store_aside_add(struct store_aside *aside, int64_t campaign, struct finding *finding);
void store_aside_free(struct store_aside *aside);

/* ---- store_finding.c ---- */

/* A file of the store as it is, to be freed; ends with a 0 that does not count. */
int store_read_file(const char *path, char **text, size_t *size, struct error *err);

/* Inside a transaction. `program`: whose it is, with its folder; NULL: whosever. Seen so many times. */
int store_put_finding(struct store *store, int64_t campaign, struct finding *finding,
	const char *program, uint64_t times, bool *is_new, struct error *err);

/* ---- store_document.c ---- */

/* Inside a transaction; of two the newer one is kept. */
int store_put_document(
	struct store *store, const struct store_document *document, struct error *err);

/* ---- store_folder.c: all but the first three with the write lock held ---- */

/* <folder>/a/b/c up to the first NULL, to be freed. */
char *store_path(struct store *store, const char *a, const char *b, const char *c);
int store_make_folder(const char *path, struct error *err);
/* Makes what was created or renamed in a folder survive a power cut. */
int store_sync_folder(const char *path, struct error *err);
/* Removes folders of findings that no row tells of. */
int store_remove_orphans(struct store *store, struct error *err);
/*
 * Writes the finding's folder under a temporary name, synced, and moves it to its place; a folder
 * that was there is exchanged and removed. Until the transaction commits, a new folder is an
 * orphan. The id must be set.
 */
int store_write_folder(struct store *store, const struct finding *finding, struct error *err);

#endif
