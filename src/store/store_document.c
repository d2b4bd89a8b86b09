#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/bug.h"
#include "store/store_internal.h"
#include "findings/source_lines.h"

static int64_t store_document_finding_number(const char *id)
{
	return id && *id ? strtoll(id + 1, NULL, 10) : 0;
}

int store_put_document(
	struct store *store, const struct store_document *document, struct error *err)
{
	sqlite3_stmt *statement;
	int status = store_prepare(store, &statement,
		"INSERT INTO documents(kind, campaign, finding, made, text) VALUES(?,?,?,?,?)"
		" ON CONFLICT(kind, campaign, finding) DO UPDATE SET made=excluded.made,"
		" text=excluded.text WHERE excluded.made >= documents.made",
		err);

	if (status)
		return status;
	store_bind_text(statement, 1, document->kind);
	store_bind_integer(statement, 2, document->campaign);
	store_bind_integer(statement, 3, store_document_finding_number(document->finding));
	store_bind_integer(statement, 4, document->made);
	store_bind_text(statement, 5, document->text);
	if (sqlite3_step(statement) != SQLITE_DONE)
		status = store_error(store, "write to", err);
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	return status;
}

int store_keep_document(
	struct store *store, const struct store_document *document, struct error *err)
{
	struct store_document dated = *document;
	char *with_sources = source_lines_add(document->text);
	int status = store_execute(store, "BEGIN IMMEDIATE", "write to", err);

	dated.made = time(NULL);
	dated.text = with_sources ? with_sources : dated.text;
	if (!status) {
		status = store_put_document(store, &dated, err);
		status = store_end(store, status, err);
	}
	free(with_sources);
	return status;
}

static void store_document_take_row(sqlite3_stmt *statement, struct store_document *row)
{
	const int64_t finding = sqlite3_column_int64(statement, 2);

	*row = (struct store_document){.kind = store_column_text(statement, 0),
		.campaign = sqlite3_column_int64(statement, 1),
		.made = sqlite3_column_int64(statement, 3),
		.text = store_column_text(statement, 4)};
	if (finding)
		BUG_ON(asprintf(&row->finding, "F%" PRId64, finding) < 0);
}

int store_list_documents(
	struct store *store, struct store_document **rows, uint32_t *count, struct error *err)
{
	sqlite3_stmt *statement;
	int result, status;

	*rows = NULL;
	*count = 0;
	status = store_prepare(store, &statement,
		"SELECT kind, campaign, finding, made, text FROM documents ORDER BY number", err);
	if (status)
		return status;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		*rows = array_room(*rows, *count, sizeof **rows);
		store_document_take_row(statement, &(*rows)[(*count)++]);
	}
	if (result != SQLITE_DONE) {
		status = store_error(store, "read", err);
		store_documents_free(*rows, *count);
		*rows = NULL;
		*count = 0;
	}
	(void)sqlite3_finalize(statement); /* repeats the error of the step */
	return status;
}

void store_documents_free(struct store_document *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(rows[i].kind);
		free(rows[i].finding);
		free(rows[i].text);
	}
	free(rows);
}

json_t *store_verdict_of(const struct store_document *documents, uint32_t count, int64_t campaign)
{
	for (uint32_t i = 0; i < count; i++)
		if (documents[i].campaign == campaign && !strcmp(documents[i].kind, STORE_VERDICT))
			return json_loads(documents[i].text, 0, NULL);
	return NULL;
}

uint32_t store_shards_of(const struct store_document *documents, uint32_t count, int64_t campaign)
{
	json_auto_t *verdict = store_verdict_of(documents, count, campaign);
	const json_int_t shards = json_integer_value(json_object_get(verdict, "shards"));

	return shards > 0 && shards < UINT32_MAX ? (uint32_t)shards : 0;
}
