/*
 * Correlates access patterns with failures over many runs. It counts the failing and passing runs
 * that showed each pattern, and ranks the patterns by suspiciousness.
 *
 * Park, Vuduc and Harrold, "Falcon: Fault Localization in Concurrent Programs", ICSE 2010, section
 * 3.2. Pure calculation: the caller makes the runs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/number_map.h"
#include "model/pattern.h"

/* Measures of suspiciousness. AVIO and PLAIN model other tools, for comparison. */
enum suspicion {
	SUSPICION_JACCARD, /* failed(p) / (all failed + passed(p)): the paper's */
	SUSPICION_TARANTULA, /* (failed(p)/all failed) / (failed(p)/all failed + passed(p)/all passed) */
	SUSPICION_OCHIAI, /* failed(p) / sqrt(all failed * (failed(p) + passed(p))) */
	SUSPICION_AVIO,	  /* 1 for patterns of failing runs that no passing run has shown */
	SUSPICION_PLAIN,  /* 1 for every pattern: detection without ranking */
	SUSPICION_COUNT
};

extern const char *const suspicion_words[SUSPICION_COUNT]; /* "jaccard", ... */

/* A pattern with its counts over all runs. */
struct pattern_record {
	/* taken from the first failing run that showed it, else from the first passing run */
	struct pattern pattern;
	uint32_t failed, passed; /* number of runs that showed it */
	uint32_t last;		 /* number of the last run that showed it, from 1 */
	uint64_t runs; /* hash of the runs that showed it: equal for patterns of the same runs */
	/* all accesses are outside of the user's code; see pattern_ranking_sort() */
	bool is_foreign;
	double score;
	/*
	 * Rank among all patterns by score alone; equal scores share the mean and the worst rank.
	 */
	double rank_mean;
	uint32_t rank_worst;
	uint32_t explanation; /* index of its explanation, from 0 */
};

/* A ranking of the patterns that the added runs showed. All zero: empty. */
struct pattern_ranking {
	struct pattern_record *records; /* owned */
	uint32_t count;
	struct number_map by_key; /* index of the record by the pattern's key */
	uint32_t limit;		  /* limit on the number of records; 0: none */
	uint64_t dropped;	  /* patterns omitted because of the limit */
	uint32_t failed, passed;  /* numbers of runs */
	uint32_t explanation_count;
};

void pattern_ranking_release(struct pattern_ranking *ranking);

/* Adds a run; each of its patterns counts once. Early reads that a write follows are skipped. */
void pattern_ranking_add(struct pattern_ranking *ranking, const struct pattern *patterns,
	uint32_t count, bool has_failed);

/* Fills scores and ranks, and sorts the patterns. Ties are ordered by: more failing runs; not
 * foreign; atomicity patterns, then patterns over two variables, then order patterns; earlier in
 * the run, since a cause precedes effects. */
void pattern_ranking_sort(struct pattern_ranking *ranking, enum suspicion suspicion);

/*
 * Groups patterns into explanations, one per conflict: an unordered pair of locations with their
 * threads' roles over one class of memory. `location_of` maps a site to its location (a function).
 */
void pattern_ranking_explain(struct pattern_ranking *ranking,
	uint64_t (*location_of)(void *context, uint64_t site), void *context);

bool pattern_shares_conflict(const struct pattern *a, const struct pattern *b,
	uint64_t (*location_of)(void *context, uint64_t site), void *context);
/* Moves all patterns of one explanation into another. */
void pattern_ranking_merge(struct pattern_ranking *ranking, uint32_t explanation, uint32_t into);

/* Returns the record of a pattern; NULL if no run has shown it. */
const struct pattern_record *pattern_ranking_find(
	const struct pattern_ranking *ranking, uint64_t key);
