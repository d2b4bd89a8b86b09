#include "commands/test/test_print.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/visible.h"
#include "cli/next_command.h"

/* Longer names extend beyond their column. */
#define NAME_COLUMNS_MOST 60
#define CASES_NAMED 5

/* Returns the number of columns: a UTF-8 sequence counts as one. */
static int test_print_columns(const char *text)
{
	int columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

static int test_print_width(const struct test_suite *suite)
{
	int width = (int)strlen("case");

	for (uint32_t i = 0; i < suite->count; i++) {
		FREE_SCOPED char *name = visible_text(suite->cases[i].name, false);
		const int columns = test_print_columns(name);

		if (columns > width)
			width = columns < NAME_COLUMNS_MOST ? columns : NAME_COLUMNS_MOST;
	}
	return width;
}

static void test_print_add_kinds(const struct test_case *test, struct strbuf *out)
{
	if (test->state == CASE_BROKEN)
		strbuf_addf(out, "error: %s", test->error);
	if (test->state == CASE_SKIPPED)
		strbuf_adds(out, "skipped");
	for (unsigned kind = 0; kind < OUTCOME_KIND_COUNT; kind++)
		if (test->kinds >> kind & 1)
			strbuf_addf(out, "%s%s", out->length ? ", " : "",
				outcome_descriptions[kind].word);
	if (!out->length)
		strbuf_adds(out, "-");
}

static const char *test_print_dependence(const struct test_case *test)
{
	if (!test->failures)
		return "-";
	if (test->runs == 1 && test->state != CASE_SINGLE)
		return "one run";
	return test_case_depends_on_schedule(test) ? "yes" : "no";
}

static void test_print_case(const struct test_case *test, int width)
{
	FREE_SCOPED char *name = visible_text(test->name, false);
	const int columns = test_print_columns(name);
	char number[32];
	STRBUF_SCOPED kinds = STRBUF_EMPTY;

	test_print_add_kinds(test, &kinds);
	(void)printf("%s%*s  %9s  %-8s  %7.2f s  %s%s%s\n", name,
		columns < width ? width - columns : 0, "",
		test->runs ? text_grouped(test->runs, number) : "not run",
		test_print_dependence(test), (double)test->spent_ns / 1e9, kinds.text,
		test->state == CASE_SINGLE	? ", no threads"
		: test->state == CASE_UNCHANGED ? ", unchanged"
						: "",
		test->has_real_clocks ? ", real clocks" : "");
}

void test_print_table(const struct test_suite *suite)
{
	const int width = test_print_width(suite);

	(void)printf("%-*s  %9s  %-8s  %9s  %s\n", width, "case", "schedules", "depends", "time",
		"found");
	for (uint32_t i = 0; i < suite->count; i++)
		test_print_case(&suite->cases[i], width);
}

static void test_print_cases(const struct test_suite *suite, const struct test_finding *finding)
{
	uint64_t runs = 0, failures = 0;

	(void)printf("    in ");
	for (uint32_t i = 0; i < finding->case_count; i++) {
		const struct test_case *test = &suite->cases[finding->cases[i]];

		if (i < CASES_NAMED) {
			FREE_SCOPED char *name = visible_text(test->name, false);

			(void)printf("%s%s", i ? ", " : "", name);
		}
		runs += test->runs;
		failures += test->failures;
	}
	if (finding->case_count > CASES_NAMED)
		(void)printf(" and %u more", finding->case_count - CASES_NAMED);
	(void)printf(
		"; %s\n", failures < runs ? "depends on the schedule" : "every schedule fails");
}

void test_print_findings(const struct test_suite *suite, const char *store)
{
	for (uint32_t i = 0; i < suite->finding_count; i++) {
		const struct test_finding *finding = &suite->findings[i];
		STRBUF_SCOPED option = STRBUF_EMPTY;

		next_add_store(&option, finding->fallback ? finding->fallback : store);
		(void)printf("%2u. %s%s\n", i + 1, finding->title,
			!finding->is_repeatable ? " (not repeatable)"
			: finding->is_own_code	? ""
						: " (in a library)");
		test_print_cases(suite, finding);
		(void)printf("    raddle replay %s%s\n", finding->id, option.text);
	}
}
