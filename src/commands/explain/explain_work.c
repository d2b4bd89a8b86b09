#include "commands/explain/explain_work.h"

#include <string.h>

#include "cli/command.h"
#include "cli/terminal.h"

/* Wanted number of failing and of passing runs. With fewer, a single run would decide, so up to
 * RUNS_MORE times N runs are made. */
#define RUNS_OF_A_SORT 10
#define RUNS_MORE 20
/* Runs of each sort for a verdict: none of 30 means below 12 % with 95 % confidence. */
#define CAUSE_RUNS 30
/* Patterns of one explanation to test as its cause: the first, and those nearly as suspicious. */
#define CAUSE_PATTERNS 5
#define CAUSE_SCORE_PART 0.7
/* Comparing ends after this fraction of the time. */
#define COMPARING_PART 2
/* Trying memory orders ends after this fraction of the time. */
#define ORDERS_PART 3
/* Testing leaves this fraction of the time to replay runs for the report. */
#define SHOWING_PART 10

static void explain_work_take_run(struct explain_result *result, const struct explain_run *run)
{
	result->patterns_dropped += run->patterns_dropped;
	result->accesses_dropped += run->accesses_dropped;
	if (run->verdict == EXPLAIN_OTHER)
		result->others++;
	else
		pattern_ranking_add(&result->ranking, run->patterns, run->pattern_count,
			run->verdict == EXPLAIN_FAILED);
}

static bool explain_work_is_enough(
	const struct explain_result *result, const struct explain_work *work, uint64_t runs)
{
	if (runs < work->runs)
		return false;
	return work->is_exact || runs >= RUNS_MORE * work->runs ||
	       (result->ranking.failed >= RUNS_OF_A_SORT &&
		       result->ranking.passed >= RUNS_OF_A_SORT);
}

static int explain_work_find_orders(
	struct explain_result *result, const struct explain_work *work, struct error *err)
{
	int status;

	if (work->without_cause)
		return 0;
	terminal_live("trying stronger memory orders");
	status = explain_find_orders(
		result->explain, work->time_ns / ORDERS_PART, &result->orders, err);
	terminal_clear_live();
	return status;
}

static int explain_work_make_runs(
	struct explain_result *result, const struct explain_work *work, struct error *err)
{
	const uint64_t until_ns = work->time_ns / (work->without_cause ? 1 : COMPARING_PART);
	int status = explain_learn(result->explain, err);

	if (status == 0 && !explain_sees_memory(result->explain))
		strbuf_addf(&result->notes,
			"note: raddle sees no memory accesses of %s, so it compares only orders of locks, waits, signals and threads; build it with raddle-cc to compare accesses as well\n",
			result->finding->argv[0]);
	if (status == 0)
		status = explain_work_find_orders(result, work, err);
	for (uint64_t runs = 0; status == 0 && !explain_work_is_enough(result, work, runs);
		runs++) {
		struct explain_run run;

		if (explain_elapsed_ns(result->explain) >= until_ns)
			break;
		terminal_live("%llu of %llu runs, %u failed", (unsigned long long)runs,
			(unsigned long long)work->runs, result->ranking.failed);
		status = explain_run(result->explain, &run, err);
		if (status == 0)
			explain_work_take_run(result, &run);
	}
	/* An interrupted command explains the runs made so far. */
	if (status == ERROR_INTERRUPTED)
		status = 0;
	terminal_clear_live();
	if (status < 0 || result->ranking.failed || result->ranking.passed || result->others)
		return status;
	if (command_stop_reason() == STOP_USER)
		return error_set(err, ERROR_INTERRUPTED,
			"interrupted before a run of %s ended, so nothing is compared",
			result->finding->argv[0]);
	return error_set(err, ERROR_TARGET,
		"no run of %s ended before the time was up, so nothing is compared; give it more time (--time)",
		result->finding->argv[0]);
}

