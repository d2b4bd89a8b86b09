/*
 * Stored documents (findings, explanations, predictions, branches) keep the source lines around every place that they
 * name, and a hash of each file. Reports show the kept lines, because the file may have changed since.
 */
#ifndef RADDLE_FINDINGS_SOURCE_LINES_H
#define RADDLE_FINDINGS_SOURCE_LINES_H

#include <stdbool.h>

#include <jansson.h>

#include "base/strbuf.h"
#include "findings/finding.h"

/* Number of lines kept before and after a place. */
#define SOURCE_LINES_AROUND 3

/*
 * Files whose lines may be read. A store names files that its author chose, so their lines are read
 * only below the working folder and `folders`. NULL stands for the working folder alone. A command
 * that ran the program itself may read all files that the program names.
 */
struct source_roots {
	bool is_everywhere;
	char *const *folders; /* NULL-terminated; NULL: none */
};
extern const struct source_roots source_roots_everywhere;

/*
 * Collects the lines around each object of `document` that has a "file" (or a "path") and a "line"
 * and is not "is_system". The result is {"bank.c": {"path": "/src/bank.c", "hash":
 * "0123456789abcdef", "lines": {"41": "..."}}, ...}; the key is the file as the document names it.
 * A file that is unreadable or outside of `roots` has no entry. The caller owns the result.
 */
json_t *source_lines_collect(const json_t *document, const struct source_roots *roots);

/*
 * Returns the JSON text of a document that this command made, with "sources" added if missing.
 * NULL: `text` is no object. The caller frees the result.
 */
char *source_lines_add(const char *text);

/* The roots of a finding's sources: everywhere for a finding that this user made on this machine, else `roots`. */
const struct source_roots *source_roots_of(
	const struct finding *finding, const struct source_roots *roots);

/* Collects the source lines of a finding unless it already has them. */
void finding_keep_sources(struct finding *finding);

/*
 * Array of the names of files in `sources` that were changed or removed since their lines were
 * kept. Files outside of `roots` are skipped.
 */
json_t *source_lines_changed(const json_t *sources, const struct source_roots *roots);

/*
 * Adds the line without its indentation: the kept one if `sources` (NULL: none) has it, else that
 * of the file. Returns false and adds nothing if neither has it.
 */
bool source_lines_get(const json_t *sources, const char *path, unsigned line, struct strbuf *out);

#endif
