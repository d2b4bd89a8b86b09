/*
 * Finds preemption points that are equivalent to the one used in this run. Stopping the thread some
 * accesses earlier is equivalent if no other thread performs an op dependent on these accesses
 * before the thread continues. Any other op of the thread ends the *stretch* of accesses, because
 * other threads may wait for its effect.
 *
 * A plain value, initially all zero; receives every op of a run in order.
 */
#pragma once

#include "model/view.h"

#define COMMUTING_STRETCH 1024
#define COMMUTING_BITS 1024
#define COMMUTING_NO_POINT UINT32_MAX

/* An access of the stretch. `ordinal`: the point before it, at which the thread could have been
 * stopped; may be COMMUTING_NO_POINT. */
struct commuting_access {
	object_name object;
	bool is_read;
	uint32_t variable, ordinal;
};

struct commuting {
	uint32_t thread; /* the thread of the stretch */
	uint32_t count;
	struct commuting_access stretch[COMMUTING_STRETCH]; /* oldest access first */
	struct commuting_access next;			    /* point of the next access */

	/* Variables that other threads access from the stop until the thread continues. */
	bool is_stopped, has_gone_on;
	bool is_opaque; /* one of these accesses is larger than its object */
	uint64_t written[COMMUTING_BITS / 64], touched[COMMUTING_BITS / 64];
};

void commuting_begin_run(struct commuting *commuting);
/* Notes that the thread that moves next is at point number `ordinal` of the variable. */
void commuting_point(struct commuting *commuting, uint32_t variable, uint32_t ordinal);
/* Notes that the thread is stopped here, for the last time in this run. */
void commuting_stop(struct commuting *commuting, struct thread_id thread);
void commuting_executed(
	struct commuting *commuting, const struct schedule_view *view, struct thread_id thread);
/* Returns the index from which on the stretch's points are equivalent to the stop;
 * commuting->count: none. */
uint32_t commuting_first_same(const struct commuting *commuting);
