/*
 * An analysis looks at the traces of runs, one after the other, and says in the end what could go wrong
 * in runs that nobody has seen: candidates. Pure calculation; it makes no runs.
 *
 * One analysis is one `const struct analysis` and one row in analyses.def. Everything it finds is
 * driven, confirmed and reported in the same way, so this is all there is to write for a new kind.
 */
#ifndef RADDLE_ANALYSES_ANALYSIS_H
#define RADDLE_ANALYSES_ANALYSIS_H

#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "findings/candidate.h"
#include "symbols/symbols.h"
#include "trace/trace_reader.h"

struct atomic_rules;

/* What an analysis may want to know besides traces. Outlives it. */
struct analysis_setting {
	struct symbols *symbols;	  /* NULL: none are to be had */
	const struct atomic_rules *rules; /* of atomic sets and units; NULL: none */
};

struct analysis_run {
	uint32_t number;		     /* how candidates refer to it */
	const struct symbols_memory *memory; /* of the run; NULL: not known */
};

struct analysis {
	const char *name;
	const char *summary; /* a phrase: what it predicts */
	bool needs_memory;   /* and functions: of programs of raddle-cc only */
	/* Of the caller until end(). */
	void *(*begin)(const struct analysis_setting *setting);
	/* Reads the trace to its end. */
	int (*add_run)(void *state, struct trace_reader *trace, const struct analysis_run *run,
		struct error *err);
	/* Adds candidates, likeliest first, without words. */
	void (*find)(void *state, struct candidates *out);
	void (*end)(void *state);
	/* NULL: it has none. What to know of the runs that were looked at, a line each, added to `out`. */
	void (*tell)(const void *state, struct strbuf *out);
};

/* All events of a trace, to be freed; NULL: it cannot be read. */
struct trace_event *analysis_read_events(
	struct trace_reader *trace, uint32_t *total, struct error *err);

#define ANALYSIS(name) extern const struct analysis analysis_##name;
#include "analyses/analyses.def"
#undef ANALYSIS

extern const struct analysis *const analyses[];
extern const uint32_t analysis_count;

#endif
