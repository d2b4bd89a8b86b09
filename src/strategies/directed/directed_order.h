/*
 * Orders of memory accesses that strategy `directed` forces or forbids. An order has one to four
 * accesses by two threads to one or two objects (model/pattern.h). Threads and objects are bound to
 * the first that match. If only waiting threads are enabled, a random one of them moves.
 *
 * Forced: a thread at the second access waits until another thread has made the first. The first
 * thread then avoids the object until its next access is due. The order is repeated as often as
 * possible.
 *
 * Forbidden: between the first and the last access of a thread, no other thread makes an access of
 * the order. Other threads do not begin the same order either if that would conflict. In an order
 * of two accesses, the first waits until the second has been made.
 *
 * An order of one access is a read of a location that no thread has written. Forced: other threads
 * do not write to `object` before the read. Forbidden: the read waits for a write.
 */
#pragma once

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
	uint64_t sites[DIRECTED_SITES_MAX]; /* alternatives */
	uint32_t site_count;
	uint64_t function; /* the function that contains the sites; 0: not known */
	uint8_t party;	   /* 0 or 1: index of the thread */
	uint8_t variable;  /* 0 or 1: index of the object */
};

struct directed_order_draw {
	uint32_t skipped; /* number of first accesses to skip; small */
	bool is_home;	  /* the objects must be `homes` */
};

struct directed_order {
	struct directed_access accesses[DIRECTED_ACCESSES_MAX];
	uint32_t access_count;
	bool is_forbidden;
	object_name object;   /* object of an order of one access; 0: not known */
	thread_name names[2]; /* forced: the threads; 0: the first that match */
	object_name
		homes[2]; /* forced: the objects, in half of the runs; 0: the first that match */

	/*
	 * Learnt by forbidden orders: locks whose holder waited for a thread between its first and
	 * last access, while that thread waited for the lock. Other threads do not acquire these
	 * locks between the accesses.
	 */
	object_name gates[DIRECTED_GATES_MAX];
	uint32_t gate_count;
	/* Forced: choices of the last run that reached the order. Half of the runs repeat them. */
	struct directed_order_draw good;
	bool has_good;

	uint32_t next;	  /* the access that is due */
	uint32_t skipped; /* number of first accesses still to skip */
	bool is_done;
	struct directed_order_draw drawn;
	uint16_t threads[2];
	object_name objects[2]; /* 0: not yet known */
	/* forbidden: bits of orders whose threads would mutually wait with this one's */
	uint32_t mutual;
	/* Forbidden: threads inside the order, or objects for which it can no longer occur. */
	uint64_t written[DIRECTED_WRITTEN_BITS / 64]; /* set of written objects, by hash */
	uint32_t open_count;
	struct {
		uint16_t thread;
		object_name object;
	} open[DIRECTED_OPEN_MAX];
};

void directed_order_begin_run(struct directed_order *order, struct rng *rng);
void directed_orders_relate(struct directed_order *orders, uint32_t count);
/* Returns whether the thread must wait before its pending op because of orders[at]. */
bool directed_order_holds(const struct directed_order *orders, uint32_t at,
	const struct schedule_view *view, uint32_t thread);
/* Returns whether its pending op would lie between accesses that must be atomic. */
bool directed_order_interleaves(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread);
/* Returns whether the object is a gate; another thread is between its accesses; the op begins the
 * order. */
bool directed_order_has_gate(const struct directed_order *order, object_name object);
bool directed_order_is_open(const struct directed_order *order, const struct schedule_view *view,
	uint32_t but_for_thread);
bool directed_order_begins(const struct directed_order *order, const struct pending_op *op);
/* Called when only waiting threads are enabled: the lock that causes the wait becomes a gate. */
void directed_order_learn(struct directed_order *order, const struct schedule_view *view);
/*
 * Functions for parallel runs. A run begins with the known state (share). New knowledge, relative
 * to `base`, is merged afterwards (learn), independently of the workers' speed.
 */
void directed_orders_share(
	struct directed_order *to, const struct directed_order *known, uint32_t count);
void directed_orders_learn(struct directed_order *known, const struct directed_order *base,
	const struct directed_order *run, uint32_t count);
/* Returns whether the pending op is the one that is due in an order that has begun. */
bool directed_order_wants(
	const struct directed_order *order, const struct schedule_view *view, uint32_t thread);
void directed_order_executed(
	struct directed_order *order, const struct schedule_view *view, uint32_t thread);
