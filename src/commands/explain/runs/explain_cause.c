#include "commands/explain/runs/explain_cause.h"

#include <string.h>

/* Forcing a pattern is given up when this many tries per wanted run did not show it. */
#define TRIES_PER_RUN 40
/* Tries after which a pattern that no run has shown is given up. A pattern that one of
 * TRIES_PER_RUN tries would show is given up with a probability of 0.2 %. */
#define TRIES_OF_NONE 240
/* Rule of three: 3 / rate runs without a failure show with 95 % confidence a lower failure rate. */
#define RUNS_FOR_RATE 3.0
#define FORBIDDEN_RUNS_MOST 3000
#define FORBIDDEN_TRIES 5
/* Limits used by explain_cause_has_forbidden() and explain_cause_was_forced(). */
#define ESCAPED_PART 0.7
/* Forbidding is not given up before this many tries showed a pattern: the first tries learn which
 * locks are in the way. */
#define ESCAPES_LEAST 30
#define FORCED_TIMES 1.5
/* Least number of runs of each sort. Fewer runs prove nothing. */
#define RUNS_LEAST 10
/* A forced pattern causes the failure if the interval of its failure rate begins above this. */
#define FORCED_LOW 0.5
#define FORCED_LOW_UNDRIVEN 0.75
/* Factor on the number of runs if the first ones are inconclusive. */
#define MORE_RUNS 4

void explain_cause_release(struct explain_cause *cause)
{
	pattern_ranking_release(&cause->residue);
}

bool explain_occurs_without(const struct explain_cause *cause, uint64_t key)
{
	return pattern_ranking_find(&cause->residue, key) != NULL;
}

/* Returns whether the run showed the pattern between these threads; NULL means any. */
static bool explain_cause_shows_between_threads(
	const struct explain_run *run, uint64_t key, const thread_name *names)
{
	for (uint32_t i = 0; i < run->pattern_count; i++)
		if (run->patterns[i].key == key)
			return !names || !memcmp(run->patterns[i].names, names,
						 sizeof run->patterns[i].names);
	return false;
}

static void explain_cause_count(struct rate *rate, const struct explain_run *run)
{
	rate->runs++;
	rate->failed += run->verdict == EXPLAIN_FAILED;
}

static bool explain_cause_fails_more_than(const struct rate *rate, double part)
{
	double low, high;

	rate_interval(rate, &low, &high);
	return low > part;
}

static bool explain_cause_is_unclear(const struct rate *rate)
{
	double low, high;

	rate_interval(rate, &low, &high);
	return low <= FORCED_LOW && high > FORCED_LOW;
}

static bool explain_cause_cannot_force(const struct explain_cause *cause, uint32_t wanted)
{
	return cause->forced_tries >= (cause->forced.runs ? TRIES_PER_RUN * wanted : TRIES_OF_NONE);
}

static int explain_cause_force(struct explain *explain, const struct explain_test *test,
	const thread_name *names, struct explain_cause *cause, struct error *err)
{
	uint32_t wanted = test->runs;

	explain_force_between(explain, &cause->patterns[0], names);
	while (cause->forced.runs < wanted && !explain_cause_cannot_force(cause, wanted) &&
		explain_elapsed_ns(explain) < test->until_ns) {
		struct explain_run run;
		int result = explain_run(explain, &run, err);

		if (result < 0)
			return result;
		cause->forced_tries++;
		if (run.verdict != EXPLAIN_OTHER &&
			explain_cause_shows_between_threads(&run, cause->key, names))
			explain_cause_count(&cause->forced, &run);
		if (cause->forced.runs == test->runs && explain_cause_is_unclear(&cause->forced))
			wanted = MORE_RUNS * test->runs;
	}
	return 0;
}

/* Forces the pattern between the threads of failing runs; between others the pattern may be
 * harmless. */
static int explain_cause_force_between(struct explain *explain, const struct explain_test *test,
	struct explain_cause *cause, struct error *err)
{
	struct explain_cause between = *cause;
	thread_name names[PATTERN_THREADS];
	int result;

