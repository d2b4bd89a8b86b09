#include "commands/test/test_explore.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/contract.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "commands/test/test_children.h"
#include "commands/test/test_environment.h"
#include "commands/test/test_share.h"
#include "model/feature.h"
#include "platform/platform.h"

#define SAVE_EVERY_NS UINT64_C(5000000000)
/* A campaign whose runs do not end in time ends after this time, or after LONG_PART of the rest. */
#define LONG_NS UINT64_C(10000000000)
#define LONG_PART 8
/* No campaign begins with less time than this. */
#define LEAST_NS UINT64_C(100000000)
#define NOTES_BYTES 4096

/* A campaign of one case. */
struct test_slice {
	struct test_explore *explore;
	struct test_case *test;
	bool is_child;	 /* it is an executed program */
	uint32_t number; /* of the case; of an executed program: its owner */
	uint64_t begun_ns, slice_ns, until_ns;
	uint64_t investigating_ns; /* time of investigations that have ended */
	uint64_t confirming_ns;	   /* begin of the current investigation; 0: none */
	struct strbuf output;	   /* what a case without threads prints */
};

static bool test_explore_is_own(const struct finding_stack *stack)
{
	const struct finding_frame *frame = stack->count ? finding_user_frame(stack) : NULL;

	return frame && !frame->is_system;
}

/* Returns whether one of the finding's locations lies outside of the system's libraries. An exit
 * status, which no environment shows, belongs to the program. */
static bool test_explore_is_own_code(const struct finding *finding)
{
	bool is_own = finding->kind == OUTCOME_EXIT || finding->kind == OUTCOME_CHECK_FAILED ||
		      test_explore_is_own(&finding->at);

	for (uint32_t i = 0; i < finding->wait_count; i++)
		is_own |= test_explore_is_own(&finding->waits[i].at);
	for (uint32_t i = 0; i < FINDING_ACCESSES; i++)
		is_own |= test_explore_is_own(&finding->race[i].at);
	return is_own;
}

static void test_explore_on_found(void *context, const struct campaign_found *found)
{
	struct test_slice *slice = context;
	struct test_finding finding = {.title = found->finding->title,
		.fallback = (char *)(uintptr_t)found->fallback,
		.kind = found->finding->kind,
		.signature = found->finding->signature,
		.is_repeatable = confirmation_is_repeatable(&found->confirmation),
		.is_own_code = test_explore_is_own_code(found->finding)};

	memcpy(finding.id, found->finding->id, sizeof finding.id);
	(void)test_suite_add_finding(slice->explore->suite, slice->number, &finding);
	slice->test->kinds |= UINT32_C(1) << finding.kind;
}

static void test_explore_on_started(void *context, const struct campaign_start *start)
{
	struct test_slice *slice = context;

	slice->explore->has_started = true;
	slice->explore->has_memory_sites |= start->has_memory_sites;
}

static void test_explore_on_confirming(void *context, const struct failure *failure)
{
	struct test_slice *slice = context;

	(void)failure;
	if (!slice->confirming_ns)
		slice->confirming_ns = platform_monotonic_ns();
}

void test_explore_note(
	struct test_explore *explore, const struct test_case *test, const char *format, ...)
{
	struct strbuf *notes = &explore->notes;
	STRBUF_SCOPED text = STRBUF_EMPTY;
	va_list rest;

	va_start(rest, format);
	strbuf_vaddf(&text, format, rest);
	va_end(rest);
	if (!strstr(notes->text, text.text) && notes->length < NOTES_BYTES)
		strbuf_addf(notes, "note: %s: %s\n", test->name, text.text);
}

static void test_explore_on_warning(void *context, const char *text)
{
	struct test_slice *slice = context;

	test_explore_note(slice->explore, slice->test, "%s", text);
}

static void test_explore_on_progress(void *context, const struct campaign_progress *progress)
{
	const struct test_slice *slice = context;
	const struct test_suite *suite = slice->explore->suite;
	const uint64_t now_ns = platform_monotonic_ns();
	uint64_t runs = progress->runs;
	uint32_t begun = 0;
	char number[32], left[48] = "";

	for (uint32_t i = 0; i < suite->count; i++) {
		runs += suite->cases[i].runs;
		begun += suite->cases[i].state != CASE_WAITING;
	}
	if (slice->until_ns != UINT64_MAX && slice->until_ns > now_ns)
		(void)snprintf(left, sizeof left, ", %llu s left",
			(unsigned long long)((slice->until_ns - now_ns) / 1000000000));
	if (!slice->explore->is_quiet)
		terminal_live("%u of %u cases, %s schedules, %u found%s: %s", begun, suite->count,
			text_grouped(runs, number), suite->finding_count, left, slice->test->name);
}

