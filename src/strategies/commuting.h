/*
 * Is it all the same whether a thread is stopped here, or some accesses earlier? Where nobody does
 * anything that depends on these accesses until the thread goes on, the two runs differ in the order of
 * independent ops only. Looks at accesses to memory alone: whatever else the thread does ends the
 * stretch that is looked back upon, as it may be what others wait for.
 *
 * A plain value, all zero at first; told of every op of a run in its order.
 */
#ifndef RADDLE_STRATEGIES_COMMUTING_H
#define RADDLE_STRATEGIES_COMMUTING_H

#include "model/view.h"

#define COMMUTING_STRETCH 1024
#define COMMUTING_BITS 1024
#define COMMUTING_NO_POINT UINT32_MAX

/* The thread could have been stopped before it: n-th point of the variable, or of none. */
struct commuting_access {
	object_name object;
	bool is_read;
	uint32_t variable, ordinal;
};

struct commuting {
	uint32_t thread; /* whose stretch it is */
	uint32_t count;
	struct commuting_access stretch[COMMUTING_STRETCH]; /* the latest last */
	struct commuting_access next;			    /* its point, of the one that comes */

	/* From the stop until the thread goes on: what the others touch. */
	bool is_stopped, has_gone_on;
	bool is_opaque; /* an access to more than its object is among them */
	uint64_t written[COMMUTING_BITS / 64], touched[COMMUTING_BITS / 64];
};

void commuting_begin_run(struct commuting *commuting);
/* The thread that is to move next could be stopped before its op: n-th point of this variable. */
void commuting_point(struct commuting *commuting, uint32_t variable, uint32_t ordinal);
/* It is stopped there, for the last time in this run. */
void commuting_stop(struct commuting *commuting, struct thread_id thread);
void commuting_executed(
	struct commuting *commuting, const struct schedule_view *view, struct thread_id thread);
/* At the end: where in the stretch those begin that are as good; commuting->count: nowhere. */
uint32_t commuting_first_same(const struct commuting *commuting);

#endif
