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
 * Files whose lines may be read. A store names files that its author chose; lines of those come from below the working
 * folder and `folders` only; NULL stands for the working folder. A command that ran the program itself reads the files that the program names.
 */
struct source_roots {
	bool is_everywhere;
	char *const *folders; /* ended by NULL; NULL: none */
};
extern const struct source_roots source_roots_everywhere;

/*
 * {"bank.c": {"path": "/src/bank.c", "hash": "0123456789abcdef", "lines": {"41": "..."}}, ...}: the lines around each object
 * of `document` that has a "file" (or a "path") and a "line" and is not "is_system". The key is that file as the
 * document names it. A file that cannot be read, or lies outside of `roots`, has no entry. The caller owns the
 * result.
 */
json_t *source_lines_collect(const json_t *document, const struct source_roots *roots);

/* Of a document that this command made: returns the JSON text with "sources" added where it is missing. NULL: `text` is no object. The caller frees the result. */
char *source_lines_add(const char *text);

/* The roots of a finding's sources: everywhere for a finding that this user made on this machine, else `roots`. */
const struct source_roots *source_roots_of(
	const struct finding *finding, const struct source_roots *roots);

/* Collects the source lines of a finding unless it already has them. */
void finding_keep_sources(struct finding *finding);

/*
 * Names of the files in `sources` that have changed since their lines were kept, or are gone: an array of strings. Files
 * outside of `roots` are not looked at.
 */
json_t *source_lines_changed(const json_t *sources, const struct source_roots *roots);

/*
 * Adds the line without its indentation: the kept one where `sources` (NULL: none) has it, else that of the file. Returns
 * false and adds nothing where neither has the line.
 */
bool source_lines_get(const json_t *sources, const char *path, unsigned line, struct strbuf *out);

#endif
