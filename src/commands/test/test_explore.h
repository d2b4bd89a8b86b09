/*
 * Explores the cases of a suite: each slice of a case is a campaign (explore/campaign.h), and later
 * slices continue the earlier ones. The set-up that a case makes before its first thread is made
 * once in a campaign, because its runs begin there (rewind).
 *
 * Thread context: the command's only thread.
 */
#pragma once

#include "base/strbuf.h"
#include "commands/test/suite/test_suite.h"
#include "explore/campaign.h"

struct test_explore {
	struct test_suite *suite;
	/* of each campaign; `schedules` is the limit of a case, `time_ns` that of the suite */
	const struct campaign_options *options;
	const char *none; /* printed by a run that selects no case; NULL: such a run fails */
	bool is_quiet;
	/* Called every few seconds and at the end, to store the result so far. */
	void (*save)(void *context, int64_t campaign);
	void *context;

	/* Results. */
	bool is_interrupted;
	bool has_started, has_memory_sites; /* a case has created threads; raddle sees its stores */
	uint64_t elapsed_ns;
	int64_t campaign;    /* first campaign of this command; 0: none */
	struct strbuf notes; /* distinct warnings, one a line */
};

void test_explore_run(struct test_explore *explore);
/* Adds a warning about the case to the notes that are printed after the table. A text that another case
 * has already added is not repeated. */
void test_explore_note(struct test_explore *explore, const struct test_case *test,
	const char *format, ...) __attribute__((format(printf, 3, 4)));
