/*
 * The path of an access to memory, from a site or from the __tsan_* functions, to the scheduling
 * point; and names for memory. Everything runs in the target's moving thread.
 *
 *   sites.c	modules, records, switching them on and off (thunk: site_thunk.S)
 *   site_visit.c	accesses at sites, from the thunk on
 *   memory.c	an access: is it a point? learns who shares what
 *   memory_variable.c	what is known of the memory that it touches
 *   memory_prepare.c	before a run: which variables are points, which sites are on
 *   memory_freed.c	memory that is given back, and whoever touches it later
 *   focus.c	likewise, of a strategy that needs few variables
 *   heap.c	which allocation an address belongs to (allocation functions: allocation_functions.c)
 *   memory_name.c	names of all other memory
 */
#ifndef RADDLE_RUNTIME_MEMORY_H
#define RADDLE_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/view.h"
#include "abi/contract_memory.h"
#include "abi/instrument_abi.h"

struct memory_access {
	const void *address;
	size_t bytes;
	uint64_t site;		  /* code address: of the point, or the return address (tsan ABI) */
	uint8_t kind;		  /* enum site_kind: a load, store, atomic, fence or range kind */
	uint8_t order;		  /* enum site_order */
	uint8_t order_of_failure; /* compare-exchange */
	uint8_t call;		  /* enum call_kind; a free counts as a write to the whole block */
	bool knows_expected;	  /* compare-exchange: it will write if `expected` is there */
	uint64_t expected;
	uint8_t *site_state; /* its byte in contract_memory.sites, NULL: it has none */
};

/* The scheduling point before the access, where it is one. Returns at once before the first thread,
 * in a forked child, and inside the runtime. */
void memory_access(const struct memory_access *access);

/* The race detector let a race there pass: from the next run on its accesses are points in any mode. */
void memory_raced(const void *address);

/*
 * The block there is about to be given back: a write of all of it, where an access to it was seen; a point
 * where one of its variables is. A failure where it was given back before.
 */
void memory_freed(const void *start, uint64_t site);

/*
 * For a timer's signal handler that finds us at work on an access: the others get a turn before it
 * (engine_spin_point). Where the last access from a site was; 0: there was none in this run.
 */
void memory_give_turn(void);
uint64_t memory_last_site(void);
bool memory_turn_is_wanted(void);

/*
 * Before each run, by whoever starts it and with no thread of the target moving: makes effective
 * what was learnt, switches sites. `number` of the run decides whether it is a profiling run.
 */
void memory_prepare_run(uint64_t number);
/*
 * Behind it, and behind the restoring of memory: a program that ends takes back its modules, so before that
 * there are no sites to switch.
 */
void memory_switch_sites(void);

/* Where no image of the memory is restored: forgets what an earlier run has done here. */
void memory_begin_run(void);

/* Marks the sites that are to be on in the coming run, as the contract says. */
void memory_choose_sites(struct contract_memory *memory, bool is_profile);

/* For struct schedule_view. */
bool memory_place(object_name object, struct object_place *out);

/* What is known by address holds no longer; once for every run at least. */
void memory_next_epoch(struct contract_memory *memory);

/* The last run has found variables to be shared that will be points from the next one on. */
bool memory_has_news(void);
/* Have there come new points since this was last asked? */
bool memory_take_change(void);

static inline bool memory_kind_is_atomic(uint8_t kind)
{
	return kind >= SITE_ATOMIC_LOAD && kind <= SITE_FENCE;
}

/* Of ranges and strings. */
static inline bool memory_kind_is_range(uint8_t kind)
{
	return kind >= SITE_RANGE_READ && kind <= SITE_STRING_WRITE;
}

static inline bool memory_kind_writes_range(uint8_t kind)
{
	return kind == SITE_RANGE_WRITE || kind == SITE_STRING_WRITE;
}

/* memory_prepare.c: switches every site to what its byte says; false: not possible, the contract says why. */
bool sites_apply(void);

/* ---- names (heap.c, memory_name.c) ---- */

struct heap_block {
	uintptr_t start;
	size_t bytes;
	object_name name;   /* hash of site, thread and ordinal */
	uint64_t site;	    /* return address of the allocating call */
	thread_name thread; /* that allocated it */
	uint32_t ordinal;   /* n-th of this site and thread, from 1 */
	uint32_t loop;	    /* n-th of this call stack, from 1; 0: not counted */
	bool is_used;	    /* an access to it was seen in this run */
};

/*
 * From here on allocations are recorded; a second call does nothing. For whoever sees the first
 * instrumented code of the process.
 */
void heap_start_recording(void);
/* The live allocation that holds the address; false: none that was seen being made. */
bool heap_find(const void *address, struct heap_block *out);
/* Stable name of the eight aligned bytes around the address; never 0. */
variable_name memory_variable_name(const void *address);
/* The same where it can be told with general registers only, which is nearly always; else 0. */
variable_name memory_quick_name(const void *address);
/* The same of blocks of the heap and of static data alone; else 0. */
variable_name memory_lasting_name(const void *address);
/* The same of what lies `bytes` further on in the same block of the heap; 0: nothing does. */
variable_name memory_name_ahead(const void *address, size_t bytes);
/* The same of an object of synchronisation there; 0: it is not on a recorded heap nor on a stack. */
object_name memory_object_name(const void *address);
/* From the heap: the block there is freed, and accesses to it are to be looked at again. */
void memory_given_back(uintptr_t start, size_t bytes);
/* From the heap: memory there has another name than before, or none. SIZE_MAX bytes: all memory may have. */
void memory_renamed(uintptr_t start, size_t bytes);
/* Name of a place in the code, the same in every process that has its module. */
uint64_t memory_code_name(uint64_t address);
/*
 * What kind of memory is there, never 0: blocks of one allocating call are of one kind, and all static
 * data is, and all other memory.
 */
uint32_t memory_class(uint64_t address);
/* The class of a block of the heap; 0: the address is in none. */
uint32_t memory_block_class(uint64_t address);

#endif
