/*
 * The process family: the process of a run and its descendants by fork without exec. The members
 * share one virtual clock. Time jumps only when no member has an enabled thread, and then to the
 * earliest deadline of all members; a family without a deadline is then deadlocked.
 *
 * A member is *running* until it declares itself idle for an *epoch*, a number that grows whenever
 * a member becomes idle anew or ends. A member idle for the current epoch has seen all effects of
 * the others. Time may jump when all members are idle for the current epoch. Real time passes
 * instead when a member waits for a process outside of the family, or runs for long. The state lies
 * in shared memory. The only moving thread of each process calls these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum family_verdict {
	FAMILY_ALONE,
	FAMILY_WAITS,	  /* another member is running, or has an earlier deadline */
	FAMILY_OUTSIDE,	  /* all are idle, but an outside process may wake one: real time passes */
	FAMILY_TIME,	  /* the clock may jump to the caller's deadline */
	FAMILY_DEADLOCKED /* no member has a deadline or an enabled thread */
};

struct family_wait {
	uint64_t epoch;	      /* family_look() before the caller checked its waits */
	uint64_t deadline_ns; /* earliest deadline; ENGINE_FOREVER: none */
	bool is_outside;      /* a process outside of the family may wake the member */
	bool is_signal;	      /* a signal may wake the member, and any process may send one */
};

/* Called before and after a fork. `pid`: its result; negative: failed; 0: in the child. */
void family_prepare_fork(void);
void family_forked(long pid);
/* This process begins a run, or becomes a program outside of the family. */
void family_leave(void);
/* Notes that a process outside of the family shares, or may have shared, resources with the
 * family. */
void family_note_stranger(void);
bool family_has_stranger(void);
/* Called at the end of the process. A member that ends without this call is a stranger. */
void family_end(void);

#define FAMILY_MOST 63u
#define FAMILY_NONE FAMILY_MOST
/* Return the number of the caller, and of the child that it is about to fork; FAMILY_NONE: no
 * member. */
uint32_t family_number(void);
uint32_t family_child_number(void);
/* Returns a bit set: bit n means that member n may be alive. The bit FAMILY_NONE is always set. */
uint64_t family_living(void);
bool family_has_others(void);
/* Returns whether `pid` is a living member. False for 0. */
bool family_has_member(int pid);
/* Returns whether `pid` is or was a member. False for 0, and for an ended member whose place a later one has. */
bool family_had_member(int pid);
/* Marks the caller as running, advances its clock to the family's, and returns the epoch. */
uint64_t family_look(void);
/* Marks the caller as idle, and returns how it proceeds. */
enum family_verdict family_wait(const struct family_wait *wait);
/* Called when none of the caller's threads can ever run again. */
void family_stop(void);
/* Called after real time has advanced the caller's clock. */
void family_publish_clock(void);
