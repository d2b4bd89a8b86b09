#include "analyses/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

const char *const suspicion_words[SUSPICION_COUNT] = {
	[SUSPICION_JACCARD] = "jaccard",
	[SUSPICION_TARANTULA] = "tarantula",
	[SUSPICION_OCHIAI] = "ochiai",
	[SUSPICION_AVIO] = "avio",
	[SUSPICION_PLAIN] = "plain",
};

void pattern_ranking_release(struct pattern_ranking *ranking)
{
	free(ranking->records);
	number_map_release(&ranking->by_key);
	*ranking = (struct pattern_ranking){0};
}

static struct pattern_record *patterns_ranking_record(
	struct pattern_ranking *ranking, const struct pattern *pattern)
{
	const uint32_t known = number_map_get(&ranking->by_key, pattern->key);

	if (known != NUMBER_MAP_NONE)
		return &ranking->records[known];
	if (ranking->limit && ranking->count >= ranking->limit) {
		ranking->dropped++;
		return NULL;
	}
	number_map_set(&ranking->by_key, pattern->key, ranking->count);
	ARRAY_APPEND(
		ranking->records, ranking->count, (struct pattern_record){.pattern = *pattern});
	return &ranking->records[ranking->count - 1];
}

void pattern_ranking_add(struct pattern_ranking *ranking, const struct pattern *patterns,
	uint32_t count, bool has_failed)
{
	const uint32_t number = ranking->failed + ranking->passed + 1;

	for (uint32_t i = 0; i < count; i++) {
		struct pattern_record *record =
			patterns[i].is_followed ? NULL
						: patterns_ranking_record(ranking, &patterns[i]);

		if (!record || record->last == number)
			continue;
		if (!record->failed && has_failed)
			record->pattern = patterns[i];
		record->last = number;
		record->failed += has_failed;
		record->passed += !has_failed;
		record->runs += hash_mix(number);
	}
	ranking->failed += has_failed;
	ranking->passed += !has_failed;
}

const struct pattern_record *pattern_ranking_find(
	const struct pattern_ranking *ranking, uint64_t key)
{
	const uint32_t known = number_map_get(&ranking->by_key, key);

	return known != NUMBER_MAP_NONE ? &ranking->records[known] : NULL;
}

static double patterns_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static double patterns_ranking_score(const struct pattern_ranking *ranking,
	const struct pattern_record *record, enum suspicion suspicion)
{
	const double failed = record->failed, passed = record->passed;
	const double failed_part = patterns_ratio(failed, ranking->failed);

	switch (suspicion) {
	case SUSPICION_TARANTULA:
		return patterns_ratio(
			failed_part, failed_part + patterns_ratio(passed, ranking->passed));
	case SUSPICION_OCHIAI:
		return patterns_ratio(failed, sqrt(ranking->failed * (failed + passed)));
	case SUSPICION_AVIO:
		return failed > 0 && passed == 0;
	case SUSPICION_PLAIN:
		return 1;
	default:
		return patterns_ratio(failed, ranking->failed + passed);
	}
}

static int patterns_family(const struct pattern *pattern)
{
	static const int families[PATTERN_ACCESSES_MAX + 1] = {[1] = 3, [2] = 2, [3] = 0, [4] = 1};

	return families[pattern_access_count(pattern)];
}

