/* Stored documents keep the lines around their locations, and hashes: files may change later. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "base/strbuf.h"
#include "findings/finding.h"

#define SOURCE_LINES_AROUND 3

/*
 * Files whose lines may be read. A store names files that its author chose: only those below the
 * working folder (NULL) and `folders` are read. A command that ran the program may read all.
 */
struct source_roots {
	bool is_everywhere;
	char *const *folders; /* ends with NULL; NULL if none */
};
extern const struct source_roots source_roots_everywhere;

/*
 * Collects the lines around each object of `document` with "file" (or "path") and "line" that is
 * not "is_system". Result: {"bank.c": {"path": "/src/bank.c", "hash": "0123456789abcdef", "lines":
 * {"41": "..."}}, ...}. Files that are unreadable or outside of `roots` have no entry. The caller
 * owns the result.
 */
json_t *source_lines_collect(const json_t *document, const struct source_roots *roots);

/* The document of this command, with "sources" added. Returns NULL if there is no object. The
 * caller frees it. */
char *source_lines_add(const char *text);

/* The roots of a finding's sources: everywhere for a finding that this user made on this machine, else `roots`. */
const struct source_roots *source_roots_of(
	const struct finding *finding, const struct source_roots *roots);

/* Collects the source lines of a finding unless it already has them. */
void finding_keep_sources(struct finding *finding);

/*
 * Names of files in `sources` that changed or vanished since; those outside of `roots` are skipped.
 */
json_t *source_lines_changed(const json_t *sources, const struct source_roots *roots);

/* Adds the kept line, else the file's, without indentation. Returns false if neither has it. */
bool source_lines_get(const json_t *sources, const char *path, unsigned line, struct strbuf *out);