	if (explain_cause_fails_more_than(&cause->forced, FORCED_LOW) ||
		!explain_find_threads(explain, cause->key, names))
		return 0;
	between.forced = (struct rate){0};
	between.forced_tries = 0;
	result = explain_cause_force(explain, test, names, &between, err);
	if (result < 0 || between.forced.runs < RUNS_LEAST ||
		!explain_cause_fails_more_than(&between.forced, FORCED_LOW))
		return result;
	between.is_between = true;
	*cause = between;
	return 0;
}

static bool explain_cause_shows_any_pattern(
	const struct explain_run *run, const struct explain_cause *cause)
{
	for (uint32_t i = 0; i < cause->pattern_count; i++)
		if (patterns_have(run->patterns, run->pattern_count, cause->patterns[i].key))
			return true;
	return false;
}

/* Returns the fraction of the compared runs that show the pattern. */
static double explain_cause_compared_rate(
	const struct pattern_ranking *ranking, const struct pattern_record *record)
{
	return (double)(record->failed + record->passed) / (ranking->failed + ranking->passed);
}

/* Returns the fraction of the compared runs that show a forbidden pattern, at most. */
static double explain_cause_natural_rate(
	const struct pattern_ranking *ranking, const struct explain_cause *cause)
{
	double natural = 0;

	for (uint32_t i = 0; i < cause->pattern_count; i++) {
		const struct pattern_record *known =
			pattern_ranking_find(ranking, cause->patterns[i].key);

		natural += known ? explain_cause_compared_rate(ranking, known) : 0;
	}
	return natural;
}

/* Returns the number of tries that showed a forbidden pattern. */
static uint32_t explain_cause_escaped(const struct explain_cause *cause)
{
	return cause->forbidden_tries - cause->forbidden.runs - cause->forbidden_others;
}

/* Returns whether more tries cannot show that raddle prevents the pattern. */
static bool explain_cause_cannot_forbid(
	const struct pattern_ranking *ranking, const struct explain_cause *cause)
{
	const struct rate escaped = {
		.runs = cause->forbidden_tries, .failed = explain_cause_escaped(cause)};

	if (escaped.failed >= ESCAPES_LEAST &&
		explain_cause_fails_more_than(
			&escaped, ESCAPED_PART * explain_cause_natural_rate(ranking, cause)))
		return true;
	return cause->forbidden_tries >= TRIES_PER_RUN * RUNS_LEAST &&
	       cause->forbidden.runs < RUNS_LEAST;
}

static int explain_cause_forbid(struct explain *explain, const struct pattern_ranking *ranking,
	const struct explain_test *test, struct explain_cause *cause, struct error *err)
{
	cause->forbidden = (struct rate){0};
	cause->forbidden_tries = cause->forbidden_others = 0;
	explain_forbid(explain, cause->patterns, cause->pattern_count);
	while (cause->forbidden.runs < test->runs && !explain_cause_cannot_forbid(ranking, cause) &&
		cause->forbidden_tries < FORBIDDEN_TRIES * test->runs &&
		explain_elapsed_ns(explain) < test->until_ns) {
		struct explain_run run;
		int result = explain_run(explain, &run, err);

		if (result < 0)
			return result;
		cause->forbidden_tries++;
		cause->forbidden_others += run.verdict == EXPLAIN_OTHER;
		if (run.verdict == EXPLAIN_OTHER || explain_cause_shows_any_pattern(&run, cause))
			continue;
		explain_cause_count(&cause->forbidden, &run);
		pattern_ranking_add(&cause->residue, run.patterns, run.pattern_count,
			run.verdict == EXPLAIN_FAILED);
	}
	return 0;
}

