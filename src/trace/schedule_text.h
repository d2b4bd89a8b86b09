/*
 * Schedules as text that a person can read and edit (format: docs/trace-format.md):
 *
 *   raddle schedule 1
 *   program ./bank
 *   outcome deadlock
 *   steps 124
 *   layout 41523
 *   interruption points
 *   main 12
 *   main.0 3 preempts
 *   main 2 stalls
 *   main 1
 *   value 1 of 3
 *
 * A thread is named by its creation path, so a schedule is valid in every run and with every
 * executor. The reader accepts blank lines and # comments. It refuses every other unknown line with
 * file, line, cause and remedy, and is safe on arbitrary bytes (it is fuzzed).
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "model/ids.h"
#include "model/schedule.h"

#define SCHEDULE_TEXT_VERSION 1

/* A thread by its creation path; the threads are in the order of first appearance in the file. */
struct schedule_thread {
	thread_name name; /* thread_path_name(path) */
	char *path;	  /* "main.0.2"; owned by the schedule_file */
};

/* A schedule with thread names instead of run-local indices: segment.thread indexes `threads`. */
struct schedule_file {
	char *program; /* program as written in the file, may be NULL */
	char *outcome; /* word of outcomes.def, may be NULL */
	uint64_t step_count;
	uint32_t layout;			      /* model/memory/layout.h */
	enum interruption_points interruption_points; /* of the run */
	struct schedule_thread *threads;
	uint32_t thread_count;
	struct schedule_segment *segments;
	uint32_t segment_count;
};

void schedule_file_release(struct schedule_file *file);

/* Parses a schedule. `path`: for messages. On failure *out is untouched. Release with
 * schedule_file_release(). */
int schedule_text_parse(const char *bytes, size_t size, const char *path, struct schedule_file *out,
	struct error *err);
int schedule_text_read(const char *path, struct schedule_file *out, struct error *err);
void schedule_text_write(const struct schedule_file *file, struct strbuf *out);

/* Returns the stable name of a creation path: 1 for main, else a hash. 0: no creation path. */
thread_name thread_path_name(const char *path);
