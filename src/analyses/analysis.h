/*
 * An analysis reads the traces of passing runs and predicts failures of other runs: candidates
 * (findings/describe/candidate.h). It makes no runs itself.
 *
 * Life cycle: begin(); add_run() for each recorded run; find(); end(). Each analysis is one `const
 * struct analysis` and one row in analyses.def. `raddle predict` drives, confirms and reports the
 * candidates of all analyses in the same way.
 */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "findings/describe/candidate.h"
#include "symbols/symbols.h"
#include "trace/trace_reader.h"

struct atomic_rules;

/* Inputs besides traces. Must outlive the analysis. */
struct analysis_setting {
	struct symbols *symbols;	  /* NULL if not available */
	const struct atomic_rules *rules; /* annotations of atomic sets and units; NULL if none */
};

struct analysis_run {
	uint32_t number;		     /* candidates refer to the run by this number */
	const struct symbols_memory *memory; /* memory of the run; NULL if unknown */
};

struct analysis {
	const char *name;
	const char *summary; /* a phrase: what it predicts */
	/* Returns the analysis's state, which end() frees. */
	void *(*begin)(const struct analysis_setting *setting);
	/* Adds a run by reading its whole trace. */
	int (*add_run)(void *state, struct trace_reader *trace, const struct analysis_run *run,
		struct error *err);
	/* Adds candidates without descriptions, most likely first. */
	void (*find)(void *state, struct candidates *out);
	void (*end)(void *state);
	/* Optional, else NULL: adds notes about the analysed runs to `out`, one per line. */
	void (*add_notes)(const void *state, struct strbuf *out);
};

/* Returns all events of a trace, freed by the caller; NULL if unreadable. */
struct trace_event *analysis_read_events(
	struct trace_reader *trace, uint32_t *total, struct error *err);

#define ANALYSIS(name) extern const struct analysis analysis_##name;
#include "analyses/analyses.def"
#undef ANALYSIS

extern const struct analysis *const analyses[];
extern const uint32_t analysis_count;
