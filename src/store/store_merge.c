/* Merges parts of one campaign. Program, strategy, seed and run number identify a run. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/starts_with.h"
#include "store/store_internal.h"
#include "trace/trace_reader.h"

struct renamed {
	char from[32], to[32];
};

struct merge {
	struct store *into, *from;
	const char *const *folders; /* folders of both stores */
	struct store_campaign *known, *added;
	uint32_t known_count, added_count;
	struct store_document *known_documents, *added_documents;
	uint32_t known_document_count, added_document_count;
	int64_t *ids; /* ids of the added campaigns in `into` */
	struct renamed *findings;
	uint32_t finding_count;
};

static const char *store_merge_program_name(const struct store_campaign *campaign)
{
	const char *command = campaign->command ? campaign->command : "";
	const char *end = command + strcspn(command, " ");
	const char *name = command;

	for (const char *at = command; at < end; at++)
		if (*at == '/')
			name = at + 1;
	return name;
}

static bool store_merge_is_same_program(
	const struct store_campaign *a, const struct store_campaign *b)
{
	const char *name = store_merge_program_name(a), *other = store_merge_program_name(b);
	const size_t length = strcspn(name, " ");

	return a->target == b->target && length == strcspn(other, " ") &&
	       !strncmp(name, other, length);
}

static bool store_merge_share_runs(const struct store_campaign *a, const struct store_campaign *b)
{
	return a->seed == b->seed && is_same_text(a->strategy, b->strategy) &&
	       is_same_text(a->options, b->options) &&
	       is_same_text(store_merge_program_name(a), store_merge_program_name(b)) &&
	       a->run_first < b->run_end && b->run_first < a->run_end;
}

/* Fails for shards of different divisions of an exhaustive search, because they overlap. */
static int store_merge_check_division(const struct merge *merge, const struct store_campaign *known,
	const struct store_campaign *added, struct error *err)
{
	const uint32_t shards =
		store_shards_of(merge->known_documents, merge->known_document_count, known->id);
	const uint32_t others =
		store_shards_of(merge->added_documents, merge->added_document_count, added->id);

	if (!shards || !others || shards == others || known->seed != added->seed ||
		!is_same_text(known->strategy, added->strategy) ||
		!is_same_text(known->options, added->options))
		return 0;
	return error_set(err, ERROR_STORE,
		"campaign %" PRId64
		" of %s/.raddle made one of %u parts of all schedules and campaign %" PRId64
		" of %s/.raddle one of %u, so some are in both; merge the --shard I/%u of one division",
		known->id, merge->folders[0], shards, added->id, merge->folders[1], others,
		others > 1 ? others : shards);
}

static int store_merge_check_pair(const struct merge *merge, const struct store_campaign *known,
	const struct store_campaign *added, struct error *err)
{
	if (!store_merge_is_same_program(known, added))
		return error_set(err, ERROR_STORE,
			"%s/.raddle holds runs of %.*s and %s/.raddle those of %.*s%s; merge stores of one program and one build of it",
			merge->folders[0], (int)strcspn(store_merge_program_name(known), " "),
			store_merge_program_name(known), merge->folders[1],
			(int)strcspn(store_merge_program_name(added), " "),
			store_merge_program_name(added),
			known->target == added->target ? "" : ", another file");
	if (store_merge_share_runs(known, added))
		return error_set(err, ERROR_STORE,
			"campaign %" PRId64 " of %s/.raddle and campaign %" PRId64
			" of %s/.raddle made the same runs; give each part its own --shard, and merge each store once",
			known->id, merge->folders[0], added->id, merge->folders[1]);
	return store_merge_check_division(merge, known, added, err);
}

static int store_merge_check(const struct merge *merge, struct error *err)
{
	for (uint32_t i = 0; i < merge->added_count; i++) {
		if (!merge->added[i].target)
			return error_set(err, ERROR_STORE,
				"%s/.raddle has a campaign without the fingerprint of its program; make its runs again",
				merge->folders[1]);
		for (uint32_t j = 0; j < merge->known_count; j++) {
			int status = store_merge_check_pair(
				merge, &merge->known[j], &merge->added[i], err);

			if (status)
				return status;
		}
	}
	return 0;
}

