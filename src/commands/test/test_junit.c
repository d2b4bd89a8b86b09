#include "commands/test/test_junit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "cli/next_command.h"
#include "report/suite.h"

static bool test_junit_is_of(const struct test_finding *finding, uint32_t number)
{
	for (uint32_t i = 0; i < finding->case_count; i++)
		if (finding->cases[i] == number)
			return true;
	return false;
}

/* Adds the findings of the case, with the commands that replay them. Returns the first of them. */
static const struct test_finding *test_junit_add_findings(
	const struct test_suite *suite, uint32_t number, const char *store, struct strbuf *out)
{
	const struct test_finding *first = NULL;

	for (uint32_t i = 0; i < suite->finding_count; i++) {
		const struct test_finding *finding = &suite->findings[i];

		if (!test_junit_is_of(finding, number))
			continue;
		if (!first)
			first = finding;
		strbuf_addf(out, "%s\n  raddle replay %s", finding->title, finding->id);
		next_add_store(out, finding->fallback ? finding->fallback : store);
		strbuf_adds(out, "\n");
	}
	return first;
}

static void test_junit_fill(const struct test_record *record, uint32_t number, const char *store,
	struct report_case *out, struct strbuf *message, struct strbuf *text)
{
	const struct test_suite *suite = record->suite;
	const struct test_case *test = &suite->cases[number];
	const struct test_finding *first = test_junit_add_findings(suite, number, store, text);

	if (first)
		strbuf_addf(message, "%s; ", first->title);
	if (test->state == CASE_BROKEN)
		strbuf_adds(message, test->error);
	else if (test->state == CASE_SKIPPED)
		strbuf_addf(message, "skipped itself: it ended with status %" PRIu32,
			record->settings->skip_status);
	else if (test->state == CASE_SINGLE)
		strbuf_adds(message, "no threads: one run");
	else if (test->runs)
		strbuf_addf(message, "%" PRIu64 " of %" PRIu64 " schedules failed%s",
			test->failures, test->runs,
			test->state == CASE_UNCHANGED ? " in an earlier test of the same program"
						      : "");
	else
		strbuf_adds(message, "not run: the time was up");
	*out = (struct report_case){.name = test->name,
		.seconds = (double)test->spent_ns / 1e9,
		.message = message->text,
		.text = text->text};
	if (test->state == CASE_BROKEN)
		out->result = REPORT_CASE_ERROR;
	else if (first || test->failures)
		out->result = REPORT_CASE_FAILED;
	else if (!test->runs || test->state == CASE_SKIPPED)
		out->result = REPORT_CASE_SKIPPED;
	if (first)
		out->type = outcome_descriptions[first->kind].word;
}

char *test_junit_make(const struct test_record *record, const char *store)
{
	const struct test_suite *suite = record->suite;
	struct report_case *cases = array_new(suite->count, sizeof *cases);
	FREE_SCOPED struct strbuf *texts = array_new(2 * (size_t)suite->count, sizeof *texts);
	struct strbuf name = STRBUF_EMPTY;
	char *junit;

	shell_words_add(&name, record->argv);
	for (uint32_t i = 0; i < suite->count; i++) {
		strbuf_init(&texts[2 * i]);
		strbuf_init(&texts[2 * i + 1]);
		test_junit_fill(record, i, store, &cases[i], &texts[2 * i], &texts[2 * i + 1]);
	}
	junit = report_suite_to_junit(&(struct report_suite){.name = name.text,
		.cases = cases,
		.count = suite->count,
		.seconds = (double)record->elapsed_ns / 1e9});
	for (uint32_t i = 0; i < 2 * suite->count; i++)
		strbuf_release(&texts[i]);
	strbuf_release(&name);
	free(cases);
	return junit;
}
