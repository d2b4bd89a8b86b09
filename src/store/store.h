/*
 * The store: `.raddle/` in the working folder. A SQLite database (raddle.db) holds campaigns,
 * findings and documents. Each finding also has a folder (findings/F1/: finding.json, its seal,
 * schedule.txt, trace, output.txt).
 *
 * Invariant: a finding is on disk and synced before it is reported, so a kill at any time loses
 * none. Every change is one transaction (store.c, store_folder.c).
 *
 * Life cycle: store_open(); store_campaign_begin(); store_add_finding() and store_campaign_update()
 * while the campaign runs; store_close(). A store is used by one thread; several processes may have
 * it open at a time.
 *
 * A store may belong to another user and be hostile: docs/security.md, store_database.c,
 * store_seal.h.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "findings/finding.h"
#include "findings/store_rows.h"

struct store;

enum store_access {
	STORE_READ, /* creates, changes and removes nothing in the store */
	STORE_WRITE /* creates missing files, removes uncommitted findings */
};

/*
 * STORE_WRITE also creates `<directory>/.raddle`. Processes wait for each other's changes. Symbolic
 * links and foreign schemas are refused (docs/security.md).
 */
int store_open(
	struct store **out, const char *directory, enum store_access access, struct error *err);
void store_close(struct store *store);

/* Assigns an id to the campaign. `update` stores all but id, command, options and started. */
int store_campaign_begin(struct store *store, struct store_campaign *campaign, struct error *err);
int store_campaign_update(
	struct store *store, const struct store_campaign *campaign, struct error *err);
void store_campaign_release(struct store_campaign *campaign);

/* If the program has a finding with this signature, only its count grows (*is_new false, the known
 * id). Of both findings, the store keeps the one with fewer preemptions (then switches, then
 * steps). */
int store_add_finding(struct store *store, int64_t campaign, struct finding *finding, bool *is_new,
	struct error *err);
/* Adds `times` occurrences to the count of the finding `id`. */
int store_count_finding(struct store *store, const char *id, uint64_t times, struct error *err);
/* Returns the total size of the store's files, including the database. */
uint64_t store_bytes(struct store *store);
/* Copies all campaigns and findings of `from`. Of findings in both stores, keeps the shorter one.
 * Fails without changes for other programs or builds, and for runs in both. `folders`: for
 * messages. */
struct store_merged {
	uint32_t campaigns, findings, new_findings;
	uint64_t runs, failures;
};
int store_merge(struct store *into, struct store *from, const char *const folders[2],
	struct store_merged *merged, struct error *err);
/* Returns the path of a file in the finding's folder; the caller frees it. Returns NULL unless `id`
 * has the form F12. */
char *store_finding_path(struct store *store, const char *id, const char *file);
/* finding->is_own: its seal proves that this user's raddle wrote it on this machine. */
int store_load_finding(struct store *store, const char *id, struct finding *out, struct error *err);

/* Loads the finding's schedule.txt. *is_edited: it differs from the stored one. */
int store_read_schedule(
	struct store *store, struct finding *finding, bool *is_edited, struct error *err);

struct store_finding_row {
	char id[32];
	char kind[24];
	char *title;
	char *command;
	uint64_t times_seen;
	int64_t campaign;
	int64_t found; /* seconds since 1970 */
};

/* Lists findings, oldest first; free *rows with store_rows_free(). */
int store_list_findings(
	struct store *store, struct store_finding_row **rows, uint32_t *count, struct error *err);
void store_rows_free(struct store_finding_row *rows, uint32_t count);
int store_list_campaigns(
	struct store *store, struct store_campaign **rows, uint32_t *count, struct error *err);

/* Stores the document with the source lines of its locations (findings/source_lines.h) and the time. */
int store_keep_document(
	struct store *store, const struct store_document *document, struct error *err);
/* Lists all documents of the store, oldest first; free *rows with store_documents_free(). */
int store_list_documents(
	struct store *store, struct store_document **rows, uint32_t *count, struct error *err);
void store_documents_free(struct store_document *rows, uint32_t count);

/* Kind of the document with the verdict of an exhaustive campaign. */
#define STORE_VERDICT "verdict"
/* Returns the verdict of that campaign, released with json_decref(). Returns NULL if there is none
 * or it is not JSON. */
json_t *store_verdict_of(const struct store_document *documents, uint32_t count, int64_t campaign);
/* Returns the number of shards of the campaign; 0: unknown; 1: not divided. */
uint32_t store_shards_of(const struct store_document *documents, uint32_t count, int64_t campaign);

/* State of an exhaustive campaign, written under a temporary name and renamed when complete. */
/* returns the descriptor of an empty file, or -1 */
int store_state_create(struct store *store, int64_t campaign);
/* Seals and renames the file. Removes it if !is_whole or on failure. Closes the descriptor in any
 * case. */
bool store_state_publish(struct store *store, int64_t campaign, int fd, bool is_whole);
bool store_state_exists(struct store *store, int64_t campaign);
/* Opens the state. *size: its bytes before the seal. Fails without state, valid seal or key. */
int store_state_open(
	struct store *store, int64_t campaign, int *fd, uint64_t *size, struct error *err);
void store_state_remove(struct store *store, int64_t campaign);
