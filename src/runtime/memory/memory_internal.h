/* The path of an access to its scheduling point, shared by site_visit.c (instrumented sites) and
 * memory.c (all accesses). memory_begin() decides, with general registers only, whether the access
 * needs memory_finish(), which makes the scheduling point and may use every register. Both run
 * before the access is executed. */
#pragma once

#include "runtime/memory_variable.h"
#include "runtime/runtime.h"
#include "runtime/thread_stacks.h"

struct memory_visit {
	struct memory_access access;
	uint16_t allocated_at; /* allocation site of the point's variable; 0: unknown */
	/* Address of that variable while allocated_at is not looked up; else 0 */
	uintptr_t unplaced;
	object_name point;    /* first granule that is a scheduling point; 0: none */
	object_name next;     /* the second granule, if the first is the point; 0: none */
	object_name reported; /* first granule that only the detectors need; 0: none */
	bool is_named;	      /* every granule has a quick name */
	bool may_be_gone; /* another thread may have freed the memory, or returned from its function */
	bool is_point_wanted; /* recorded runs: the site is chosen */
	bool is_waiting;      /* the thread spins: memory_waits() */
	bool would_wait;      /* the read of a waiting loop, and its value does not end the loop */
	bool is_sampled;      /* a point, but the site has rested: sampling.h */
};

/* Repetitions of a read after which memory_waits() returns true. */
#define WAITING_VISITS 1000
/* Returns whether the thread waits in a loop that repeats this read (memory_waits.c). */
bool memory_waits(const struct memory_access *access);
/* Returns whether the process is under control and its run not over. */
bool memory_is_watched(void);
/* Handles the first part of a visit, with general registers only. Returns false if no second part
 * is needed. */
bool memory_begin(struct memory_visit *visit);
/* Handles the second part of a visit: the scheduling point, and the checks after it. */
void memory_finish(struct memory_visit *visit);
/* Gives the access the order that the plan has for its site. */
void memory_strengthen(struct memory_access *access);
/* Returns whether a write of a run with store buffers goes to memory at once: a locked instruction, or a
 * write of several store instructions. */
bool memory_write_is_direct(const struct memory_access *access);
/* Puts the write into the store buffer of the moving thread, if the run has store buffers. Returns true if
 * the write needs no scheduling point of its own. */
bool memory_buffer_write(const struct memory_visit *visit);
/* Makes the op block until the memory has a value that ends the waiting loop of the access, if it
 * belongs to one (awaited.c). */
void memory_wait_for_value(const struct memory_access *access, struct engine_op *op);
/* Returns whether the access is the read of a waiting loop, and the memory's present value does not end the loop. */
bool memory_would_wait(const struct memory_access *access);
/* Makes a scheduling point. `name` 0: the access is a fence. */
void memory_point(const struct memory_visit *visit, object_name name);

enum op_kind memory_op(uint8_t kind);
struct engine_op memory_engine_op(const struct memory_access *access, object_name name);
/* Returns whether an access to a variable with these flags is a scheduling point. */
bool memory_wants(
	const struct contract_memory *memory, const struct memory_access *access, uint16_t flags);
/* Returns whether the access, which is no scheduling point, needs memory_finish() for the detectors, or
 * because its memory may be gone. */
bool memory_must_report(struct contract_memory *memory, const struct memory_visit *visit);
/* Returns the allocating allocation site of the variable's block; 0: the variable is not in the table. */
uint16_t memory_allocated_at(
	struct contract_memory *memory, struct memory_known *known, const void *address);

/* Learns about an access to a variable that is no point. */
static inline void memory_learn_access(
	struct contract_memory *memory, struct memory_known *known, uintptr_t at, bool is_write)
{
	if (memory->is_frozen || known->flags & VARIABLE_POINT)
		return;
	memory_learn(memory, known, is_write);
	/* The process that makes the variable a point may know only some of its accesses. */
	if (memory->group_count)
		(void)memory_allocated_at(memory, known, (const void *)at);
}

/* Notes that replays need the site, at which the run fails. */
void memory_keep_for_replay(const struct memory_access *access);
/* Ends the run if the access touches a freed block, before the access can do harm. */
void memory_check_freed(const struct memory_access *access, enum outcome_kind kind);
/* Returns whether the address is on main's stack, or on one of the runtime's for other threads. */
static inline bool memory_is_on_stack(const void *address)
{
	const uintptr_t at = (uintptr_t)address;

	return at - THREAD_STACKS_START < THREAD_STACKS_BYTES ||
	       runtime.main_base - at < ((uintptr_t)8 << 20);
}

/* Returns whether the access is the moving thread's first one to this variable in the run, and the variable is on
 * another stack. */
bool memory_is_first_on_other_stack(const void *address, object_name variable);
/* Forgets which threads have accessed variables on other stacks. Called when a run begins. */
void memory_forget_strangers(void);
/* Ends the run if the access touches such a frame. */
void memory_check_left_frame(const struct memory_access *access);
