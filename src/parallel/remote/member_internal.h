/* State of a remote worker: messages with rank 0 (member.c), tasks (member_tasks.c). */
#pragma once

#include <limits.h>

#include "parallel/remote/cluster.h"
#include "parallel/remote/wire.h"

#define MEMBER_NAP_US 2000

struct member {
	const struct link *link;
	const struct campaign_options *options;
	char folder[PATH_MAX]; /* folder of the remote worker's own store */
	uint64_t silent_ns;
	volatile int is_stopped;
	bool has_no_leader; /* rank 0 has been silent for too long */
	bool has_end;	    /* `end` has been received */
	struct wire_end end;
	struct error failure; /* code 0: none; otherwise a message of rank 0 could not be read */
	bool has_unit;
	struct lease_table_unit unit;
	uint64_t begun_ns, alive_ns, leader_ns;
	struct contract_totals now, reported; /* totals of its runs: now, and at the last report */
	bool has_started;

	/* The following fields belong to member_tasks.c. */
	char *task; /* batch received and not yet started, owned; NULL if none */
	size_t task_size;
	bool has_to_rest; /* the batch under way ends after the current run */
};

void member_send(const struct member *member, enum wire_tag tag, const void *bytes, size_t size);
void member_listen(struct member *member);
void member_show_life(struct member *member);

/* Makes the batches of rank 0 until it stops the campaign, for exhaustive strategies. */
int member_make_tasks(struct member *member, struct error *err);
