/* A trace as text: one line per event. */
#ifndef RADDLE_TRACE_TRACE_DUMP_H
#define RADDLE_TRACE_TRACE_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "trace/trace_reader.h"

/* How addresses are put into words; without it, or where it says false, they are numbers. */
struct trace_words {
	void *context;
	/* A return address in code: "eat (philosophers.c:31)". NULL: none. */
	bool (*describe_code)(void *context, uint64_t address, struct strbuf *out);
	/* An object: "forks[1]". NULL: none. */
	bool (*describe_object)(void *context, uint64_t address, struct strbuf *out);
};

/*
 * Reads the trace to its end and prints it:
 *     14  main.1  locks mutex forks[0] at eat (philosophers.c:31), 2 enabled
 * What was good before a damaged block is printed. `words` may be NULL.
 */
int trace_dump(
	struct trace_reader *reader, const struct trace_words *words, FILE *out, struct error *err);

#endif
