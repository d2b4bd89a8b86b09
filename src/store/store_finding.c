#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/files/regular_file.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "store/store_compressed.h"
#include "store/store_internal.h"

/* Limit on the size of finding.json. Usual are some hundred kilobytes; parsing takes ten times the
 * size in memory. */

struct known_finding {
	int64_t number; /* 0: none */
	int64_t preemptions, switches, steps;
};

/* Identifies a program with its folder: "./bank" in another folder is another program. */
static char *store_finding_program_of(const struct finding *finding)
{
	const char *name = finding->argv && finding->argv[0] ? finding->argv[0] : "";
	char *program;

	if (name[0] == '/' || !strchr(name, '/') || !finding->directory)
		program = strdup(name);
	else if (asprintf(&program, "%s/%s", finding->directory, name) < 0)
		program = NULL;
	BUG_ON(!program);
	return program;
}

static void store_finding_signature_text(const struct finding *finding, char text[17])
{
	(void)snprintf(text, 17, "%016" PRIx64, finding->signature); /* 16 digits */
}

static int store_finding_find_known(struct store *store, const struct finding *finding,
	const char *program, struct known_finding *known, struct error *err)
{
	sqlite3_stmt *statement;
	char signature[17];
	int status = store_prepare(store, &statement,
		"SELECT number, preemptions, switches, steps FROM findings"
		" WHERE signature=?1 AND (?2 IS NULL OR program=?2) ORDER BY number",
		err);
	int result;

	*known = (struct known_finding){0};
	if (status)
		return status;
	store_finding_signature_text(finding, signature);
	store_bind_text(statement, 1, signature);
	if (program)
		store_bind_text(statement, 2, program);
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW) {
		known->number = sqlite3_column_int64(statement, 0);
		known->preemptions = sqlite3_column_int64(statement, 1);
		known->switches = sqlite3_column_int64(statement, 2);
		known->steps = sqlite3_column_int64(statement, 3);
	} else if (result != SQLITE_DONE) {
		status = store_error(store, "read", err);
	}
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	return status;
}

static bool store_finding_is_shorter(
	const struct finding *finding, const struct known_finding *known)
{
	if (finding->preemptions != known->preemptions)
		return finding->preemptions < known->preemptions;
	if (finding->switches != known->switches)
		return finding->switches < known->switches;
	return (int64_t)finding->schedule.step_count < known->steps;
}

static int store_finding_insert_row(struct store *store, int64_t campaign,
	const struct finding *finding, uint64_t times, struct error *err)
{
	sqlite3_stmt *statement;
	STRBUF_SCOPED command = STRBUF_EMPTY;
	char signature[17];
	FREE_SCOPED char *program = store_finding_program_of(finding);
	int status = store_prepare(store, &statement,
		"INSERT INTO findings(signature, program, kind, title, command, times_seen,"
		" campaign, found, preemptions, switches, steps, number)"
		" VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
		err);

	if (finding->argv)
		shell_words_add(&command, finding->argv);
	if (!status) {
		store_finding_signature_text(finding, signature);
		store_bind_text(statement, 1, signature);
		store_bind_text(statement, 2, program);
		store_bind_text(statement, 3, outcome_descriptions[finding->kind].word);
		store_bind_text(statement, 4, finding->title);
		store_bind_text(statement, 5, command.text);
		store_bind_integer(statement, 6, (int64_t)times);
		store_bind_integer(statement, 7, campaign);
		store_bind_integer(statement, 8, (int64_t)time(NULL));
		store_bind_integer(statement, 9, finding->preemptions);
		store_bind_integer(statement, 10, finding->switches);
		store_bind_integer(statement, 11, (int64_t)finding->schedule.step_count);
		store_bind_integer(statement, 12, strtoll(finding->id + 1, NULL, 10));
		if (sqlite3_step(statement) != SQLITE_DONE)
			status = store_error(store, "write to", err);
		(void)sqlite3_finalize(statement); /* repeats the error of the step */
	}
	return status;
}

static int store_finding_replace_row(
	struct store *store, const struct finding *finding, int64_t number, struct error *err)
{
	sqlite3_stmt *statement;
	int status = store_prepare(store, &statement,
		"UPDATE findings SET title=?, preemptions=?, switches=?, steps=? WHERE number=?",
		err);

	if (status)
		return status;
	store_bind_text(statement, 1, finding->title);
	store_bind_integer(statement, 2, finding->preemptions);
	store_bind_integer(statement, 3, finding->switches);
	store_bind_integer(statement, 4, (int64_t)finding->schedule.step_count);
	store_bind_integer(statement, 5, number);
	if (sqlite3_step(statement) != SQLITE_DONE)
		status = store_error(store, "write to", err);
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	return status;
}

static int store_finding_add_times(
	struct store *store, int64_t number, uint64_t times, struct error *err)
{
	char sql[128];

	(void)snprintf(sql, sizeof sql,
		"UPDATE findings SET times_seen=times_seen+%" PRIu64 " WHERE number=%" PRId64,
		times, number); /* fits: 20 and 19 digits */
	return store_execute(store, sql, "write to", err);
}