static void explain_work_note_runs(struct explain_result *result)
{
	struct pattern_ranking *ranking = &result->ranking;
	struct explain_shown own;

	if (command_stop_reason())
		strbuf_addf(&result->notes, "note: %s after %llu runs, so no cause was tested\n",
			command_stop_reason() == STOP_TIME ? "the time was up" : "interrupted",
			(unsigned long long)ranking->failed + ranking->passed + result->others);
	if (ranking->failed + ranking->passed == 1 && !result->others)
		strbuf_adds(&result->notes,
			"note: a single run has no other run to compare with; make more with --runs\n");
	if (!explain_repeats(result->explain))
		strbuf_addf(&result->notes,
			"note: the schedule of %s no longer fails, so raddle uses runs with the same kind of failure; has the program been rebuilt?\n",
			result->finding->id);
	if (!ranking->passed && ranking->failed)
		strbuf_adds(&result->notes,
			"note: no run passed, so nothing separates failing runs from passing ones; if the program fails without raddle, too, debug it there, else try another --strategy or more --runs\n");
	if (ranking->failed)
		return;
	if (explain_own_run(result->explain, &own)) {
		pattern_ranking_add(ranking, own.patterns, own.pattern_count, true);
		explain_shown_release(&own);
		strbuf_addf(&result->notes,
			"note: only the run of %s failed like it, and raddle compares that run with the others; more --runs or another --strategy may find more\n",
			result->finding->id);
	} else {
		strbuf_addf(&result->notes,
			"note: no run failed like %s; more --runs or another --strategy may find one\n",
			result->finding->id);
	}
}

static void explain_work_note_limits(struct explain_result *result, const struct explain_work *work)
{
	if (result->ranking.dropped)
		strbuf_addf(&result->notes,
			"note: only the first %u different patterns are ranked, and others were left out %llu times; raise --patterns\n",
			work->limit, (unsigned long long)result->ranking.dropped);
	if (result->patterns_dropped)
		strbuf_addf(&result->notes,
			"note: runs showed more than %u different patterns and %llu were not kept; a smaller --window finds fewer\n",
			explain_limits.patterns, (unsigned long long)result->patterns_dropped);
	if (result->accesses_dropped)
		strbuf_addf(&result->notes,
			"note: runs accessed more than %u shared variables, and %llu accesses to further variables were ignored\n",
			explain_limits.variables, (unsigned long long)result->accesses_dropped);
}

static void explain_work_note_symbols(struct explain_result *result)
{
	const struct pattern_ranking *ranking = &result->ranking;

	if (ranking->count &&
		!explain_site(result->explain, ranking->records[0].pattern.sites[0])->file)
		strbuf_adds(&result->notes,
			"note: the program has no debug information, so locations are offsets in it; compile with -g and do not strip it\n");
}

static uint64_t explain_work_same_function(void *context, uint64_t site)
{
	return explain_site(context, site)->function;
}

/* Chooses the first pattern of an explanation and others nearly as suspicious, atomicity first. Of
 * the first explanation, less suspicious patterns follow. */
static uint32_t explain_work_choose_candidates(const struct pattern_ranking *ranking,
	const struct pattern_record *first, const struct pattern_record *candidates[CAUSE_PATTERNS])
{
	static const unsigned sizes[] = {3, 4, 2, 1, 0}; /* 0: any size */
	const unsigned size_count = sizeof sizes / sizeof *sizes - (first->explanation > 0);
	const double least = CAUSE_SCORE_PART * first->score;
	uint32_t count = 0;

	for (unsigned size = 0; size < size_count; size++)
		for (uint32_t i = 0; i < ranking->count && count < CAUSE_PATTERNS; i++) {
			const struct pattern_record *record = &ranking->records[i];

			if (record->explanation == first->explanation && record->score > 0 &&
				(sizes[size] ? record->score >= least &&
							pattern_access_count(&record->pattern) ==
								sizes[size]
					     : record->score < least))
				candidates[count++] = record;
		}
	return count;
}

static int explain_work_test_answer(struct explain_result *result, struct explain_answer *answer,
	const struct explain_work *work, struct error *err)
{
	const struct pattern_ranking *ranking = &result->ranking;
	struct explain_test test = {
		.runs = CAUSE_RUNS, .until_ns = work->time_ns - work->time_ns / SHOWING_PART};
	const struct pattern_record *candidates[CAUSE_PATTERNS];
	const uint32_t count = explain_work_choose_candidates(ranking, answer->record, candidates);

	for (uint32_t i = 0; i < count; i++) {
		const struct pattern_record *record = candidates[i];
		struct explain_cause cause;
		int status;

		terminal_live("testing %s", pattern_descriptions[record->pattern.kind].text);
		test.is_alternative = i > 0;
		status = explain_find_cause(result->explain, ranking, record, &test, &cause, err);
		if (status == ERROR_INTERRUPTED)
			return 0;
		if (status < 0)
			return status;
		if (answer->has_cause && !cause.is_cause) {
			explain_cause_release(&cause);
			continue;
		}
		explain_cause_release(&answer->cause);
		answer->has_cause = true;
		answer->cause = cause;
		/* the report shows the pattern that was forced */
		answer->record = record;
		if (cause.is_cause)
			break;
	}
	return 0;
}