/* Adds the pairs of locations that the worker has covered to those of the case. */
static void test_explore_on_ran(void *context, struct contract *contract)
{
	struct test_slice *slice = context;
	struct test_case *test = slice->test;

	if (slice->confirming_ns)
		slice->investigating_ns += platform_monotonic_ns() - slice->confirming_ns;
	slice->confirming_ns = 0;
	if (!test->covered)
		test->covered = array_new(CONTRACT_COVERED_WORDS, sizeof *test->covered);
	for (uint32_t word = 0; word < CONTRACT_COVERED_WORDS; word++) {
		test->novel += (uint32_t)__builtin_popcountll(
			contract->covered[word] & ~test->covered[word]);
		test->covered[word] |= contract->covered[word];
	}
}

static bool test_explore_is_enough(void *context)
{
	const struct test_slice *slice = context;

	return platform_monotonic_ns() - slice->begun_ns - slice->investigating_ns >=
	       slice->slice_ns;
}

static void test_explore_break(struct test_case *test, const char *why)
{
	free(test->error);
	test->error = string_copy(why);
	test->state = CASE_BROKEN;
}

static const char *const explore_no_run = "no run ended in its time; give more time (--time)";
static const char *const explore_waits =
	"no run ended: its threads waited for the kernel, for input, a socket, a signal, a timer or a process";

static void test_explore_settle(
	struct test_slice *slice, const struct campaign_result *result, uint64_t schedules)
{
	struct test_case *test = slice->test;
	const char *none = slice->explore->none;

	test->slice_ns = result->total.exploring_ns;
	test->restart = result->restart;
	test->is_alone |= result->is_alone;
	test->has_real_clocks |= result->has_real_clocks;
	test->runs += result->total.runs;
	test->failures += result->total.failures;
	test->executes |= (result->features & FEATURE_CHILD_PROGRAM) != 0;
	if (result->has_no_threads && !test->kinds && none && strstr(slice->output.text, none)) {
		test->runs = 0;
		test_explore_break(test,
			"the program runs no test of this name; look for a filter in its environment or configuration");
	} else if (campaign_is_skipped(slice->explore->options, result)) {
		test->state = CASE_SKIPPED;
	} else if (result->has_no_threads) {
		test->state = CASE_SINGLE;
		test->runs = 1;
		test->failures = test->kinds != 0;
	} else if (!test->runs && !result->is_interrupted &&
		   ((result->waits_for_outside && test->spent_ns) ||
			   slice->until_ns == UINT64_MAX)) {
		test_explore_break(
			test, result->waits_for_outside ? explore_waits : explore_no_run);
	} else if ((result->has_verdict && result->verdict.is_complete) ||
		   (schedules && test->runs >= schedules)) {
		test->state = CASE_COMPLETE;
	} else if (!result->is_interrupted || test->runs) {
		test->state = CASE_LIVE; /* if no run has ended, a longer slice follows */
	}
}

/* Returns the time of a campaign. Its slice usually ends it; the time ends runs that do not. */
static uint64_t test_explore_time(const struct test_slice *slice, uint64_t left_ns)
{
	uint64_t time_ns = 4 * slice->slice_ns > LONG_NS ? 4 * slice->slice_ns : LONG_NS;

	if (left_ns == UINT64_MAX)
		return 0;
	if (!slice->test->runs && time_ns < 4 * slice->test->spent_ns)
		time_ns = 4 * slice->test->spent_ns;
	if (time_ns < left_ns / LONG_PART)
		time_ns = left_ns / LONG_PART;
	return time_ns < left_ns ? time_ns : left_ns;
}

/* Adds the results of a campaign of an executed program to the case that executes it. */
static void test_explore_count_child(
	struct test_case *owner, const struct test_case *before, const struct test_case *child)
{
	owner->runs += child->runs - before->runs;
	owner->failures += child->failures - before->failures;
	owner->spent_ns += child->spent_ns - before->spent_ns;
	owner->has_real_clocks |= child->has_real_clocks;
}

/* Lists the programs that the case executes, once. */
static void test_explore_find_children(
	struct test_explore *explore, uint32_t number, uint64_t left_ns)
{
	struct test_case *test = &explore->suite->cases[number];
	const uint64_t begun_ns = platform_monotonic_ns();