static bool explain_cause_share_function(
	struct explain *explain, const struct pattern *a, const struct pattern *b)
{
	for (unsigned i = 0; i < pattern_access_count(a); i++)
		for (unsigned j = 0; j < pattern_access_count(b); j++)
			if (explain_site(explain, a->sites[i])->function ==
				explain_site(explain, b->sites[j])->function)
				return true;
	return false;
}

static bool explain_cause_share_variable(const struct pattern *a, const struct pattern *b)
{
	for (unsigned i = 0; i < PATTERN_VARIABLES_MAX; i++)
		for (unsigned j = 0; j < PATTERN_VARIABLES_MAX; j++)
			if (a->objects[i] && a->objects[i] == b->objects[j])
				return true;
	return false;
}

/* Returns whether both patterns have one cause. A function that leaves a variable unprotected may
 * be interleaved by several others. */
static bool explain_cause_is_same(struct explain *explain, const struct pattern_ranking *ranking,
	const struct pattern *pattern, const struct pattern_record *record)
{
	const struct pattern_record *known = pattern_ranking_find(ranking, pattern->key);

	return (known && known->explanation == record->explanation) ||
	       (explain_cause_share_variable(pattern, &record->pattern) &&
		       explain_cause_share_function(explain, pattern, &record->pattern));
}

/* Returns the most suspicious pattern of the explanation in runs that failed with the cause
 * forbidden. */
static const struct pattern *explain_cause_same_conflict(struct explain *explain,
	const struct pattern_ranking *ranking, const struct pattern_record *record,
	struct pattern_ranking *residue)
{
	const struct pattern *order = NULL, *also_passed = NULL;

	pattern_ranking_sort(residue, SUSPICION_JACCARD);
	for (uint32_t i = 0; i < residue->count && residue->records[i].failed; i++) {
		const struct pattern *pattern = &residue->records[i].pattern;
		const struct pattern_record *known = pattern_ranking_find(ranking, pattern->key);
		const bool is_atomicity = pattern_access_count(pattern) > 2;

		if (!explain_cause_is_same(explain, ranking, pattern, record))
			continue;
		if (residue->records[i].passed || (known && known->passed)) {
			if (is_atomicity && !also_passed)
				also_passed = pattern;
			continue;
		}
		/*
		 * Atomicity patterns can be prevented with the least change to the rest of the run.
		 */
		if (is_atomicity)
			return pattern;
		order = order ? order : pattern;
	}
	return order ? order : also_passed;
}

static int explain_cause_find_forbidden(struct explain *explain,
	const struct pattern_ranking *ranking, const struct pattern_record *record,
	const struct explain_test *test, struct explain_cause *cause, struct error *err)
{
	for (;;) {
		const struct pattern *more = NULL;
		int result;

		pattern_ranking_release(&cause->residue);
		result = explain_cause_forbid(explain, ranking, test, cause, err);
		if (result == 0 && cause->forbidden.failed &&
			cause->pattern_count < EXPLAIN_FORBIDDEN_MAX)
			more = explain_cause_same_conflict(
				explain, ranking, record, &cause->residue);
		if (result < 0 || !more)
			return result;
		cause->patterns[cause->pattern_count++] = *more;
	}
}

static uint32_t explain_cause_forbidden_runs(const struct pattern_ranking *ranking, uint32_t runs)
{
	const uint32_t all = ranking->failed + ranking->passed;
	double wanted;

	if (!ranking->failed)
		return FORBIDDEN_RUNS_MOST;
	wanted = RUNS_FOR_RATE * all / ranking->failed;
	if (wanted > FORBIDDEN_RUNS_MOST)
		return FORBIDDEN_RUNS_MOST;
	return wanted > runs ? (uint32_t)wanted : runs;
}

/* Returns whether the pattern was far rarer than in compared runs. Otherwise runs lack the pattern
 * by chance, and only repeat the correlation. */
static bool explain_cause_has_forbidden(
	const struct pattern_ranking *ranking, const struct explain_cause *cause)
{
	const double escaped = (double)explain_cause_escaped(cause) / (cause->forbidden_tries + 1);

	return cause->forbidden.runs >= RUNS_LEAST &&
	       escaped <= ESCAPED_PART * explain_cause_natural_rate(ranking, cause);
}

