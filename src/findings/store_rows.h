/* What a store holds besides findings: campaigns, and further results of commands. */
#pragma once

#include <stdint.h>

/* A campaign; a report of one needs no store, and strings may then be NULL. */
struct store_campaign {
	int64_t id;
	char *command; /* the target's command line, for display */
	char *options; /* JSON */
	char *strategy;
	uint64_t seed;
	uint64_t runs, failures, steps;
	double seconds;
	char *state;	 /* "running", "done", "interrupted" */
	char *restart;	 /* method of restarting runs at the end of the campaign */
	int64_t started; /* seconds since 1970 */
	/* Numbers of its runs: [run_first, run_end) were made, as far as the store knows. */
	uint64_t run_first, run_end;
	/* JSON: progress over time; NULL if stored by an older version without it */
	char *course;
	/* fingerprint of the program's file; 0: stored by an older version without it */
	uint64_t target;
};

/* A further result as JSON: "predict" and "branches" of a campaign, "explain" of a finding,
 * "verdict" (explore/schemes/shards.h). A new document replaces the last one of its kind. */
struct store_document {
	char *kind;
	int64_t campaign; /* 0: the document belongs to a finding */
	char *finding;	  /* "F1"; NULL if it belongs to a campaign */
	char *text;
	int64_t made; /* seconds since 1970 */
};