static int store_merge_add_campaigns(
	struct merge *merge, struct store_merged *merged, struct error *err)
{
	for (uint32_t i = 0; i < merge->added_count; i++) {
		struct store_campaign *campaign = &merge->added[i];
		int status = store_campaign_begin(merge->into, campaign, err);

		if (status)
			return status;
		merge->ids[i] = campaign->id;
		merged->campaigns++;
		merged->runs += campaign->runs;
		merged->failures += campaign->failures;
	}
	return 0;
}

static int64_t store_merge_new_id(const struct merge *merge, const int64_t *old_ids, int64_t old)
{
	for (uint32_t i = 0; i < merge->added_count; i++)
		if (old_ids[i] == old)
			return merge->ids[i];
	return 0; /* the user has removed the document's campaign */
}

/* Limit on the size of a trace of another store. Traces of raddle are smaller. */
#define TRACE_BYTES_MAX ((size_t)256 << 20)

/* Reads a trace to its end, because merge must not copy a trace that nothing can read. */
static int store_merge_check_trace(
	const struct finding *finding, const char *folder, struct error *err)
{
	struct error cause;
	const int status = trace_check(finding->trace, finding->trace_size, "trace", &cause);

	if (status == 0)
		return 0;
	return error_set(err, ERROR_STORE,
		"the trace of finding %s in %s/.raddle %s; remove the file findings/%s/trace there, and merge again",
		finding->id, folder,
		status == ERROR_VERSION ? "has the format of another version of raddle"
					: "is damaged",
		finding->id);
}

static int store_merge_load_trace(
	const struct merge *merge, struct finding *finding, struct error *err)
{
	const char *const name[2] = {finding->id, "trace"};
	const int fd = store_open_file(merge->from, name[0], name[1]);
	int status;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0)
		(void)close(fd); /* the file was opened for reading */
	status = store_read_file(
		merge->from, name, TRACE_BYTES_MAX, &finding->trace, &finding->trace_size, err);
	return status ? status : store_merge_check_trace(finding, merge->folders[1], err);
}

static char *store_merge_renamed_id(const struct merge *merge, const char *id)
{
	for (uint32_t i = 0; i < merge->finding_count; i++)
		if (!strcmp(id, merge->findings[i].from))
			return merge->findings[i].to;
	return NULL;
}

/* A finding that another one refers to has the lower number: it is merged already. */
static int store_merge_add_finding(struct merge *merge, const struct store_finding_row *row,
	int64_t campaign, struct store_merged *merged, struct error *err)
{
	struct renamed *renamed = &merge->findings[merge->finding_count];
	const char *shown_by;
	struct finding finding;
	bool is_new = false;
	int status = store_load_finding(merge->from, row->id, &finding, err);

	if (status)
		return status;
	shown_by = store_merge_renamed_id(merge, finding.shown_by);
	(void)snprintf(finding.shown_by, sizeof finding.shown_by, "%s", shown_by ? shown_by : "");
	status = store_merge_load_trace(merge, &finding, err);
	if (!status)
		status = store_put_finding(
			merge->into, campaign, &finding, NULL, row->times_seen, &is_new, err);
	(void)snprintf(renamed->from, sizeof renamed->from, "%s", row->id); /* fits */
	(void)snprintf(renamed->to, sizeof renamed->to, "%s", finding.id);  /* fits */
	finding_release(&finding);
	merge->finding_count += !status;
	merged->findings += !status;
	merged->new_findings += !status && is_new;
	return status;
}

static void store_merge_rename_text(json_t *value, const char *key, const struct merge *merge)
{
	const char *text = json_string_value(json_object_get(value, key));
	const char *renamed = text ? store_merge_renamed_id(merge, text) : NULL;

	if (renamed)
		BUG_ON(json_object_set_new(value, key, json_string(renamed)));
}

