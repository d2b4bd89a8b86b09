/*
 * Source lines that belong to what is stored: a finding, an explanation, predictions or branches keeps the lines around
 * every place that it names, and a hash of each file. Reports show these lines, and not those of a file that may have
 * changed since.
 */
#ifndef RADDLE_FINDINGS_SOURCE_LINES_H
#define RADDLE_FINDINGS_SOURCE_LINES_H

#include <stdbool.h>

#include <jansson.h>

#include "base/strbuf.h"
#include "findings/finding.h"

/* Lines that are kept before and behind a place. */
#define SOURCE_LINES_AROUND 3

/*
 * {"bank.c": {"path": "/src/bank.c", "hash": "0123456789abcdef", "lines": {"41": "..."}}, ...}: the lines around each object
 * of `document` that has a "file" (or a "path") and a "line" and is not "is_system". The key is that file as the
 * document names it. A file that cannot be read has no entry. The caller owns the result.
 */
json_t *source_lines_collect(const json_t *document);

/* Adds "sources" to the JSON text of an object that has none; returns the new text, to be freed. NULL: `text` is no object. */
char *source_lines_add(const char *text);

/* Collects the lines of a finding that has none. */
void finding_keep_sources(struct finding *finding);

/* The names of files in `sources` whose content is no longer that of the kept lines, or that are gone: an array of strings. */
json_t *source_lines_changed(const json_t *sources);

/*
 * Adds the line without its indentation: the kept one where `sources` (NULL: none) has it, else that of the file. Returns
 * false and adds nothing where neither has the line.
 */
bool source_lines_get(const json_t *sources, const char *path, unsigned line, struct strbuf *out);

#endif
