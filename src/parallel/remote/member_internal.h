/* What the files of a rank that makes runs share: its state. member.c talks to rank 0, member_parts.c makes parts. */
#ifndef RADDLE_PARALLEL_REMOTE_MEMBER_INTERNAL_H
#define RADDLE_PARALLEL_REMOTE_MEMBER_INTERNAL_H

#include <limits.h>

#include "parallel/remote/cluster.h"
#include "parallel/remote/wire.h"

#define MEMBER_NAP_US 2000

struct member {
	const struct link *link;
	const struct campaign_options *options;
	char folder[PATH_MAX]; /* of its own store */
	uint64_t silent_ns;
	volatile int is_stopped;
	bool has_no_leader; /* it has not been heard of for long */
	bool has_end;	    /* and this is it */
	struct wire_end end;
	struct error failure; /* code 0: none; a message of rank 0 that cannot be read */
	bool has_unit;
	struct lease_table_unit unit;
	uint64_t begun_ns, alive_ns, leader_ns;
	struct contract_totals now, told; /* of its runs */
	bool has_started;

	/* member_parts.c */
	char *part; /* a batch that came, to be freed; NULL: none */
	size_t part_size;
	bool has_to_rest; /* the one under way is to end */
};

void member_tell(const struct member *member, enum wire_tag tag, const void *bytes, size_t size);
/* Takes what rank 0 has sent. */
void member_listen(struct member *member);
/* If that is due. */
void member_show_life(struct member *member);

/* Of a strategy that goes through all schedules: makes what rank 0 sends until that says stop. */
int member_make_parts(struct member *member, struct error *err);

#endif
