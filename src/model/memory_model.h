/*
 * Memory models, and the stores that a run delayed visibly. With tso the store waited in its
 * thread's store buffer, the thread read other memory meanwhile, and another thread read the old
 * value or wrote the same memory. With c11 a thread read an older store, or wrote an older one. A
 * run without such a store is sequentially consistent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

/* Memory models of --memory-model: when other threads see the stores of a thread. */
enum memory_model {
	MEMORY_MODEL_SC,  /* sequential consistency */
	MEMORY_MODEL_TSO, /* x86: a FIFO store buffer per thread */
	MEMORY_MODEL_C11, /* C11: a load may read an old store */
	MEMORY_MODEL_COUNT
};

/* C11 memory orders as numbered in generated code (abi/instrument_abi.h). */
enum memory_order_number {
	ORDER_RELAXED,
	ORDER_CONSUME,
	ORDER_ACQUIRE,
	ORDER_RELEASE,
	ORDER_ACQUIRE_RELEASE,
	ORDER_SEQUENTIAL
};

static inline bool order_acquires(uint8_t order)
{
	return order != ORDER_RELAXED && order != ORDER_RELEASE;
}

static inline bool order_releases(uint8_t order)
{
	return order >= ORDER_RELEASE;
}

#define STRENGTHENED_MOST 96

/* An order that a run gives to the accesses at a site instead of the program's own, or a fence
 * directly before them: `raddle explain` tries repairs. */
struct strengthened {
	uint64_t site;
	uint8_t order;	  /* enum memory_order_number */
	uint8_t is_fence; /* 0 or 1 */
};

/* A store that another access could precede in a weak execution (engine/c11/robustness.h). */
struct missed_store {
	uint64_t site; /* 0: there is no such store */
	uint32_t step;
	struct thread_id writer;
	uint8_t model; /* enum memory_model: the strongest model that permits it */
	uint8_t op;    /* enum op_kind */
};

#define DELAYED_STORES_MOST 8 /* recorded delayed stores of a run */

struct delayed_store {
	struct thread_id writer;
	struct thread_id observer; /* the thread that read the old value, or wrote */
	uint16_t bytes;		   /* at most 8: the size of the values */
	bool is_read;		   /* the observer read; else it wrote */
	/* c11: the observer read an older store, or wrote earlier in modification order */
	bool is_unseen;
	uint64_t site; /* location of the store */
	uint64_t step; /* step of the store, as in the trace */
	/* c11: step of the older store whose value the observer read; UINT64_MAX: none, or unknown */
	uint64_t read_step;
	uint64_t observer_site;
	uint64_t observer_step; /* step of the observer's access, as in the trace */
	uint64_t passing_site;	/* location of the writer's later read, which passed the store */
	uint64_t address;
	uint64_t value;	    /* the delayed value */
	uint64_t old_value; /* the value in memory when the observer accessed it */
};

struct delayed_stores {
	uint32_t count; /* may exceed the number of items[] */
	uint32_t reserved;
	struct delayed_store items[DELAYED_STORES_MOST];
};

static inline uint32_t delayed_stores_recorded(const struct delayed_stores *stores)
{
	return stores->count < DELAYED_STORES_MOST ? stores->count : DELAYED_STORES_MOST;
}