/* Returns the step at which the failing run completed the answer's pattern; UINT64_MAX: not in that
 * run. */
static uint64_t explain_work_completed_in(
	const struct explain_answer *answer, const struct explain_shown *shown)
{
	const struct pattern *pattern = explain_shown_pattern(shown, answer->record->pattern.key);

	return pattern ? pattern->steps[pattern_access_count(pattern) - 1] : UINT64_MAX;
}

/* Returns whether two threads pass the same location in some order, which the program cannot fix. */
static bool explain_work_is_one_location_in_order(const struct explain_answer *answer)
{
	const struct pattern *pattern = &answer->record->pattern;

	return pattern_access_count(pattern) == 2 && pattern->sites[0] == pattern->sites[1];
}

/* Returns whether the answer is a consequence: it does not occur where its cause is forbidden. If
 * this holds in both directions, the earlier pattern is the cause. */
static bool explain_work_is_consequence(
	const struct explain_answer *first, const struct explain_answer *second)
{
	if (explain_occurs_without(&first->cause, second->record->pattern.key))
		return false;
	if (explain_occurs_without(&second->cause, first->record->pattern.key))
		return true;
	if (explain_work_is_one_location_in_order(first) !=
		explain_work_is_one_location_in_order(second))
		return explain_work_is_one_location_in_order(second);
	return explain_work_completed_in(first, &first->failing) <
	       explain_work_completed_in(second, &first->failing);
}

/* Marks consequences. One answer of each pair stays a cause: at least one cause remains. */
static void explain_work_find_consequences(struct explain_result *result)
{
	for (uint32_t j = 0; j < result->answer_count; j++) {
		struct explain_answer *answer = &result->answers[j];

		for (uint32_t i = 0; answer->cause.is_cause && i < j; i++) {
			struct explain_answer *other = &result->answers[i];

			if (!other->cause.is_cause || other->cause.is_consequence)
				continue;
			if (explain_work_is_consequence(other, answer)) {
				answer->cause.is_consequence = true;
				break;
			}
			other->cause.is_consequence = explain_work_is_consequence(answer, other);
		}
	}
}

static void explain_work_join_answers(struct explain_result *result, uint32_t number, uint32_t into)
{
	struct explain_answer *answer = &result->answers[number], *known = &result->answers[into];

	known->same_conflict += answer->same_conflict + 1;
	pattern_ranking_merge(
		&result->ranking, answer->record->explanation, known->record->explanation);
	if (answer->cause.is_cause) {
		explain_cause_release(&known->cause);
		known->cause = answer->cause;
		known->record = answer->record;
	} else {
		explain_cause_release(&answer->cause);
	}
	memmove(answer, answer + 1, (result->answer_count - number - 1) * sizeof *answer);
	result->answer_count--;
}

static bool explain_work_share_conflict(
	const struct explain_result *result, const struct pattern *a, const struct pattern *b)
{
	return pattern_shares_conflict(a, b, explain_work_same_function, result->explain);
}

/* Returns whether both have one conflict. A cause covers all patterns that had to be forbidden with
 * it. */
static bool explain_work_is_same_conflict(const struct explain_result *result,
	const struct explain_answer *a, const struct explain_answer *b)
{
	if (explain_work_share_conflict(result, &a->record->pattern, &b->record->pattern))
		return true;
	for (uint32_t i = 0; a->cause.is_cause && i < a->cause.pattern_count; i++)
		if (explain_work_share_conflict(result, &a->cause.patterns[i], &b->record->pattern))
			return true;
	for (uint32_t i = 0; b->cause.is_cause && i < b->cause.pattern_count; i++)
		if (explain_work_share_conflict(result, &b->cause.patterns[i], &a->record->pattern))
			return true;
	return false;
}

static uint32_t explain_work_find_same_conflict(
	const struct explain_result *result, uint32_t number, bool is_cause)
{
	for (uint32_t i = 0; i < number; i++)
		if (result->answers[i].cause.is_cause == is_cause &&
			explain_work_is_same_conflict(
				result, &result->answers[i], &result->answers[number]))
			return i;
	return UINT32_MAX;
}

