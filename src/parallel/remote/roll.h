/*
 * The roll of a campaign over ranks, as rank 0 keeps it: who takes part, when it was last heard of, and whether it
 * belongs here at all. How runs are dealt out is not its matter (leader.c, leader_parts.c).
 */
#ifndef RADDLE_PARALLEL_REMOTE_ROLL_H
#define RADDLE_PARALLEL_REMOTE_ROLL_H

#include "process/target.h"
#include "parallel/remote/cluster.h"
#include "parallel/remote/wire.h"

enum member_state { MEMBER_UNKNOWN, MEMBER_WORKS, MEMBER_WAITS, MEMBER_LEFT };

struct roll_member {
	enum member_state state;
	bool is_silent; /* that has been said */
	uint64_t heard_ns;
	char host[64], folder[4096]; /* empty until it says hello */
};

struct roll {
	const struct link *link;
	const struct campaign_listener *listener;
	uint64_t silent_ns;	     /* whoever is not heard of for so long is taken for lost */
	struct roll_member *members; /* by rank; owned */
	struct target target;	     /* what all are to run; owned */
	uint64_t fingerprint;	     /* of its file */
	struct error failure;	     /* of a member that cannot work: nobody could */
};

/* All have just been heard of, and nothing is known of them. */
void roll_open(struct roll *roll, const struct link *link, const struct campaign_listener *listener,
	uint64_t silent_ns);
void roll_close(struct roll *roll);

/* Tells the listener. */
void roll_notice(const struct roll *roll, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A message of a member has come: it is alive. */
void roll_hear(struct roll *roll, uint32_t from);

/* Its WIRE_HELLO. One that does not belong here is roll->failure. */
void roll_take_hello(struct roll *roll, const struct link_message *message);

/*
 * Ends the campaign because of a message that no rank of this release sends: roll->failure says which rank sent the
 * message. The member counts as gone.
 */
void roll_refuse(struct roll *roll, const struct link_message *message);

/* Says once of each who is lost, and marks it. */
void roll_look_for_silence(struct roll *roll);

#endif
