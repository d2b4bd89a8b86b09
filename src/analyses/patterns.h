/*
 * Access patterns over many runs: which of them come with a failure? Counts in how many failing and
 * passing runs each pattern was seen and ranks them by suspiciousness.
 *
 * Park, Vuduc and Harrold, "Falcon: Fault Localization in Concurrent Programs", ICSE 2010, section
 * 3.2. Pure calculation: runs come from whoever has them.
 */
#ifndef RADDLE_ANALYSES_PATTERNS_H
#define RADDLE_ANALYSES_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/pattern.h"

/* How suspicion is measured; the last two are what others do, to compare with. */
enum suspicion {
	SUSPICION_JACCARD, /* failed(p) / (all failed + passed(p)): the paper's */
	SUSPICION_TARANTULA, /* (failed(p)/all failed) / (failed(p)/all failed + passed(p)/all passed) */
	SUSPICION_OCHIAI, /* failed(p) / sqrt(all failed * (failed(p) + passed(p))) */
	SUSPICION_AVIO,	  /* 1 for patterns of failing runs that no passing run has shown */
	SUSPICION_PLAIN,  /* 1 for every pattern: detection without ranking */
	SUSPICION_COUNT
};

extern const char *const suspicion_words[SUSPICION_COUNT]; /* "jaccard", ... */
bool suspicion_parse(const char *word, enum suspicion *out);

/* A pattern and what is known of it over all runs. */
struct pattern_record {
	struct pattern pattern; /* as the first failing run showed it, else the first passing one */
	uint32_t failed, passed; /* runs that showed it */
	uint32_t last;		 /* number of the run that showed it last, from 1 */
	uint64_t runs;		 /* equal for patterns that were seen in the same runs */
	bool is_foreign; /* no access of it is in the user's code; see pattern_ranking_sort() */
	double score;
	/* Among all patterns by score alone; equal scores share their mean and their worst rank. */
	double rank_mean;
	uint32_t rank_worst;
	uint32_t explanation; /* which one it is part of, from 0 */
};

/* All zero: empty. */
struct pattern_ranking {
	struct pattern_record *records; /* owned */
	uint32_t count, capacity;
	uint32_t *slots; /* owned: index + 1 by key; as many as slot_count */
	uint32_t slot_count;
	uint32_t limit;		 /* of records; 0: none */
	uint64_t dropped;	 /* patterns of runs that were left out because of the limit */
	uint32_t failed, passed; /* runs */
	uint32_t explanation_count;
};

void pattern_ranking_release(struct pattern_ranking *ranking);

/* Adds a run with its patterns; each counts once, and reads that a write follows do not. */
void pattern_ranking_add(struct pattern_ranking *ranking, const struct pattern *patterns,
	uint32_t count, bool has_failed);

/*
 * Fills score and ranks, and sorts. Equal scores are told apart for the order only, not for the ranks:
 * first what was seen in more failing runs, then what is not foreign, then atomicity patterns, those over two variables, and
 * order patterns (each of which is part of one of the others as often as not), then what
 * was complete earlier in its run: a cause comes before its effects.
 */
void pattern_ranking_sort(struct pattern_ranking *ranking, enum suspicion suspicion);

/*
 * Puts patterns that are the same conflict into one explanation, in the order of the records: the
 * same unordered pair of places and threads' roles conflicts over the same kind of memory. `place_of`
 * says which sites are one place (a function); explanations are numbered by their first pattern.
 */
void pattern_ranking_explain(struct pattern_ranking *ranking,
	uint64_t (*place_of)(void *context, uint64_t site), void *context);

/* Have the two such a conflict in common? */
bool pattern_shares_conflict(const struct pattern *a, const struct pattern *b,
	uint64_t (*place_of)(void *context, uint64_t site), void *context);
/* All patterns of one explanation become part of the other. */
void pattern_ranking_merge(struct pattern_ranking *ranking, uint32_t explanation, uint32_t into);

/* NULL: no run has shown it. */
const struct pattern_record *pattern_ranking_find(
	const struct pattern_ranking *ranking, uint64_t key);

#endif
