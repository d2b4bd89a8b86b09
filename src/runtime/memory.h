/*
 * The path of a memory access, from a site or a __tsan_* function, to its scheduling point; and
 * names for memory. All functions run in the target's moving thread.
 *
 *   sites.c              modules, records; switches sites on and off (thunk: site_thunk.S)
 *   site_visit.c         accesses at sites, from the thunk on
 *   memory.c             one access: is it a scheduling point? Which threads share which variables?
 *   memory_variable.c    knowledge about the variables that an access touches
 *   memory_prepare.c     before a run: decides which variables are points and which sites are on
 *   buffered_write.c     writes with store buffers (--memory-model tso)
 *   awaited.c            reads that block until a waiting loop would end
 *   kernel_access.c      accesses of the kernel in system calls
 *   reported.c           accesses to shared variables that are no scheduling points
 *   memory_freed.c       freed memory, and later accesses to it
 *   left_frame.c         accesses to frames of functions that have returned
 *   focus.c              before a run of a strategy that needs few variables
 *   heap.c               the allocation that holds an address
 *   memory_name.c        names of all other memory
 *
 * A *point* is a variable whose accesses are scheduling points in this run. A *site* is *on* when
 * its instruction reports. A *profiling run* has all sites on, to learn which variables threads
 * share.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "model/ids.h"
#include "model/view.h"
#include "abi/contract_memory.h"
#include "abi/instrument_abi.h"

struct memory_access {
	const void *address;
	size_t bytes;
	uint64_t site; /* Code address of the point; with the tsan ABI the return address */
	uint8_t kind;  /* enum site_kind: a load, store, atomic, fence or range kind */
	uint8_t order;
	uint8_t order_of_failure;
	uint8_t fence; /* order of a fence before the access; ORDER_RELAXED: none */
	uint8_t call;  /* enum call_kind; a free counts as a write to the whole block */
	/* compare-exchange: `expected` is valid, so the runtime knows whether it will write */
	bool knows_expected;
	bool waits; /* the read of a loop that only waits (SITE_WAITS); `expected` is valid */
	uint64_t expected;   /* A fence: the address of an annotation (compiler/tsan); 0: none */
	uint8_t *site_state; /* the site's byte in contract_memory.sites; NULL if none */
};

/* Makes the scheduling point before the access, if the variable is a point. The call has no effect
 * before the first thread creation, in a forked child, and inside the runtime. */
void memory_access(const struct memory_access *access);

/* Reports the accesses to the buffers of a read or write that has transferred `result` bytes, in a
 * program built with -fsanitize=thread. A build by raddle-cc reports them at the call. */
void memory_note_transfer(
	bool is_read, const struct iovec *vector, int count, long result, uint64_t site);

/* Implements engine_host.kernel_accesses: raddle learns about the variable as from an access of the program. */
uint16_t memory_note_kernel_access(const void *address, bool writes);

/* Notes that the race detector suppressed a race here: from the next run on, accesses to the
 * variable are points in any mode. */
void memory_raced(const void *address);
/* Returns whether the memory is a freed block, or may be the frame of a function that has returned. */
bool memory_may_be_gone(const void *address);

/* Called before the free. If an access to the block was seen, the free counts as a write to the
 * whole block; if one of its variables is a point, as a scheduling point. Ends the run at a double
 * free. */
void memory_freed(const void *start, uint64_t site);

/* memory_give_turn() is for a timer's signal handler that interrupts an access: the next access
 * first lets other threads run (engine_spin_point()). memory_last_site(): 0: no access in this
 * run. */
void memory_give_turn(void);
uint64_t memory_last_site(void);
bool memory_turn_is_wanted(void);

/* Called before each run, while no thread moves: applies the version of the knowledge and chooses
 * sites. The number decides whether the run is a profiling run. */
void memory_prepare_run(uint64_t number);
/* Returns whether a race detector that only watches is on in the run with this number. */
bool memory_watches_run(uint64_t number);
/* Called after memory_prepare_run() and the restore of memory: a program that has ended has
 * unregistered its modules, and only the restore registers them again. */