static uint64_t patterns_completed(const struct pattern *pattern)
{
	return pattern->steps[pattern_access_count(pattern) - 1];
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int patterns_compare_records(const void *first, const void *second)
{
	const struct pattern_record *a = first, *b = second;
	const int orders[] = {
		ORDER(b->score, a->score),
		ORDER(b->failed, a->failed),
		ORDER(a->is_foreign, b->is_foreign),
		ORDER(patterns_family(&a->pattern), patterns_family(&b->pattern)),
		ORDER(patterns_completed(&a->pattern), patterns_completed(&b->pattern)),
		ORDER(a->pattern.kind, b->pattern.kind),
		ORDER(a->pattern.key, b->pattern.key),
	};

	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
		if (orders[i])
			return orders[i];
	return 0;
}

void pattern_ranking_sort(struct pattern_ranking *ranking, enum suspicion suspicion)
{
	for (uint32_t i = 0; i < ranking->count; i++)
		ranking->records[i].score =
			patterns_ranking_score(ranking, &ranking->records[i], suspicion);
	if (ranking->count)
		qsort(ranking->records, ranking->count, sizeof *ranking->records,
			patterns_compare_records);
	for (uint32_t first = 0, end; first < ranking->count; first = end) {
		for (end = first + 1; end < ranking->count &&
				      ranking->records[end].score == ranking->records[first].score;
			end++)
			;
		for (uint32_t i = first; i < end; i++) {
			ranking->records[i].rank_mean = (first + 1 + end) / 2.0;
			ranking->records[i].rank_worst = end;
		}
	}
	for (uint32_t i = 0; i < ranking->count; i++)
		number_map_set(&ranking->by_key, ranking->records[i].pattern.key, i);
}

#define CONFLICTS_MAX 5

struct conflicts {
	uint64_t of[CONFLICTS_MAX];
	unsigned count;
};

struct locations {
	uint64_t (*location_of)(void *context, uint64_t site);
	void *context;
};

static bool patterns_is_conflict(const struct pattern *pattern, unsigned a, unsigned b)
{
	return pattern_thread(pattern, a) != pattern_thread(pattern, b) &&
	       pattern_variable(pattern, a) == pattern_variable(pattern, b) &&
	       (pattern_is_write(pattern, a) || pattern_is_write(pattern, b));
}

/* Returns a hash of the unordered pair of locations and roles, and of the memory's class. */
static uint64_t patterns_conflict(
	const struct pattern *pattern, unsigned a, unsigned b, const struct locations *locations)
{
	const uint64_t sides =
		hash_pair(pattern->roles[pattern_thread(pattern, a)],
			locations->location_of(locations->context, pattern->sites[a])) +
		hash_pair(pattern->roles[pattern_thread(pattern, b)],
			locations->location_of(locations->context, pattern->sites[b]));

	return hash_pair(sides, pattern->classes[pattern_variable(pattern, a)]);
}

/* Returns the conflict of a read that is too early, whether the write follows or not. */
static uint64_t patterns_early_read(
	const struct pattern *pattern, const struct locations *locations)
{
	return hash_pair(hash_pair(pattern->roles[0],
				 locations->location_of(locations->context, pattern->sites[0])),
		pattern->classes[0]);
}

static struct conflicts patterns_find_conflicts(
	const struct pattern *pattern, const struct locations *locations)
{
	const unsigned count = pattern_access_count(pattern);
	struct conflicts conflicts = {.count = 0};

	if (pattern->kind == PATTERN_R || pattern->kind == PATTERN_RW)
		conflicts.of[conflicts.count++] = patterns_early_read(pattern, locations);
	for (unsigned a = 0; a < count; a++)
		for (unsigned b = a + 1; b < count; b++)
			if (patterns_is_conflict(pattern, a, b) && conflicts.count < CONFLICTS_MAX)
				conflicts.of[conflicts.count++] =
					patterns_conflict(pattern, a, b, locations);
	return conflicts;
}

static bool patterns_share_conflict(const struct conflicts *a, const struct conflicts *b)
{
	for (unsigned i = 0; i < a->count; i++)
		for (unsigned j = 0; j < b->count; j++)
			if (a->of[i] == b->of[j])
				return true;
	return false;
}

bool pattern_shares_conflict(const struct pattern *a, const struct pattern *b,
	uint64_t (*location_of)(void *context, uint64_t site), void *context)
{
	const struct locations locations = {.location_of = location_of, .context = context};
	const struct conflicts of_a = patterns_find_conflicts(a, &locations),
			       of_b = patterns_find_conflicts(b, &locations);

	return patterns_share_conflict(&of_a, &of_b);
}

void pattern_ranking_merge(struct pattern_ranking *ranking, uint32_t explanation, uint32_t into)
{
	for (uint32_t i = 0; i < ranking->count; i++)
		if (ranking->records[i].explanation == explanation)
			ranking->records[i].explanation = into;
}

void pattern_ranking_explain(struct pattern_ranking *ranking,
	uint64_t (*location_of)(void *context, uint64_t site), void *context)
{
	const struct locations locations = {.location_of = location_of, .context = context};
	/* conflicts of the first pattern of each explanation */
	FREE_SCOPED struct conflicts *firsts =
		array_new(ranking->count ? ranking->count : 1, sizeof *firsts);

	ranking->explanation_count = 0;
	for (uint32_t i = 0; i < ranking->count; i++) {
		const struct conflicts own =
			patterns_find_conflicts(&ranking->records[i].pattern, &locations);
		uint32_t at = 0;

		while (at < ranking->explanation_count &&
			!patterns_share_conflict(&firsts[at], &own))
			at++;
		ranking->records[i].explanation = at;
		if (at == ranking->explanation_count)
			firsts[ranking->explanation_count++] = own;
	}
}