	if (!test->executes || test->has_children || number >= explore->suite->count ||
		test->state == CASE_BROKEN || test->state == CASE_SKIPPED ||
		explore->is_interrupted)
		return;
	test->has_children = true;
	test_children_add(
		explore, number, left_ns / LONG_PART < LONG_NS ? left_ns / LONG_PART : LONG_NS);
	explore->suite->cases[number].spent_ns += platform_monotonic_ns() - begun_ns;
}

static void test_explore_case(struct test_slice *slice, uint64_t left_ns)
{
	struct test_explore *explore = slice->explore;
	struct campaign_options options = *explore->options;
	const struct campaign_listener listener = {.context = slice,
		.started = test_explore_on_started,
		.progress = test_explore_on_progress,
		.confirming = test_explore_on_confirming,
		.warning = test_explore_on_warning,
		.found = test_explore_on_found,
		.run_context = slice,
		.ran = test_explore_on_ran,
		.is_enough = test_explore_is_enough};
	struct test_case *test = slice->test;
	struct campaign_result result = {0};
	struct test_environment environment;
	const struct test_case before = *test;
	struct error err;

	slice->begun_ns = platform_monotonic_ns();
	options.argv = test->argv;
	options.environment = test->environment;
	options.keep_going = true;
	strbuf_init(&slice->output);
	/* A case that later slices continue has threads. */
	options.output = explore->none && !test->runs ? &slice->output : NULL;
	options.resumes = test->runs > 0;
	if (!options.is_restart_forced)
		options.restart = test->restart;
	if (test->is_alone)
		options.workers = 1;
	options.has_real_clocks = test->has_real_clocks;
	options.settings.tolerated |= test->tolerated;
	if (slice->is_child)
		options.settings.input = test->input;
	options.time_ns = test_explore_time(slice, left_ns);
	test->novel = 0;
	if (!test_environment_enter(&environment, test))
		test_explore_break(test, "its folder cannot be entered");
	else if (campaign_run(&options, &listener, &result, &err) < 0)
		test_explore_break(test, err.text);
	else
		test_explore_settle(slice, &result, options.schedules);
	test_environment_leave(&environment);
	strbuf_release(&slice->output);
	test->spent_ns += platform_monotonic_ns() - slice->begun_ns;
	if (slice->is_child)
		test_explore_count_child(&explore->suite->cases[slice->number], &before, test);
	if (!explore->campaign)
		explore->campaign = result.campaign;
	explore->is_interrupted = result.is_interrupted || *options.is_interrupted;
}

void test_explore_run(struct test_explore *explore)
{
	const uint64_t time_ns = explore->options->time_ns;
	const uint64_t begun_ns = platform_monotonic_ns();
	const uint64_t until_ns = time_ns ? begun_ns + time_ns : UINT64_MAX;
	/* With a number of schedules, one campaign makes all runs of a case: the result then does
	 * not depend on time. */
	const uint64_t first_ns = explore->options->schedules
					  ? UINT64_MAX / 8
					  : test_share_first_ns(time_ns, explore->suite->count);
	uint64_t saved_ns = begun_ns;
	uint64_t now_ns;

	while (now_ns = platform_monotonic_ns(), !explore->is_interrupted) {
		struct test_slice slice = {.explore = explore, .until_ns = until_ns};
		const uint64_t left_ns = until_ns == UINT64_MAX ? UINT64_MAX
					 : until_ns > now_ns	? until_ns - now_ns
								: 0;
		const uint32_t number = test_share_next(explore->suite);

		if (number == explore->suite->total || left_ns < LEAST_NS)
			break;
		slice.test = &explore->suite->cases[number];
		slice.is_child = number >= explore->suite->count;
		slice.number = slice.is_child ? slice.test->owner : number;
		slice.slice_ns = test_share_slice_ns(slice.test, first_ns, left_ns);
		test_explore_case(
			&slice, test_share_campaign_ns(explore->suite, first_ns, left_ns));
		test_explore_find_children(explore, number, left_ns);
		if (platform_monotonic_ns() - saved_ns > SAVE_EVERY_NS) {
			explore->save(explore->context, explore->campaign);
			saved_ns = platform_monotonic_ns();
		}
	}
	terminal_clear_live();
	for (uint32_t i = 0; i < explore->suite->count; i++)
		if (explore->suite->cases[i].state == CASE_LIVE && !explore->suite->cases[i].runs)
			test_explore_break(&explore->suite->cases[i], explore_no_run);
	explore->elapsed_ns = now_ns - begun_ns;
	explore->save(explore->context, explore->campaign);
}