int store_count_finding(struct store *store, const char *id, uint64_t times, struct error *err)
{
	if (store->aside) {
		store_aside_count(store->aside, id, times);
		return 0;
	}
	return store_finding_add_times(store, strtoll(id + 1, NULL, 10), times, err);
}

/* Returns a number that no finding ever had, like AUTOINCREMENT. */
static int store_finding_next_number(struct store *store, int64_t *number, struct error *err)
{
	return store_read_integer(store,
		"SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name='findings'), 0) + 1",
		number, err);
}

static void store_finding_set_id(struct finding *finding, int64_t number)
{
	(void)snprintf(finding->id, sizeof finding->id, "F%" PRId64, number); /* fits */
}

static int store_finding_add_new(struct store *store, int64_t campaign, struct finding *finding,
	uint64_t times, struct error *err)
{
	int64_t number = 0;
	int status = store_finding_next_number(store, &number, err);

	if (status)
		return status;
	store_finding_set_id(finding, number);
	status = store_write_folder(store, finding, err);
	return status ? status : store_finding_insert_row(store, campaign, finding, times, err);
}

static int store_finding_add_known(struct store *store, struct finding *finding,
	const struct known_finding *known, uint64_t times, struct error *err)
{
	int status = store_finding_add_times(store, known->number, times, err);

	store_finding_set_id(finding, known->number);
	/* A folder removed by the user is written again. */
	if (status || (!store_finding_is_shorter(finding, known) &&
			      store_has_file(store, finding->id, "finding.json")))
		return status;
	/* The row is written first: if that fails, the folder still has the old finding. */
	status = store_finding_replace_row(store, finding, known->number, err);
	return status ? status : store_write_folder(store, finding, err);
}

int store_put_finding(struct store *store, int64_t campaign, struct finding *finding,
	const char *program, uint64_t times, bool *is_new, struct error *err)
{
	struct known_finding known;
	int status = store_finding_find_known(store, finding, program, &known, err);

	if (!status)
		status = known.number ? store_finding_add_known(store, finding, &known, times, err)
				      : store_finding_add_new(store, campaign, finding, times, err);
	*is_new = !known.number;
	return status;
}

int store_add_finding(struct store *store, int64_t campaign, struct finding *finding, bool *is_new,
	struct error *err)
{
	FREE_SCOPED char *program = NULL;
	bool is_unknown = false;
	int status;

	if (store->aside) {
		store_aside_add(store->aside, campaign, finding);
		*is_new = true;
		return 0;
	}
	finding->is_own = true;
	program = store_finding_program_of(finding);
	status = store_execute(store, "BEGIN IMMEDIATE", "write to", err);
	if (!status) {
		status = store_put_finding(store, campaign, finding, program, 1, &is_unknown, err);
		status = store_end(store, status, err);
	}
	if (!status)
		*is_new = is_unknown;
	else
		finding->id[0] = '\0';
	return status;
}

/* Returns NULL on failure, and errno has the cause. */
static char *store_finding_read_compressed(
	struct store *store, const char *const name[2], size_t limit, size_t *size)
{
	struct strbuf file = STRBUF_EMPTY;
	size_t stored_size;
	char *stored, *text = NULL;
	int cause;

	strbuf_addf(&file, "%s" STORE_COMPRESSED, name[1]);
	stored = regular_file_read(store_open_file(store, name[0], file.text), limit, &stored_size);
	if (stored)
		text = store_decompress(stored, stored_size, limit, size);
	cause = errno;
	strbuf_release(&file);
	free(stored);
	errno = cause;
	return text;
}

int store_read_file(struct store *store, const char *const name[2], size_t limit, char **text,
	size_t *size, struct error *err)
{
	*text = regular_file_read(store_open_file(store, name[0], name[1]), limit, size);
	if (!*text && errno == ENOENT)
		*text = store_finding_read_compressed(store, name, limit, size);
	if (*text)
		return 0;
	return error_set(err, ERROR_STORE,
		"cannot read %s/findings/%s/%s: %s; the folder was changed by hand: find the failure again",
		store->folder, name[0], name[1], strerror(errno));
}

/* Fails unless the finding is stored. *command: its program's command line; the caller frees it. */
static int store_finding_is_stored(
	struct store *store, const char *id, char **command, struct error *err)
{
	sqlite3_stmt *statement;
	int status = store_prepare(
		store, &statement, "SELECT command FROM findings WHERE 'F' || number = ?", err);

	if (status)
		return status;
	store_bind_text(statement, 1, id);
	if (sqlite3_step(statement) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 0);

		*command = string_copy(text ? text : "PROGRAM");
	} else {
		status = error_set(err, ERROR_NOTFOUND,
			"there is no finding %s in %s; `raddle list findings` shows the existing ones",
			id, store->folder);
	}
	(void)sqlite3_finalize(statement); /* the statement only reads */
	return status;
}

static bool store_finding_has_valid_seal(
	struct store *store, const char *id, const char *text, size_t size)
{
	const char *const name[2] = {id, "seal"};
	char *seal = NULL;
	size_t length = 0;
	bool is_valid;