/* Tests the answers. A conflict with a known cause needs no test; a new cause may belong to an
 * earlier conflict. */
static int explain_work_test_answers(
	struct explain_result *result, const struct explain_work *work, struct error *err)
{
	int status = 0;

	for (uint32_t i = 0; status == 0 && i < result->answer_count && !command_stop_reason();) {
		uint32_t same = explain_work_find_same_conflict(result, i, true);

		if (same == UINT32_MAX) {
			status = explain_work_test_answer(result, &result->answers[i], work, err);
			if (status == 0 && result->answers[i].cause.is_cause)
				same = explain_work_find_same_conflict(result, i, false);
		}
		if (same == UINT32_MAX)
			i++;
		else
			explain_work_join_answers(result, i, same);
	}
	return status;
}

static void explain_work_show_answer(struct explain_result *result, struct explain_answer *answer)
{
	const uint64_t key = answer->record->pattern.key;

	answer->has_failing = explain_show(result->explain, EXPLAIN_FAILED, key, &answer->failing);
	if (answer->has_failing)
		explain_answer_trim(answer, &answer->failing);
	answer->has_passing = explain_show(result->explain, EXPLAIN_PASSED, key, &answer->passing);
	if (answer->has_passing)
		explain_answer_trim(answer, &answer->passing);
}

static void explain_work_choose_answers(
	struct explain_result *result, const struct explain_work *work)
{
	const struct pattern_ranking *ranking = &result->ranking;

	for (uint32_t i = 0; i < ranking->count; i++) {
		const struct pattern_record *record = &ranking->records[i];

		if (record->score <= 0)
			break;
		if (record->explanation < result->answer_count)
			result->answers[record->explanation].same_conflict++;
		else if (result->answer_count < work->answers)
			result->answers[result->answer_count++].record = record;
	}
}

static void explain_work_put_causes_first(struct explain_result *result)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < result->answer_count; i++) {
		const struct explain_answer answer = result->answers[i];

		if (!answer.has_cause || !answer.cause.is_cause || answer.cause.is_consequence)
			continue;
		memmove(&result->answers[to + 1], &result->answers[to], (i - to) * sizeof answer);
		result->answers[to++] = answer;
	}
}

static void explain_work_mark_foreign(struct explain_result *result)
{
	for (uint32_t i = 0; i < result->ranking.count; i++) {
		struct pattern_record *record = &result->ranking.records[i];
		const unsigned accesses = pattern_access_count(&record->pattern);
		unsigned foreign = 0;

		while (foreign < accesses &&
			explain_site(result->explain, record->pattern.sites[foreign])->is_system)
			foreign++;
		record->is_foreign = foreign == accesses;
	}
}

static int explain_work_answer(
	struct explain_result *result, const struct explain_work *work, struct error *err)
{
	int status = 0;

	explain_work_mark_foreign(result);
	pattern_ranking_sort(&result->ranking, work->suspicion);
	pattern_ranking_explain(&result->ranking, explain_work_same_function, result->explain);
	explain_work_choose_answers(result, work);
	if (!work->without_cause)
		status = explain_work_test_answers(result, work, err);
	terminal_clear_live();
	if (status < 0)
		return status;
	explain_result_drop_refuted(result);
	for (uint32_t i = 0; i < result->answer_count; i++)
		explain_work_show_answer(result, &result->answers[i]);
	explain_work_find_consequences(result);
	explain_work_put_causes_first(result);
	return 0;
}

int explain_work(struct explain_result *result, const struct finding *finding,
	const struct explain_options *options, const struct explain_work *work, struct error *err)
{
	int status;

	memset(result, 0, sizeof *result);
	result->finding = finding;
	result->suspicion = work->suspicion;
	result->window = options->window ? options->window : explain_limits.window;
	result->ranking.limit = work->limit;
	status = explain_open(&result->explain, finding, options, err);
	if (status < 0)
		return status;
	strbuf_init(&result->notes);
	status = explain_work_make_runs(result, work, err);
	if (status == 0) {
		explain_work_note_runs(result);
		explain_work_note_limits(result, work);
		status = explain_work_answer(result, work, err);
	}
	if (status == 0)
		explain_work_note_symbols(result);
	if (status == 0 && !result->ranking.count)
		strbuf_adds(&result->notes,
			"note: no order of operations by different threads on one object could matter; raddle replay --trace shows all operations\n");
	if (status < 0)
		explain_result_release(result);
	return status;
}
