/*
 * Makes a finding from a run: its outcome, threads, schedule and trace, and the symbols of its
 * program. All inputs are plain arrays owned by the caller. The caller also fills what a run does
 * not know: command line, strategy, seed, replays, output.
 */
#pragma once

#include <sys/types.h>

#include "findings/finding.h"
#include "model/event.h"
#include "model/memory/memory_block.h"
#include "model/memory_model.h"
#include "model/outcome/outcome.h"
#include "model/schedule.h"
#include "model/stall.h"
#include "model/thread_record.h"
#include "symbols/symbols.h"

struct finding_source {
	const struct outcome *outcome;
	const struct thread_record *threads;
	uint32_t thread_count;
	const struct trace_event *events; /* oldest first; NULL only with count 0 */
	uint64_t event_count;
	uint64_t events_dropped; /* later events that did not fit into the trace */
	/* first step of which all events are recorded; earlier steps: only thread creations */
	uint64_t events_from;
	const struct memory_block *blocks; /* allocations of the run, in order */
	uint32_t block_count;
	uint32_t layout;			      /* model/memory/layout.h */
	enum interruption_points interruption_points; /* of the run */
	const struct schedule_segment *segments;      /* segments of the run; threads by index */
	uint32_t segment_count;
	pid_t pid;	     /* stopped process with intact stacks, 0: none */
	const char *program; /* for the schedule's text; NULL if omitted */
	/*
	 * Race: return addresses of the earlier access, innermost first; 0: only its location is known
	 */
	const uint64_t *earlier_stack;
	uint32_t earlier_count;
	const struct stalls *stalls;	      /* stalls of the run; NULL if unknown */
	const struct delayed_stores *delayed; /* NULL if unknown */
	uint32_t steps_most; /* steps of the interleaving to keep, from its end; 0: 2000 */
};

/*
 * Fills the parts of the finding that the run shows; the rest of *out is zero. `symbols` NULL:
 * locations are addresses. If no process is stopped, stacks have one frame, the location of the outcome.
 * The error reports an inconsistent source; *out is untouched then.
 */
int finding_build(struct finding *out, const struct finding_source *source, struct symbols *symbols,
	struct error *err);

/* The run as the bytes of a trace file; the caller frees them. Returns NULL if the run has no
 * events. */
char *finding_trace_bytes(const struct finding_source *source, size_t *size);

/* "main.0.2"; the caller frees it. Returns NULL if there is no such thread, or the table is
 * inconsistent. */
char *finding_thread_path(
	const struct thread_record *threads, uint32_t thread_count, uint32_t index);
