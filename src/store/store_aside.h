/*
 * A store that is none: what campaigns would keep is put aside in memory, to travel and to be kept in a real store later,
 * or not at all. For work whose results count only when its turn has come (forked_jobs.h).
 */
#ifndef RADDLE_STORE_STORE_ASIDE_H
#define RADDLE_STORE_STORE_ASIDE_H

#include "base/strbuf.h"
#include "process/forked_jobs.h"
#include "store/store.h"

/*
 * Takes campaigns and findings as any other; it has no folder, so only store_campaign_begin, store_campaign_update,
 * store_add_finding, store_list_campaigns (none), store_bytes (none) and store_close may be called.
 * Findings are called A1, A2, ... here.
 */
void store_open_aside(struct store **out);
/* All that was put aside, behind what is in the answer. */
void store_aside_pack(const struct store *aside, struct strbuf *answer);

/* What was put aside, elsewhere. */
struct store_aside_finding {
	struct finding finding; /* its id is that of the store it is in by now */
	char aside_id[32];
	uint64_t campaign; /* index */
	bool is_new;	   /* the store did not have it */
};

struct store_unpacked {
	struct store_campaign *campaigns;
	uint32_t campaign_count;
	struct store_aside_finding *findings;
	uint32_t finding_count;
};

/* Fails where it is not what store_aside_pack() has made. */
int store_aside_unpack(
	struct store_unpacked *unpacked, struct forked_job_reading *reading, struct error *err);
void store_unpacked_release(struct store_unpacked *unpacked);
/* Keeps all of it. */
int store_keep_unpacked(struct store *store, struct store_unpacked *unpacked, struct error *err);
/* "A2" becomes what the finding is called now; anything else stays. */
void store_rename(const struct store_unpacked *unpacked, char id[32]);

#endif