	if (!store->key || store_read_file(store, name, SEAL_TEXT_BYTES, &seal, &length, NULL))
		return false;
	is_valid = seal_is_valid(store->key, text, size, seal, length);
	free(seal);
	return is_valid;
}

int store_load_finding(struct store *store, const char *id, struct finding *out, struct error *err)
{
	const char *const name[2] = {id, "finding.json"};
	FREE_SCOPED char *path = store_finding_path(store, id, name[1]);
	FREE_SCOPED char *command = NULL;
	char *text = NULL;
	size_t size = 0;
	int status = store_finding_is_stored(store, id, &command, err);

	if (!status && !path)
		status = error_set(
			err, ERROR_NOTFOUND, "%s is not the id of a finding; ids look like F1", id);
	if (!status && !store_has_file(store, id, name[1]))
		status = error_set(err, ERROR_NOTFOUND,
			"finding %s is gone: there is no %s any more; find it again: raddle run -- %s",
			id, path, command);
	if (!status)
		status = store_read_file(store, name, FINDING_BYTES_MAX, &text, &size, err);
	if (!status) {
		status = finding_from_json(text, size, out, err);
		if (!status)
			out->is_own = store_finding_has_valid_seal(store, id, text, size);
		free(text);
	}
	if (!status && strcmp(out->id, id) != 0) {
		finding_release(out);
		status = error_set(err, ERROR_STORE,
			"%s is not that of finding %s; the folder was changed by hand: find the failure again",
			path, id);
	}
	return status;
}

int store_list_findings(
	struct store *store, struct store_finding_row **rows, uint32_t *count, struct error *err)
{
	struct store_finding_row *list = NULL;
	uint32_t used = 0;
	sqlite3_stmt *statement;
	int status = store_prepare(store, &statement,
		"SELECT number, kind, title, command, times_seen, campaign, found FROM findings ORDER BY number",
		err);
	int result;

	if (status)
		return status;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		struct store_finding_row *row;

		row = ARRAY_NEXT(list, used);
		(void)snprintf(row->id, sizeof row->id, "F%" PRId64,
			(int64_t)sqlite3_column_int64(statement, 0)); /* fits */
		(void)snprintf(row->kind, sizeof row->kind, "%s",
			store_column(statement, 1)); /* all words of outcomes.def fit */
		row->title = store_column_line(statement, 2);
		row->command = store_column_line(statement, 3);
		row->times_seen = (uint64_t)sqlite3_column_int64(statement, 4);
		row->campaign = sqlite3_column_int64(statement, 5);
		row->found = sqlite3_column_int64(statement, 6);
	}
	if (result != SQLITE_DONE)
		status = store_error(store, "read", err);
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	if (status) {
		store_rows_free(list, used);
		return status;
	}
	*rows = list;
	*count = used;
	return 0;
}

void store_rows_free(struct store_finding_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(rows[i].title);
		free(rows[i].command);
	}
	free(rows);
}

static void store_finding_read_campaign(sqlite3_stmt *statement, struct store_campaign *campaign)
{
	campaign->id = sqlite3_column_int64(statement, 0);
	campaign->command = store_column_line(statement, 1);
	campaign->options = store_column_text(statement, 2);
	campaign->strategy = store_column_line(statement, 3);
	campaign->seed = strtoull(store_column(statement, 4), NULL, 10);
	campaign->runs = (uint64_t)sqlite3_column_int64(statement, 5);
	campaign->failures = (uint64_t)sqlite3_column_int64(statement, 6);
	campaign->steps = (uint64_t)sqlite3_column_int64(statement, 7);
	campaign->seconds = sqlite3_column_double(statement, 8);
	campaign->state = store_column_line(statement, 9);
	campaign->restart = store_column_line(statement, 10);
	campaign->started = sqlite3_column_int64(statement, 11);
	campaign->run_first = (uint64_t)sqlite3_column_int64(statement, 12);
	campaign->run_end = (uint64_t)sqlite3_column_int64(statement, 13);
	campaign->course = store_column_text(statement, 15);
	campaign->target = strtoull(store_column(statement, 14), NULL, 16);
}

int store_list_campaigns(
	struct store *store, struct store_campaign **rows, uint32_t *count, struct error *err)
{
	struct store_campaign *list = NULL;
	uint32_t used = 0;
	sqlite3_stmt *statement;
	int result, status;

	*rows = NULL;
	*count = 0;
	if (store->aside)
		return 0;
	status = store_prepare(store, &statement,
		"SELECT id, command, options, strategy, seed, runs, failures, steps,"
		" seconds, state, restart, started, run_first, run_end, target, course"
		" FROM campaigns ORDER BY id",
		err);
	if (status)
		return status;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		list = array_room(list, used, sizeof *list);
		store_finding_read_campaign(statement, &list[used++]);
	}
	if (result != SQLITE_DONE)
		status = store_error(store, "read", err);
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	if (status) {
		while (used)
			store_campaign_release(&list[--used]);
		free(list);
		return status;
	}
	*rows = list;
	*count = used;
	return 0;
}
