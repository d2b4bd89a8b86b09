/* Ranking access patterns over runs, with the running example of the paper. */
#include "analyses/patterns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A pattern with one kind of memory and locations `first`, `second`, and `first` again where it has three. */
static struct pattern pattern(enum pattern_kind kind, uint64_t first, uint64_t second)
{
	struct pattern pattern = {.kind = (uint8_t)kind, .classes = {1}, .roles = {1, 2}};
	const unsigned count = pattern_access_count(&pattern);

	for (unsigned i = 0; i < count; i++)
		pattern.sites[i] = pattern_thread(&pattern, i) ? second : first;
	pattern.key = pattern_key(&pattern);
	return pattern;
}

static void add(struct pattern_ranking *ranking, bool has_failed, const struct pattern *a,
	const struct pattern *b)
{
	struct pattern patterns[2];
	uint32_t count = 0;

	if (a)
		patterns[count++] = *a;
	if (b)
		patterns[count++] = *b;
	pattern_ranking_add(ranking, patterns, count, has_failed);
}

static const struct pattern_record *record(
	const struct pattern_ranking *ranking, const struct pattern *pattern)
{
	const struct pattern_record *found = pattern_ranking_find(ranking, pattern->key);

	assert_non_null(found);
	return found;
}

static void test_ranking__scores(void **state)
{
	const struct pattern p = pattern(PATTERN_RWW, 1, 2);
	struct pattern_ranking ranking = {0};

	(void)state;
	/* The pattern is in 2 of 3 failing and 1 of 4 passing runs. */
	for (unsigned i = 0; i < 7; i++)
		add(&ranking, i < 3, i < 2 || i == 3 ? &p : NULL, NULL);
	assert_int_equal(ranking.failed, 3);
	assert_int_equal(ranking.passed, 4);
	pattern_ranking_sort(&ranking, SUSPICION_JACCARD);
	assert_float_equal(record(&ranking, &p)->score, 2 / 4.0, 1e-12);
	pattern_ranking_sort(&ranking, SUSPICION_TARANTULA);
	assert_float_equal(record(&ranking, &p)->score, (2 / 3.0) / (2 / 3.0 + 1 / 4.0), 1e-12);
	pattern_ranking_sort(&ranking, SUSPICION_OCHIAI);
	assert_float_equal(record(&ranking, &p)->score, 2 / 3.0, 1e-12);
	pattern_ranking_sort(&ranking, SUSPICION_AVIO);
	assert_float_equal(record(&ranking, &p)->score, 0, 1e-12);
	pattern_ranking_sort(&ranking, SUSPICION_PLAIN);
	assert_float_equal(record(&ranking, &p)->score, 1, 1e-12);
	pattern_ranking_release(&ranking);
}

static void test_ranking__ties_share_their_ranks(void **state)
{
	const struct pattern a = pattern(PATTERN_RWW, 1, 2), b = pattern(PATTERN_WW, 2, 1),
			     c = pattern(PATTERN_WR, 3, 4);
	struct pattern_ranking ranking = {0};

	(void)state;
	add(&ranking, true, &a, &b);
	add(&ranking, false, &c, NULL);
	pattern_ranking_sort(&ranking, SUSPICION_JACCARD);
	assert_float_equal(record(&ranking, &a)->rank_mean, 1.5, 1e-12);
	assert_float_equal(record(&ranking, &b)->rank_mean, 1.5, 1e-12);
	assert_int_equal(record(&ranking, &a)->rank_worst, 2);
	assert_float_equal(record(&ranking, &c)->rank_mean, 3, 1e-12);
	assert_true(record(&ranking, &a)->runs == record(&ranking, &b)->runs);
	assert_true(record(&ranking, &a)->runs != record(&ranking, &c)->runs);
	pattern_ranking_release(&ranking);
}

static void test_ranking__puts_the_users_code_before_that_of_libraries(void **state)
{
	const struct pattern inside = pattern(PATTERN_RWW, 1, 2), own = pattern(PATTERN_WW, 2, 1),
			     rarer = pattern(PATTERN_WR, 3, 4);
	struct pattern_ranking ranking = {0};

	(void)state;
	add(&ranking, true, &inside, &own);
	add(&ranking, true, &inside, &own);
	add(&ranking, true, &rarer, NULL);
	for (uint32_t i = 0; i < ranking.count; i++)
		ranking.records[i].is_foreign = ranking.records[i].pattern.key == inside.key;
	pattern_ranking_sort(&ranking, SUSPICION_JACCARD);
	assert_true(ranking.records[0].pattern.key == own.key);
	assert_true(ranking.records[1].pattern.key == inside.key);
	assert_float_equal(ranking.records[0].rank_mean, 1.5, 1e-12);
	assert_true(ranking.records[2].pattern.key == rarer.key);
	pattern_ranking_release(&ranking);
}

