/*
 * What each shard of a strategy that goes through all schedules has made, as a document of its campaign in the store, and
 * what all of them have made together once their stores are merged.
 */
#ifndef RADDLE_EXPLORE_SHARDS_H
#define RADDLE_EXPLORE_SHARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "explore/campaign.h"
#include "plan/memory_view.h"
#include "store/store.h"

/* Of a campaign so far; `memory`: what its last run saw; NULL: there was none, and no verdict either. */
int shards_keep(struct store *store, int64_t campaign, const struct campaign_options *options,
	const struct campaign_result *result, const struct memory_view *memory, struct error *err);

/* Shards of one campaign, as far as they are there. */
struct shards {
	char strategy[256];
	uint32_t count, here; /* how many there are, and are known here */
	/* All have seen the same variables as shared, and dealt out the same work: else they do not fit together. */
	bool is_one_memory;
	char absent
		[64]; /* numbers of those that are not known here, as far as there is room: "2, 5, ..." */
	/* One of the absent is here of a campaign that is another one, 0: none is; and what is different there. */
	uint32_t stranger;
	const char *difference;
	char cut[64]; /* likewise: of those that were not through with all that is theirs */
	uint64_t failures;
	uint64_t least_order;		 /* of their scopes */
	struct strategy_verdict verdict; /* of all; where all are here */
	char missing[160];		 /* verdict.missing is here, or NULL */
};

/* *out is to be freed. */
int shards_list(struct store *store, struct shards **out, uint32_t *count, struct error *err);

#endif