static void store_merge_rename_findings(json_t *value, const struct merge *merge)
{
	const char *key;
	json_t *part;
	size_t index;

	store_merge_rename_text(value, "finding", merge);
	json_object_foreach(value, key, part) store_merge_rename_findings(part, merge);
	json_array_foreach(value, index, part) store_merge_rename_findings(part, merge);
}

static int store_merge_add_document(struct merge *merge, const int64_t *old_ids,
	const struct store_document *from, struct error *err)
{
	struct store_document document = *from;
	json_auto_t *value = json_loads(from->text, 0, NULL);
	int status = 0;

	document.campaign = from->campaign ? store_merge_new_id(merge, old_ids, from->campaign) : 0;
	if (from->finding && store_merge_renamed_id(merge, from->finding))
		document.finding = store_merge_renamed_id(merge, from->finding);
	if (value) {
		store_merge_rename_findings(value, merge);
		document.text = json_dumps(value, JSON_COMPACT);
		BUG_ON(!document.text);
		status = store_put_document(merge->into, &document, err);
		free(document.text);
	}
	return status;
}

static int store_merge_add_documents(struct merge *merge, const int64_t *old_ids, struct error *err)
{
	struct store_document *rows;
	uint32_t count;
	int status = store_list_documents(merge->from, &rows, &count, err);

	for (uint32_t i = 0; !status && i < count; i++)
		status = store_merge_add_document(merge, old_ids, &rows[i], err);
	if (!status)
		store_documents_free(rows, count);
	return status;
}

static int store_merge_add_all(struct merge *merge, struct store_merged *merged, struct error *err)
{
	FREE_SCOPED int64_t *old_ids = array_new(merge->added_count + 1u, sizeof *old_ids);
	struct store_finding_row *rows = NULL;
	uint32_t count = 0;
	int status;

	for (uint32_t i = 0; i < merge->added_count; i++)
		old_ids[i] = merge->added[i].id;
	status = store_merge_add_campaigns(merge, merged, err);
	if (!status)
		status = store_list_findings(merge->from, &rows, &count, err);
	merge->findings = array_new(count + 1u, sizeof *merge->findings);
	for (uint32_t i = 0; !status && i < count; i++)
		status = store_merge_add_finding(merge, &rows[i],
			store_merge_new_id(merge, old_ids, rows[i].campaign), merged, err);
	if (!status)
		status = store_merge_add_documents(merge, old_ids, err);
	free(merge->findings);
	store_rows_free(rows, count);
	return status;
}

static void store_merge_release(struct store_campaign *campaigns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		store_campaign_release(&campaigns[i]);
	free(campaigns);
}

int store_merge(struct store *into, struct store *from, const char *const folders[2],
	struct store_merged *merged, struct error *err)
{
	struct merge merge = {.into = into, .from = from, .folders = folders};
	int status = store_list_campaigns(from, &merge.added, &merge.added_count, err);

	*merged = (struct store_merged){0};
	if (!status)
		status = store_list_documents(
			from, &merge.added_documents, &merge.added_document_count, err);
	merge.ids = array_new(merge.added_count + 1u, sizeof *merge.ids);
	if (!status)
		status = store_execute(into, "BEGIN IMMEDIATE", "write to", err);
	if (!status) {
		status = store_list_campaigns(into, &merge.known, &merge.known_count, err);
		if (!status)
			status = store_list_documents(
				into, &merge.known_documents, &merge.known_document_count, err);
		if (!status)
			status = store_merge_check(&merge, err);
		if (!status)
			status = store_merge_add_all(&merge, merged, err);
		status = store_end(into, status, err);
	}
	store_merge_release(merge.known, merge.known_count);
	store_merge_release(merge.added, merge.added_count);
	store_documents_free(merge.known_documents, merge.known_document_count);
	store_documents_free(merge.added_documents, merge.added_document_count);
	free(merge.ids);
	return status;
}
