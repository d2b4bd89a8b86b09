/*
 * A test suite: the cases of one program, what was explored of each, and the findings of all. A
 * program that a case executes is explored like a case; its results count for the case.
 *
 * Names of cases come from the target: printing them needs the filter of base/visible.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/contract.h"
#include "findings/finding.h"
#include "model/outcome/outcome.h"

enum test_case_state {
	CASE_WAITING,	/* no campaign has explored it */
	CASE_LIVE,	/* further schedules may show something new */
	CASE_SINGLE,	/* creates no thread: it was run once */
	CASE_COMPLETE,	/* all its orders, or all its schedules, were executed */
	CASE_UNCHANGED, /* --since: explored earlier with the same bytes, and without a finding */
	CASE_BROKEN,	/* raddle cannot run it: `error` */
	CASE_SKIPPED	/* its runs end with the status that means "does not apply here" */
};

struct test_case {
	char *name;
	char *group; /* suite of the framework; "" if it has none */
	char *own;   /* name within the group */
	char **argv; /* the program with the arguments that select this case; ends with NULL */
	char **environment; /* assignments that select this case; ends with NULL */
	/* of an executed program: */
	uint32_t owner;	    /* number of the case that executes it */
	char *directory;    /* its working folder; NULL: the command's */
	char *input;	    /* its standard input; NULL: /dev/null */
	uint32_t tolerated; /* bits OUTCOME_x of failures that its parent expects */
	enum test_case_state state;
	uint64_t runs, failures;
	uint32_t kinds;	   /* bits OUTCOME_x of its findings */
	uint64_t spent_ns; /* time of all its campaigns */
	uint64_t slice_ns; /* time of its last campaign, without investigations */
	uint32_t novel;	   /* pairs of locations that only this last campaign has covered */
	enum contract_restart restart; /* that its last campaign has ended with */
	bool is_alone;	      /* its processes disturb each other: one worker makes its runs */
	bool has_real_clocks; /* it fails with virtual time only (explore/clocks.c) */
	bool executes;	      /* its processes execute other programs */
	bool has_children;    /* these were listed */
	uint64_t *covered; /* pairs of locations covered so far (engine_run.covered); NULL: none */
	char *error;
};

/* Findings with equal signature and title, of one or more cases. */
struct test_finding {
	char id[32];
	char *title;
	char *fallback; /* folder of the fallback store that has it; NULL: the command's store */
	enum outcome_kind kind;
	uint64_t signature;
	bool is_repeatable;
	bool is_own_code; /* it happens in the program's code, not in a library of the system */
	uint32_t *cases;  /* indexes, ascending */
	uint32_t case_count;
};

struct test_suite {
	struct test_case *cases; /* `total`: the executed programs follow the `count` cases */
	uint32_t count, total;
	/* Hash table of the cases' names: index + 1; 0: free. At least half of the slots are free. */
	uint32_t *slots;
	uint32_t slot_count;
	struct test_finding *findings;
	uint32_t finding_count;
};

/* Adds a case, whose name is made of the group, the separator and its own name. Returns false if its
 * own name is empty, or the suite has a case of that name. */
bool test_suite_add(
	struct test_suite *suite, const char *group, const char *separator, const char *own);
/* Adds an executed program, and takes ownership of its strings. No case is added after it. */
void test_suite_add_child(struct test_suite *suite, const struct test_case *child);
/* Returns whether further schedules of the case, or of a program that it executes, are wanted. */
bool test_suite_is_live(const struct test_suite *suite, uint32_t number);
void test_case_release(struct test_case *test);
void test_suite_release(struct test_suite *suite);

/* Joins a finding of the case with equal findings of other cases. */
struct test_finding *test_suite_add_finding(
	struct test_suite *suite, uint32_t number, const struct test_finding *like);
/* Sorts the findings: the most urgent one first. */
void test_suite_rank(struct test_suite *suite);
/* Returns whether only some schedules of the case fail. */
bool test_case_depends_on_schedule(const struct test_case *test);