static void test_ranking__without_one_sort_of_runs_nothing_is_certain(void **state)
{
	const struct pattern p = pattern(PATTERN_RWW, 1, 2);
	struct pattern_ranking ranking = {0};

	(void)state;
	pattern_ranking_sort(&ranking, SUSPICION_JACCARD);
	assert_int_equal(ranking.count, 0);
	add(&ranking, false, &p, NULL);
	for (unsigned i = 0; i < SUSPICION_PLAIN; i++) {
		pattern_ranking_sort(&ranking, (enum suspicion)i);
		assert_float_equal(ranking.records[0].score, 0, 1e-12);
	}
	pattern_ranking_release(&ranking);
}

static void test_ranking__keeps_to_its_limit_and_counts(void **state)
{
	struct pattern_ranking ranking = {.limit = 600};

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		const struct pattern p = pattern(PATTERN_RW, i + 1, 2);

		add(&ranking, true, &p, NULL);
	}
	assert_int_equal(ranking.count, 600);
	assert_int_equal(ranking.dropped, 400);
	assert_int_equal(ranking.failed, 1000);
	pattern_ranking_release(&ranking);
}

static uint64_t tens(void *context, uint64_t site)
{
	(void)context;
	return site / 10;
}

static void test_ranking__one_conflict_is_one_explanation(void **state)
{
	/* The same functions (tens), other lines; the other way round; elsewhere. */
	const struct pattern a = pattern(PATTERN_RWW, 11, 21), b = pattern(PATTERN_WW, 12, 22),
			     other = pattern(PATTERN_RW, 31, 21);
	struct pattern turned = {.kind = PATTERN_WW, .classes = {1}, .roles = {2, 1}};
	struct pattern_ranking ranking = {0};

	(void)state;
	turned.sites[0] = 21;
	turned.sites[1] = 12;
	turned.key = pattern_key(&turned);
	add(&ranking, true, &a, &b);
	add(&ranking, true, &a, &turned);
	add(&ranking, true, &a, &other);
	pattern_ranking_sort(&ranking, SUSPICION_JACCARD);
	pattern_ranking_explain(&ranking, tens, NULL);
	assert_int_equal(ranking.explanation_count, 2);
	assert_int_equal(record(&ranking, &a)->explanation, 0);
	assert_int_equal(record(&ranking, &b)->explanation, 0);
	assert_int_equal(record(&ranking, &turned)->explanation, 0);
	assert_int_equal(record(&ranking, &other)->explanation, 1);
	pattern_ranking_release(&ranking);
}

static void test_ranking__joins_explanations(void **state)
{
	const struct pattern a = pattern(PATTERN_RWW, 11, 21), b = pattern(PATTERN_RW, 31, 41),
			     c = pattern(PATTERN_WW, 13, 23);
	struct pattern_ranking ranking = {0};

	(void)state;
	add(&ranking, true, &a, &b);
	pattern_ranking_sort(&ranking, SUSPICION_JACCARD);
	pattern_ranking_explain(&ranking, tens, NULL);
	assert_int_equal(ranking.explanation_count, 2);
	assert_false(pattern_shares_conflict(&a, &b, tens, NULL));
	assert_true(pattern_shares_conflict(&a, &c, tens, NULL));
	pattern_ranking_merge(
		&ranking, record(&ranking, &b)->explanation, record(&ranking, &a)->explanation);
	assert_int_equal(record(&ranking, &a)->explanation, record(&ranking, &b)->explanation);
	pattern_ranking_release(&ranking);
}

static void test_ranking__passes_over_reads_that_a_write_follows(void **state)
{
	struct pattern early = pattern(PATTERN_R, 11, 0);
	struct pattern_ranking ranking = {0};

	(void)state;
	early.is_followed = true;
	add(&ranking, true, &early, NULL);
	assert_int_equal(ranking.count, 0);
	early.is_followed = false;
	add(&ranking, true, &early, NULL);
	assert_int_equal(ranking.count, 1);
	pattern_ranking_release(&ranking);
}

#define TEST(name) cmocka_unit_test(test_ranking__##name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(scores),
		TEST(ties_share_their_ranks),
		TEST(puts_the_users_code_before_that_of_libraries),
		TEST(without_one_sort_of_runs_nothing_is_certain),
		TEST(keeps_to_its_limit_and_counts),
		TEST(one_conflict_is_one_explanation),
		TEST(joins_explanations),
		TEST(passes_over_reads_that_a_write_follows),
	};

	return cmocka_run_group_tests_name("ranking", tests, NULL, NULL);
}
