#include "cli/explain_cause.h"

#include <string.h>

/* A pattern that cannot be brought about in so many times as many runs is not tried further. */
#define TRIES_PER_RUN 40
/*
 * If runs that are kept from the pattern failed as often as all, so many times the inverse of that rate
 * of them would have shown a failure with 95 %; and how many are the most.
 */
#define RUNS_FOR_RATE 3.0
#define FORBIDDEN_RUNS_MOST 3000
#define FORBIDDEN_TRIES 5
/* See could_forbid(). */
#define ESCAPED_PART 0.7
/* Fewer runs than this of a sort say nothing. */
#define RUNS_LEAST 10
/* Forcing fails if more than this part of the runs fail, even at the low end of the interval. */
#define FORCED_LOW 0.5

void explain_cause_release(struct explain_cause *cause)
{
	pattern_ranking_release(&cause->residue);
}

bool explain_comes_without(const struct explain_cause *cause, uint64_t key)
{
	return pattern_ranking_find(&cause->residue, key) != NULL;
}

static bool shows(const struct explain_run *run, uint64_t key)
{
	for (uint32_t i = 0; i < run->pattern_count; i++)
		if (run->patterns[i].key == key)
			return true;
	return false;
}

static void count(struct rate *rate, const struct explain_run *run)
{
	rate->runs++;
	rate->failed += run->verdict == EXPLAIN_FAILED;
}

static int force(struct explain *explain, const struct explain_test *test,
	struct explain_cause *cause, struct error *err)
{
	explain_force(explain, &cause->patterns[0]);
	while (cause->forced.runs < test->runs &&
		cause->forced_tries < TRIES_PER_RUN * test->runs &&
		explain_elapsed_ns(explain) < test->until_ns) {
		struct explain_run run;
		int result = explain_run(explain, &run, err);

		if (result < 0)
			return result;
		cause->forced_tries++;
		if (run.verdict != EXPLAIN_OTHER && shows(&run, cause->key))
			count(&cause->forced, &run);
	}
	return 0;
}

static bool shows_any(const struct explain_run *run, const struct explain_cause *cause)
{
	for (uint32_t i = 0; i < cause->pattern_count; i++)
		if (shows(run, cause->patterns[i].key))
			return true;
	return false;
}

/* Could so many tries have been expected to bring more runs that comply? */
static bool is_hopeless(const struct explain_cause *cause)
{
	return cause->forbidden_tries >= TRIES_PER_RUN * RUNS_LEAST &&
	       cause->forbidden.runs < RUNS_LEAST;
}

/* The residue takes the runs that were kept from showing the patterns. */
static int forbid(struct explain *explain, const struct explain_test *test,
	struct explain_cause *cause, struct error *err)
{
	cause->forbidden = (struct rate){0};
	cause->forbidden_tries = cause->forbidden_others = 0;
	explain_forbid(explain, cause->patterns, cause->pattern_count);
	while (cause->forbidden.runs < test->runs && !is_hopeless(cause) &&
		cause->forbidden_tries < FORBIDDEN_TRIES * test->runs &&
		explain_elapsed_ns(explain) < test->until_ns) {
		struct explain_run run;
		int result = explain_run(explain, &run, err);

		if (result < 0)
			return result;
		cause->forbidden_tries++;
		cause->forbidden_others += run.verdict == EXPLAIN_OTHER;
		if (run.verdict == EXPLAIN_OTHER || shows_any(&run, cause))
			continue;
		count(&cause->forbidden, &run);
		pattern_ranking_add(&cause->residue, run.patterns, run.pattern_count,
			run.verdict == EXPLAIN_FAILED);
	}
	return 0;
}

/* The most suspicious pattern of the runs that failed all the same, if it is of the same explanation. */
static const struct pattern *same_conflict(const struct pattern_ranking *ranking,
	const struct pattern_record *record, struct pattern_ranking *residue)
{
	const struct pattern *order = NULL;

	pattern_ranking_sort(residue, SUSPICION_JACCARD);
	for (uint32_t i = 0; i < residue->count && residue->records[i].failed; i++) {
		const struct pattern_record *known =
			pattern_ranking_find(ranking, residue->records[i].pattern.key);

		if (residue->records[i].passed || !known || known->passed ||
			known->explanation != record->explanation)
			continue;
		/* Those can be kept apart with less harm to the rest of the run. */
		if (pattern_access_count(&known->pattern) > 2)
			return &known->pattern;
		order = order ? order : &known->pattern;
	}
	return order;
}

static int find_forbidden(struct explain *explain, const struct pattern_ranking *ranking,
	const struct pattern_record *record, const struct explain_test *test,
	struct explain_cause *cause, struct error *err)
{
	for (;;) {
		const struct pattern *more = NULL;
		int result;

		pattern_ranking_release(&cause->residue);
		result = forbid(explain, test, cause, err);
		if (result == 0 && cause->forbidden.failed &&
			cause->pattern_count < EXPLAIN_FORBIDDEN_MAX)
			more = same_conflict(ranking, record, &cause->residue);
		if (result < 0 || !more)
			return result;
		cause->patterns[cause->pattern_count++] = *more;
	}
}

/* How many runs without the pattern have to pass. */
static uint32_t forbidden_runs(const struct pattern_ranking *ranking, uint32_t runs)
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

/* The part of the compared runs that show it. */
static double natural_rate(
	const struct pattern_ranking *ranking, const struct pattern_record *record)
{
	return (double)(record->failed + record->passed) / (ranking->failed + ranking->passed);
}

/*
 * Did the driving do it? Runs that happen to pass without the pattern only tell again what goes together;
 * so far fewer of those that were kept from it have to show it than of the others.
 */
static bool could_forbid(const struct pattern_ranking *ranking, const struct explain_cause *cause)
{
	const double escaped =
		(double)(cause->forbidden_tries - cause->forbidden.runs - cause->forbidden_others) /
		(cause->forbidden_tries + 1);

	double natural = 0;

	for (uint32_t i = 0; i < cause->pattern_count; i++) {
		const struct pattern_record *known =
			pattern_ranking_find(ranking, cause->patterns[i].key);

		natural += known ? natural_rate(ranking, known) : 0;
	}
	return cause->forbidden.runs >= RUNS_LEAST && escaped <= ESCAPED_PART * natural;
}

int explain_find_cause(struct explain *explain, const struct pattern_ranking *ranking,
	const struct pattern_record *record, const struct explain_test *test,
	struct explain_cause *out, struct error *err)
{
	const struct explain_test forbidding = {
		.runs = forbidden_runs(ranking, test->runs), .until_ns = test->until_ns};
	struct explain_cause cause = {.key = record->pattern.key, .pattern_count = 1};
	double low, high;
	int result;

	cause.patterns[0] = record->pattern;
	result = force(explain, test, &cause, err);
	if (result == 0)
		result = find_forbidden(explain, ranking, record, &forbidding, &cause, err);
	if (result < 0) {
		explain_cause_release(&cause);
		return result;
	}
	cause.could_force = cause.forced.runs >= RUNS_LEAST;
	cause.could_forbid = could_forbid(ranking, &cause);
	cause.is_tested = cause.could_force && cause.could_forbid;
	rate_interval(&cause.forced, &low, &high);
	cause.is_cause = cause.is_tested && low > FORCED_LOW && cause.forbidden.failed == 0;
	*out = cause;
	return 0;
}
