/* A store in memory, for results of forked jobs that are later kept or dropped. */
#pragma once

#include "base/strbuf.h"
#include "process/forked_jobs.h"
#include "store/store.h"

/*
 * Opens a store in memory. Permitted functions: store_campaign_begin, store_campaign_update,
 * store_add_finding, store_count_finding, store_list_campaigns (none), store_bytes (0), store_close. Its findings are
 * A1, A2, ...
 */
void store_open_aside(struct store **out);
void store_aside_pack(const struct store *aside, struct strbuf *answer);

/* An object of the packed store, in the receiving process. */
struct store_aside_finding {
	/* the finding; after storing, with the id of the real store */
	struct finding finding;
	char aside_id[32];
	uint64_t campaign; /* index of its campaign */
	uint64_t times;	   /* occurrences, at least 1 */
	bool is_new;	   /* the real store did not contain the finding */
};

struct store_unpacked {
	struct store_campaign *campaigns;
	uint32_t campaign_count;
	struct store_aside_finding *findings;
	uint32_t finding_count;
};

/* Fails for bytes that store_aside_pack() did not write. */
int store_aside_unpack(
	struct store_unpacked *unpacked, struct forked_job_reading *reading, struct error *err);
void store_unpacked_release(struct store_unpacked *unpacked);
int store_keep_unpacked(struct store *store, struct store_unpacked *unpacked, struct error *err);
/* Replaces an id such as "A2" by the finding's id in the real store; leaves other ids unchanged. */
void store_rename(const struct store_unpacked *unpacked, char id[32]);
