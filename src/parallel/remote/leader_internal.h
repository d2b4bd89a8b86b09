/* State of rank 0. leader.c distributes units and receives messages. */
#pragma once

#include "parallel/remote/roll.h"

/* A finding that the store refused. */
struct unsaved {
	struct unsaved *next;
	uint32_t from;
	struct wire_finding head;
	struct finding finding;
};

struct leader {
	struct roll roll;
	const struct campaign_options *options;
	struct campaign_result *result;
	struct lease_table *leases;
	bool *has_unsaved; /* by rank: a finding of this remote worker could not be stored */
	struct store *store;
	struct store_campaign row;
	uint64_t started_ns, progress_ns, saved_ns;
	bool is_stopping, has_reported_start, has_reported_store;
	struct unsaved *unsaved;
};

/* Asks all remote workers to stop: enough has been found, or the time is up. */
void leader_say_stop(struct leader *leader);

int leader_lead_tasks(const struct link *link, const struct campaign_options *options,
	uint64_t silent_ns, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err);

/* Handles a remote worker's WIRE_FINDING. */
void leader_take_finding(struct leader *leader, const struct link_message *message);
/* Tries again to store refused findings. */
void leader_keep_unsaved(struct leader *leader);
void leader_release_unsaved(struct leader *leader);
