/* Prints a trace as text, one line per event. */
#ifndef RADDLE_TRACE_TRACE_DUMP_H
#define RADDLE_TRACE_TRACE_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "trace/trace_reader.h"

/* Describe addresses. If a callback is missing or returns false, the number is printed. */
struct trace_words {
	void *context;
	/* Describes a code address: "eat (philosophers.c:31)". May be NULL. */
	bool (*describe_code)(void *context, uint64_t address, struct strbuf *out);
	/* Describes an object: "forks[1]". May be NULL. */
	bool (*describe_object)(void *context, uint64_t address, struct strbuf *out);
};

/*
 * Prints all events, those before a damaged block included: 14  main.1  locks mutex forks[0] at eat
 * (philosophers.c:31), 2 enabled. `words` may be NULL.
 */
int trace_dump(
	struct trace_reader *reader, const struct trace_words *words, FILE *out, struct error *err);

#endif
