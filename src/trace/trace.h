/*
 * A stored trace: the program, the threads by their creation paths, the events of one run in order,
 * and the outcome. The file format is in docs/trace-format.md. Addresses are those of the recorded
 * run; the thread of an event is an index into `threads`.
 */
#pragma once

#include "base/error.h"
#include "model/event.h"
#include "model/outcome/outcome.h"

#define TRACE_VERSION 4u

struct trace_thread {
	const char *path;     /* "main.0.2" */
	const char *label;    /* pthread_setname_np; NULL or empty: none */
	uint64_t create_site; /* return address of the creating call, 0: not known */
	uint64_t start;	      /* address of the start function, 0: not known */
};

/* The contents of a trace except its events. */
struct trace_run {
	const char *program; /* NULL or empty: not known */
	const struct trace_thread *threads;
	uint32_t thread_count; /* number of threads, at most THREAD_CAPACITY */
	struct outcome outcome;
	uint64_t event_count;	 /* number of events in the file */
	uint64_t events_dropped; /* number of later events that were not recorded */
};
