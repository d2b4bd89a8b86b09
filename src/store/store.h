/*
 * The store: `.raddle/` in the working folder, a SQLite database (raddle.db) with campaigns and
 * findings, and one folder per finding (findings/F1/: finding.json, schedule.txt, trace,
 * output.txt). A finding is on disk and synced before anything is said about it; a kill at any
 * moment loses none.
 */
#ifndef RADDLE_STORE_STORE_H
#define RADDLE_STORE_STORE_H

#include <jansson.h>

#include "base/error.h"
#include "findings/finding.h"

struct store;

/* One campaign as it is kept. */
struct store_campaign {
	int64_t id;
	char *command; /* the target's command line, for people */
	char *options; /* JSON */
	char *strategy;
	uint64_t seed;
	uint64_t runs, failures, steps;
	double seconds;
	char *state;	 /* "running", "done", "interrupted" */
	char *restart;	 /* how runs were restarted in the end */
	int64_t started; /* seconds since 1970 */
	/* The numbers of its runs: [run_first, run_end) have been made, as far as the store knows. */
	uint64_t run_first, run_end;
	char *course;	 /* JSON: how far it was when; NULL: an older raddle did not keep it */
	uint64_t target; /* fingerprint of the program's file; 0: an older raddle did not keep it */
};

enum store_access {
	STORE_READ, /* creates, changes and removes nothing in the store */
	STORE_WRITE /* creates missing files, removes uncommitted findings */
};

/*
 * Opens `<directory>/.raddle`, with STORE_WRITE also a new one. Clear errors for read-only, full disk, damaged,
 * other version. Several processes may have a store open; they wait for each other's changes.
 * The store may be somebody else's (docs/security.md): symbolic links in it are not followed, and a database with anything in it that
 * raddle does not make is refused.
 */
int store_open(
	struct store **out, const char *directory, enum store_access access, struct error *err);
void store_close(struct store *store);

/* Gives the campaign its id. `update` keeps everything but id, command, options and started. */
int store_campaign_begin(struct store *store, struct store_campaign *campaign, struct error *err);
int store_campaign_update(
	struct store *store, const struct store_campaign *campaign, struct error *err);
void store_campaign_release(struct store_campaign *campaign);

/*
 * Keeps a finding of a campaign: gives it an id, writes its folder, commits. A finding whose
 * signature this store already has for the same program is counted there: *is_new is false and
 * finding->id is the known one. Of the two the one with fewer preemptions (then switches, then
 * steps) is kept, its output and trace included.
 */
int store_add_finding(struct store *store, int64_t campaign, struct finding *finding, bool *is_new,
	struct error *err);
/* What its files take, the database included. */
uint64_t store_bytes(struct store *store);
/*
 * Takes all campaigns and findings of `from` over, in one transaction; findings that both have are counted
 * together, and the shorter one is kept. Refused with a line that says why, and nothing is changed: stores of
 * other programs or builds, and runs that both have made. `folders` are their names for messages.
 */
struct store_merged {
	uint32_t campaigns, findings, new_findings;
	uint64_t runs, failures;
};
int store_merge(struct store *into, struct store *from, const char *const folders[2],
	struct store_merged *merged, struct error *err);
/* Path of a file in the finding's folder, to be freed. NULL when `id` is not of the form F12. */
char *store_finding_path(struct store *store, const char *id, const char *file);
/*
 * Fills a finding from its folder. finding->is_own: the seal proves that this user's raddle wrote
 * the finding on this machine and that the finding is unchanged.
 */
int store_load_finding(struct store *store, const char *id, struct finding *out, struct error *err);

/*
 * Replaces the schedule of a loaded finding by the one in its schedule.txt. *is_edited: that file
 * differs from the schedule that raddle stored. Fails if the file is missing or damaged.
 */
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

/* Oldest first; *rows is freed with store_rows_free. */
int store_list_findings(
	struct store *store, struct store_finding_row **rows, uint32_t *count, struct error *err);
void store_rows_free(struct store_finding_row *rows, uint32_t count);
int store_list_campaigns(
	struct store *store, struct store_campaign **rows, uint32_t *count, struct error *err);

/*
 * What a command found out besides findings, as the JSON that it prints: "predict" and "branches" of a campaign,
 * "explain" of a finding; or "verdict" (shards.h). One of each kind is kept for each of them, the last one.
 */
struct store_document {
	char *kind;
	int64_t campaign; /* 0: it is of a finding */
	char *finding;	  /* "F1"; NULL: it is of a campaign */
	char *text;
	int64_t made; /* seconds since 1970 */
};

/*
 * Copies the document and adds the source lines of its places (findings/source_lines.h) and the
 * current time.
 */
int store_keep_document(
	struct store *store, const struct store_document *document, struct error *err);
/* All of the store, oldest first; *rows is freed with store_documents_free. */
int store_list_documents(
	struct store *store, struct store_document **rows, uint32_t *count, struct error *err);
void store_documents_free(struct store_document *rows, uint32_t count);

/* Kind of the document with the verdict of a campaign whose strategy goes through all schedules. */
#define STORE_VERDICT "verdict"
/* The verdict of that campaign, to be released with json_decref(); NULL: there is none, or it is no JSON. */
json_t *store_verdict_of(const struct store_document *documents, uint32_t count, int64_t campaign);
/* How many shards the campaign was divided into; 0: unknown; 1: it was not divided. */
uint32_t store_shards_of(const struct store_document *documents, uint32_t count, int64_t campaign);

/*
 * State of an exhaustive campaign. The file is written under a temporary name and renamed when
 * complete, so a kill never leaves a partial state.
 */
int store_state_create(struct store *store, int64_t campaign); /* an empty file's descriptor; -1 */
/*
 * Seals the file of store_state_create() and renames it. Removes the file instead if `is_whole` is
 * false or a step fails. Takes ownership of the descriptor, which must be readable.
 */
bool store_state_publish(struct store *store, int64_t campaign, int fd, bool is_whole);
bool store_state_exists(struct store *store, int64_t campaign);
/*
 * Opens the state for reading; its first *size bytes are the state, the seal follows. Fails if the
 * campaign has no state, if the seal is not valid, or if this user has no key.
 */
int store_state_open(
	struct store *store, int64_t campaign, int *fd, uint64_t *size, struct error *err);
void store_state_remove(struct store *store, int64_t campaign);

#endif