void memory_switch_sites(void);

/* Called at the begin of a run where the restart restores no memory image. */
void memory_begin_run(void);

/* Sets SITE_ON of each site, by the contract's mode. */
void memory_choose_sites(struct contract_memory *memory, bool is_profile);

/* Implements engine_host.is_common. */
bool memory_is_common(const void *address);
/* Implements schedule_view.location: the heap block that holds a variable. */
bool memory_heap_position(object_name object, struct heap_position *out);

/* Invalidates contract_memory.known. Called at least once per run. */
void memory_next_epoch(struct contract_memory *memory);

/* Returns whether the last run found shared variables that the next version makes points. */
bool memory_has_news(void);
/* Returns whether there are new points since the last call: the exhaustive search begins again. */
bool memory_take_change(void);

static inline bool memory_kind_is_atomic(uint8_t kind)
{
	return kind >= SITE_ATOMIC_LOAD && kind <= SITE_FENCE;
}

static inline bool memory_kind_is_range(uint8_t kind)
{
	return kind >= SITE_RANGE_READ && kind <= SITE_STRING_WRITE;
}

static inline bool memory_kind_writes_range(uint8_t kind)
{
	return kind == SITE_RANGE_WRITE || kind == SITE_STRING_WRITE;
}

/* Patches every site by its SITE_ON bit. Returns false if impossible, and the contract has the
 * reason. */
bool sites_apply(void);

/* ---- names (heap.c, memory_name.c) ---- */

struct heap_block {
	uintptr_t start;
	size_t bytes;
	object_name name; /* hash of site, thread and ordinal */
	uint64_t site;	  /* return address of the allocating call */
	thread_name thread;
	uint32_t ordinal; /* number among the blocks of this site and thread, from 1 */
	uint32_t loop;	  /* number among the blocks of this call stack, from 1; 0: not counted */
	bool is_used;	  /* this run has accessed it */
	bool is_freed;
};

/* Called when the process loads its first instrumented code; later calls do nothing. */
void heap_start_recording(void);
/* Makes room for the records of blocks below `end`, which each run would else make anew. */
void heap_prepare(uintptr_t end);
/* Finds the live allocation that holds the address. */
bool heap_find(const void *address, struct heap_block *out);
/* Returns the stable name of the aligned eight bytes around the address; never 0. */
variable_name memory_variable_name(const void *address);
/* Same as memory_variable_name(), with general registers only; returns 0 if that is impossible. */
variable_name memory_quick_name(const void *address);
/* Same as memory_variable_name(), for heap blocks and static data; returns 0 for other memory. Sets
 * `is_freed`: the address is in a freed block. */
variable_name memory_lasting_name(const void *address, bool *is_freed);
/* Hash of the group of a block's granule, for memory_group_name(). `granule`: its number in the
 * block. */
static inline uint64_t memory_block_group(const struct heap_block *block, uint64_t granule)
{
	return hash_pair(
		(uint64_t)block->ordinal << 32 | block->name, granule / MEMORY_GROUP_GRANULES);
}
/* Returns whether the address lies in a live frame of the moving thread, or is thread-local. */
bool memory_is_own_stack(const void *address);
/* Returns the name of a synchronisation object; 0: neither in a recorded heap block nor on a
 * stack. */
object_name memory_object_name(const void *address);
/* Notes that memory changed or lost its name, or was freed: accesses to it must be examined again. SIZE_MAX
 * bytes: all memory may have. */
void memory_renamed(uintptr_t start, size_t bytes);
/* Returns the name of code, the same in every process that has its module. */
uint64_t memory_code_name(uint64_t address);
/* Returns the class of memory, never 0. Blocks of one call share a class; so does all static data,
 * and all other memory. */
uint32_t memory_class(uint64_t address);
/* Returns the class of a heap block; 0: the address is in no block. */
uint32_t memory_block_class(uint64_t address);
