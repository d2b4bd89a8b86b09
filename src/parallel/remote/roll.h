/*
 * The roll of remote workers at rank 0: their states, when each was last heard, and whether each
 * runs the same program and release.
 */
#pragma once

#include "process/target.h"
#include "parallel/remote/cluster.h"
#include "parallel/remote/wire.h"

enum member_state { MEMBER_UNKNOWN, MEMBER_WORKS, MEMBER_WAITS, MEMBER_LEFT };

struct roll_member {
	enum member_state state;
	bool is_silent; /* the user has been notified */
	uint64_t heard_ns;
	char host[64], folder[4096]; /* empty before its hello */
};

struct roll {
	const struct link *link;
	const struct campaign_listener *listener;
	/* a remote worker that is silent for this time counts as lost */
	uint64_t silent_ns;
	struct roll_member *members; /* members by rank; owned */
	struct target target;	     /* the program that all ranks run; owned */
	uint64_t fingerprint;	     /* hash of the program's file */
	/* first failure of a remote worker that ends the whole campaign */
	struct error failure;
};

/* Initialises the roll; all remote workers count as heard just now. */
void roll_open(struct roll *roll, const struct link *link, const struct campaign_listener *listener,
	uint64_t silent_ns);
void roll_close(struct roll *roll);

void roll_notice(const struct roll *roll, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void roll_hear(struct roll *roll, uint32_t from);

/* Handles a remote worker's WIRE_HELLO. Another release or program sets roll->failure. */
void roll_take_hello(struct roll *roll, const struct link_message *message);

/* Handles a message that no rank of this release sends. roll->failure names the sender, which
 * counts as lost. */
void roll_refuse(struct roll *roll, const struct link_message *message);

/* Marks remote workers that have become silent, and notifies the user once of each. */
void roll_look_for_silence(struct roll *roll);
