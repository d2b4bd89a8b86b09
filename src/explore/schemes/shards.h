/* Verdicts of an exhaustive search's shards, documents of their campaigns in merged stores. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "explore/campaign.h"
#include "store/store.h"

/* The shards of one search, as far as this store has them. */
struct shards {
	char strategy[256];
	uint32_t count, here; /* number of shards, and of those in this store */
	/* True if all shards had the same shared variables and divided the search in the same way.
	 * Their verdicts together then cover the whole search. */
	bool is_one_memory;
	char absent
		[64]; /* numbers of missing shards, shortened if there are too many for it: "2, 5, ..." */
	/* A missing shard of which the store has a different search; 0: none. */
	uint32_t stranger;
	const char *difference;
	/* numbers of shards that did not complete their work, shortened like `absent` */
	char cut[64];
	uint64_t failures;
	enum memory_model memory_model; /* of all shards */
	uint64_t least_order;		/* the smallest scope_order of all shards */
	/* verdict of all shards together; valid if no shard is missing */
	struct strategy_verdict verdict;
	char missing[160]; /* storage of verdict.missing, where that is not NULL */
};

/* Lists every sharded search of the store. The caller frees *out. */
int shards_list(struct store *store, struct shards **out, uint32_t *count, struct error *err);
