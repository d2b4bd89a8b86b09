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
#include "findings/candidate.h"
#include "trace/trace_reader.h"

struct analysis {
	const char *name;
	const char *summary; /* a phrase: what it predicts */
	/* Of the caller until end(). */
	void *(*begin)(void);
	/* Reads the trace to its end; `run` is how candidates refer to it. */
	int (*add_run)(void *state, struct trace_reader *trace, uint32_t run, struct error *err);
	/* Adds candidates, likeliest first, without words. */
	void (*find)(void *state, struct candidates *out);
	void (*end)(void *state);
};

#define ANALYSIS(name) extern const struct analysis analysis_##name;
#include "analyses/analyses.def"
#undef ANALYSIS

extern const struct analysis *const analyses[];
extern const uint32_t analysis_count;

#endif
