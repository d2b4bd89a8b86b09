/*
 * Orders of accesses to memory that strategy `directed` makes come about or keep from coming about;
 * part of its state. An order has one to four accesses, by two threads, to one or two objects
 * (model/pattern.h has the patterns that matter); threads and objects are whoever comes first.
 *
 * Forced: a thread that would make the second access waits until another has made the first; that one
 * then keeps off the object until it is its turn again. Again and again, where that is possible.
 * Forbidden: while a thread is between its first and its last access, nobody else makes those that
 * would come between (nor begins the same, if it would); of two accesses the first waits until the
 * second has been made.
 * An order of one access is a read of what no thread has written yet: forced, others do not write to
 * `object` before; forbidden, it waits until somebody has written.
 * When nobody but waiting threads could move, one of them, drawn at random, does.
 */
#ifndef RADDLE_STRATEGIES_DIRECTED_DIRECTED_ORDER_H
#define RADDLE_STRATEGIES_DIRECTED_DIRECTED_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/view.h"

#define DIRECTED_ORDERS_MAX 8
#define DIRECTED_ACCESSES_MAX 4
#define DIRECTED_SITES_MAX 16
#define DIRECTED_OPEN_MAX 32
#define DIRECTED_GATES_MAX 4
#define DIRECTED_WRITTEN_BITS 1024

struct directed_access {
	uint64_t sites[DIRECTED_SITES_MAX]; /* any of them */
	uint32_t site_count;
	uint64_t function; /* that the sites are in, 0: not known */
	uint8_t party;	   /* 0 or 1: which thread */
	uint8_t variable;  /* 0 or 1: which object */
};

/* What is drawn for a run. */
struct directed_order_draw {
	uint32_t skipped; /* small */
	bool is_home;	  /* objects are to be `homes` */
	bool is_again; /* the other two as in a run in which the order came about, where there is one */
};

struct directed_order {
	struct directed_access accesses[DIRECTED_ACCESSES_MAX];
	uint32_t access_count;
	bool is_forbidden;
	object_name object;   /* of one access; 0: not known */
	thread_name names[2]; /* forced: which threads; 0: whoever comes first */
	object_name
		homes[2]; /* forced: which objects, in half of the runs; 0: whichever come first */

	/*
	 * Forbidden, learnt over all runs: locks for which a thread between its first and last access has
	 * waited while their holder waited for it. Nobody else takes them meanwhile, from then on.
	 */
	object_name gates[DIRECTED_GATES_MAX];
	uint32_t gate_count;
	/* Forced, likewise: what was drawn when the order came about last; half of the runs do so again. */
	struct directed_order_draw good;
	bool has_good;

	/* Of the current run. Forced: how far it has come. */
	uint32_t next;	  /* access that is due */
	uint32_t skipped; /* first accesses that are still let pass before it begins */
	bool is_done;
	struct directed_order_draw drawn;
	uint16_t threads[2];
	object_name objects[2]; /* 0: not yet known */
	uint32_t mutual; /* forbidden: bits of orders whose threads would wait for this one's */
	/* Forbidden: threads between their first and last access; or objects that are past danger. */
	uint64_t written[DIRECTED_WRITTEN_BITS / 64]; /* by hash of the object */
	uint32_t open_count;
	struct {
		uint16_t thread;
		object_name object;
	} open[DIRECTED_OPEN_MAX];
};

void directed_order_begin_run(struct directed_order *order, struct rng *rng);
/* What the orders of a run are to each other; after each has begun. */
void directed_orders_relate(struct directed_order *orders, uint32_t count);
/* Must this thread wait before its pending op, for the sake of orders[at]? */
bool directed_order_holds(const struct directed_order *orders, uint32_t at,
	const struct schedule_view *view, uint32_t thread);
/* Would its pending op come between what must be in one piece? */
bool directed_order_comes_between(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread);
/* Is it a lock that matters to a forbidden order, and who would have to do without? */
bool directed_order_has_gate(const struct directed_order *order, object_name object);
bool directed_order_is_open(const struct directed_order *order, const struct schedule_view *view,
	uint32_t but_for_thread);
bool directed_order_begins(const struct directed_order *order, const struct pending_op *op);
/* Nobody can move but who waits: which lock is to blame? */
void directed_order_learn(struct directed_order *order, const struct schedule_view *view);
/*
 * Runs that are made side by side: each begins with what is known (share), and what it has learnt beyond that becomes
 * known (learn), in any order that does not depend on who was faster. `base` is what the run has begun with.
 */
void directed_orders_share(
	struct directed_order *to, const struct directed_order *known, uint32_t count);
void directed_orders_learn(struct directed_order *known, const struct directed_order *base,
	const struct directed_order *run, uint32_t count);
/* Is its pending op the one that is due in an order that has begun? */
bool directed_order_wants(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread);
/* The thread is about to perform its pending op. */
void directed_order_executed(
	struct directed_order *order, const struct schedule_view *view, uint32_t thread);

#endif
