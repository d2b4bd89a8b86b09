/* State of the views (engine/c11.h), which lies in the target's data segment: a rewind restores
 * it. Stores are numbered by *stamps*. In a history they ascend in modification order. */
#pragma once

#include "engine/c11.h"

/* The history of a new location replaces the oldest one; the newest store is then the only one. */
#define C11_LOCATIONS 128
#define C11_STORES 6   /* a longer history loses its oldest store */
#define C11_THREADS 64 /* a program with more threads is sequentially consistent from then on */
#define C11_OBJECTS 64 /* further objects share a view, which only orders more */
#define C11_BUCKETS 256
#define C11_BYTES_MOST 8
/* Distance of stamps: later stores may be inserted between two stores. */
#define C11_STAMP_STEP 64u
#define C11_STAMP_MOST (UINT32_MAX - (1u << 24))
/* A thread that reads this many old stores in a row reads a newest one next. */
#define C11_OLD_READS_MOST 16
#define C11_NONE UINT16_MAX

/*
 * By number of a location, the least stamp that a load may read. An entry of an earlier location
 * with this number is less than all stamps of the new one. Entries from location_count on are
 * undefined.
 */
struct c11_view {
	uint32_t stamps[C11_LOCATIONS];
};

struct c11_store {
	uint32_t stamp;
	uint8_t message; /* number of the view that an acquiring load receives, from 1; 0: none */
	bool is_release; /* later relaxed stores of the same thread continue its release sequence */
	bool releases;	 /* the order of the store itself */
	struct thread_id writer;
	bool is_update;
	uint8_t op;   /* enum op_kind */
	uint8_t path; /* enum c11_path of its writer */
	uint32_t step;
	uint64_t site; /* 0: the value before the first store */
	uint64_t value;
};

struct c11_location {
	uintptr_t address;
	uint16_t next; /* in the same bucket; C11_NONE: the last one */
	uint8_t bytes; /* 0: not in use */
	uint8_t count;
	struct c11_store stores[C11_STORES]; /* in modification order */
};

/*
 * Causal paths from sequentially consistent operations of the run, along program order, reads-from and the
 * order of these operations, to what a thread does next (c11/paths.c).
 */
enum c11_path {
	C11_PATH = 1,	   /* there is such a path */
	C11_LOOSE_PATH = 2 /* it has a reads-from edge that happens-before does not contain */
};

struct c11_thread {
	struct c11_view now;
	struct c11_view fenced;	       /* `now` at the last release fence; valid if has_fenced */
	struct c11_view relaxed_reads; /* received by relaxed loads; an acquire fence joins it */
	bool has_fenced, has_relaxed_reads;
	uint8_t path;	   /* enum c11_path */
	uint8_t old_reads; /* loads of old stores since the last load of a newest one */
};

/* Effect of the last access that c11_settle() ends. */
enum c11_pending_kind { C11_NOTHING, C11_OLD_LOAD, C11_NEW_STORE, C11_INSERTED_STORE };

struct c11_state {
	bool has_lost; /* `lost` is valid */
	uint8_t pending_kind;
	uint16_t pending_location;
	uint8_t pending_store; /* index of the store that the load reads, or of the new store */
	uint32_t location_count, next_replaced;
	uint32_t stamp; /* the last one */
	struct delayed_stores *delayed;
	struct store_messages messages_of_access; /* c11_take_messages() */
	uint8_t sequential_path, object_path; /* enum c11_path: of `sequential`, of all `objects` */
	object_name names[C11_OBJECTS];	      /* of `objects`; 0: not in use */
	/* newest stores known to a thread at a sequentially consistent store or fence */
	struct c11_view sequential;
	struct c11_view lost; /* messages of dropped histories: every acquiring load receives it */
	uint16_t buckets[C11_BUCKETS];
	struct c11_location locations[C11_LOCATIONS];
	struct c11_thread threads[C11_THREADS];
	struct c11_view objects[C11_OBJECTS];
	struct c11_view messages[C11_LOCATIONS][C11_STORES];
};

extern struct c11_state c11;
extern bool c11_is_chosen; /* the run has the memory model C11 */

_Static_assert(C11_LOCATIONS *C11_STORES < STORE_MESSAGES_MOST, "numbers of messages");

static inline struct c11_thread *c11_self(void)
{
	return &c11.threads[engine_current()->id.index];
}

/* ---- accesses.c ---- */

/* Returns whether the access may come directly before the store with this index: read the store
 * before it, or precede it in modification order. */
bool c11_may_precede(
	const struct engine_op *op, const struct c11_location *location, uint32_t index);

/* ---- views.c ---- */

void c11_join(struct c11_view *view, const struct c11_view *other);
void c11_copy(struct c11_view *view, const struct c11_view *other);
static inline void c11_raise(struct c11_view *view, uint16_t location, uint32_t stamp)
{
	if (view->stamps[location] < stamp)
		view->stamps[location] = stamp;
}
/* A load with this order has read a store with this message; NULL: none. */
void c11_receive(const struct c11_view *message, uint8_t order);
/* The value in memory has no known store: the load receives all stores. */
void c11_receive_all(uint8_t order);
void c11_fence(const struct engine_op *op);

/* ---- paths.c ---- */

/* Called before a sequentially consistent access, and before such a fence (NULL) joins views. */
void c11_path_sequential(const struct c11_location *location);
/* The moving thread has read the store with this order. */
void c11_path_read(const struct c11_store *store, uint8_t order);

/* ---- locations.c ---- */

/* Reads a value of the location's size. */
uint64_t c11_peek(const struct c11_location *location);
void c11_poke(const struct c11_location *location, uint64_t value);
/* Returns the location of exactly this memory, or NULL. A write drops all others that overlap it.
 * A location whose memory an unseen store has changed is dropped; *was_unseen is then true. */
struct c11_location *c11_find(const struct engine_op *op, bool *was_unseen);
/* Handles a read that covers several locations, or a part of one. Such a read sees the newest
 * stores. */
void c11_read_across(const struct engine_op *op);
/* Its history is the value in memory. NULL: there are no stamps left. */
struct c11_location *c11_location_new(const void *address, size_t bytes);
static inline uint16_t c11_number(const struct c11_location *location)
{
	return (uint16_t)(location - c11.locations);
}
/* The view that an acquiring load of the store receives; NULL: none. */
static inline struct c11_view *c11_message(
	const struct c11_location *location, const struct c11_store *store)
{
	if (!store->site) /* a dropped history may have had a newer one */
		return c11.has_lost ? &c11.lost : NULL;
	return store->message ? &c11.messages[c11_number(location)][store->message - 1] : NULL;
}
/* Returns the number of the store's message among all messages; 0: none. */
static inline uint16_t c11_message_number(
	const struct c11_location *location, const struct c11_store *store)
{
	return store->site && store->message
		       ? (uint16_t)(c11_number(location) * C11_STORES + store->message)
		       : 0;
}
/* Inserts a store before the store with this index; sets only its stamp. The history may lose its
 * oldest store. */
struct c11_store *c11_insert(struct c11_location *location, uint32_t index, uint32_t stamp);
/* Returns an unused message view of the location, and sets store->message. */
struct c11_view *c11_message_new(struct c11_location *location, struct c11_store *store);
