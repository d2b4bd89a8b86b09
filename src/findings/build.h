/*
 * Makes a finding out of numbers: the outcome, the threads, the schedule and the trace of a failing
 * run, and the symbols of its program. All inputs are plain arrays of the caller, who also fills
 * what a run does not know (command line, strategy, seed, replays, output).
 */
#ifndef RADDLE_FINDINGS_BUILD_H
#define RADDLE_FINDINGS_BUILD_H

#include <sys/types.h>

#include "findings/finding.h"
#include "model/event.h"
#include "model/memory_block.h"
#include "model/outcome.h"
#include "model/schedule.h"
#include "symbols/symbols.h"

/* A thread of the run; its index is its place in the array, main is the first. */
struct finding_source_thread {
	struct thread_id parent; /* a lower index; not read for main */
	uint16_t ordinal;	 /* which child of its parent */
	uint64_t create_site;	 /* return address of the creating call, 0: not known */
	uint64_t start;		 /* address of its start function, 0: not known */
	/* Where it stands in a process that stands still, see symbols_unwind(). 0: not to be had.
	 */
	uint64_t stack_pointer;
	uint64_t thread_base;
	const char *label; /* pthread_setname_np; NULL or empty: none */
};

struct finding_source {
	const struct outcome *outcome;
	const struct finding_source_thread *threads;
	uint32_t thread_count;
	const struct trace_event *events; /* oldest first; may be NULL with count 0 */
	uint64_t event_count;
	uint64_t events_dropped; /* later ones that did not fit into the trace */
	uint64_t
		events_from; /* earlier steps than this were not recorded but for creations of threads */
	const struct memory_block *blocks; /* allocations of the run, as they were made */
	uint32_t block_count;
	uint32_t layout;			 /* model/layout.h */
	const struct schedule_segment *segments; /* of the run, by index */
	uint32_t segment_count;
	pid_t pid;	     /* process that stands still with its stacks in place, 0: none */
	const char *program; /* for the schedule's text; NULL: not written */
	/* A race: return addresses of the earlier access, innermost first; none: its place only. */
	const uint64_t *earlier_stack;
	uint32_t earlier_count;
	uint32_t steps_most; /* steps of the interleaving that are kept, from its end; 0: 2000 */
};

/*
 * Fills kind, code, title, detail, at, failing_thread, waits, race, steps, schedule and, where there are
 * events, trace; computes the signature. Everything else of *out is zero. `symbols` may be NULL: then places are addresses.
 * Without a standing process stacks have one frame, where the outcome says it happened.
 * On failure *out is untouched; the error is about a source that contradicts itself.
 */
int finding_build(struct finding *out, const struct finding_source *source, struct symbols *symbols,
	struct error *err);

/* The run as the bytes of a trace file, to be freed; NULL where it has no events. */
int finding_trace_bytes(
	const struct finding_source *source, char **bytes, size_t *size, struct error *err);

/* "main.0.2", freed by the caller; NULL when the table has no such thread or contradicts itself. */
char *finding_thread_path(
	const struct finding_source_thread *threads, uint32_t thread_count, uint32_t index);

/* A run's schedule with names in place of its indices. *out is released with
 * schedule_file_release. */
int finding_schedule_from_segments(
	struct schedule_file *out, const struct finding_source *source, struct error *err);

#endif