/*
 * Returns whether the strategy caused the pattern. If not clearly more frequent than in compared
 * runs, forced runs are an ordinary sample and need a higher failure rate.
 */
static bool explain_cause_was_forced(const struct pattern_ranking *ranking,
	const struct pattern_record *record, const struct explain_cause *cause)
{
	const double natural = explain_cause_compared_rate(ranking, record);
	const double shown = (double)cause->forced.runs / (cause->forced_tries + 1);

	return shown >= FORCED_TIMES * natural || 1 - shown <= ESCAPED_PART * (1 - natural);
}

/* Repeats the runs without the pattern, in greater number, if the first ones all passed but were
 * too few to show that raddle prevented the pattern. */
static int explain_cause_forbid_more(struct explain *explain, const struct pattern_ranking *ranking,
	const struct explain_test *test, struct explain_cause *cause, struct error *err)
{
	const struct explain_test more = {
		.runs = MORE_RUNS * test->runs, .until_ns = test->until_ns};

	if (cause->forbidden.failed || cause->forbidden.runs < test->runs ||
		explain_cause_has_forbidden(ranking, cause))
		return 0;
	pattern_ranking_release(&cause->residue);
	return explain_cause_forbid(explain, ranking, &more, cause, err);
}

static bool explain_cause_fails_if_forced(const struct pattern_ranking *ranking,
	const struct pattern_record *record, const struct explain_cause *cause)
{
	return explain_cause_fails_more_than(&cause->forced,
		explain_cause_was_forced(ranking, record, cause) ? FORCED_LOW
								 : FORCED_LOW_UNDRIVEN);
}

bool explain_cause_is_refuted(
	const struct pattern_ranking *ranking, const struct explain_cause *cause)
{
	const double failing = (double)ranking->failed / (ranking->failed + ranking->passed + 1);

	return !cause->is_cause && cause->could_force &&
	       cause->forced.failed <= failing * cause->forced.runs;
}

/* Runs without the pattern show nothing new if runs with it are impossible, or seldom fail. */
static bool explain_cause_needs_forbidding(const struct pattern_ranking *ranking,
	const struct pattern_record *record, const struct explain_test *test,
	const struct explain_cause *cause)
{
	return cause->could_force && !explain_cause_is_refuted(ranking, cause) &&
	       (!test->is_alternative || explain_cause_fails_if_forced(ranking, record, cause));
}

int explain_find_cause(struct explain *explain, const struct pattern_ranking *ranking,
	const struct pattern_record *record, const struct explain_test *test,
	struct explain_cause *out, struct error *err)
{
	const struct explain_test forbidding = {
		.runs = explain_cause_forbidden_runs(ranking, test->runs),
		.until_ns = test->until_ns};
	struct explain_cause cause = {.key = record->pattern.key, .pattern_count = 1};
	int result;

	cause.patterns[0] = record->pattern;
	result = explain_cause_force(explain, test, NULL, &cause, err);
	if (result == 0)
		result = explain_cause_force_between(explain, test, &cause, err);
	cause.could_force = cause.forced.runs >= RUNS_LEAST;
	if (result == 0 && explain_cause_needs_forbidding(ranking, record, test, &cause))
		result = explain_cause_find_forbidden(
			explain, ranking, record, &forbidding, &cause, err);
	if (result == 0)
		result = explain_cause_forbid_more(explain, ranking, &forbidding, &cause, err);
	if (result < 0) {
		explain_cause_release(&cause);
		return result;
	}
	cause.could_forbid = explain_cause_has_forbidden(ranking, &cause);
	cause.is_tested = cause.could_force && cause.could_forbid;
	cause.is_cause = cause.is_tested &&
			 explain_cause_fails_if_forced(ranking, record, &cause) &&
			 cause.forbidden.failed == 0;
	*out = cause;
	return 0;
}
