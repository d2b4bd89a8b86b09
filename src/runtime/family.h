/*
 * The process family: the process of a run and what has come of it by fork without exec. Its members have one
 * virtual clock. Time jumps only when no member has a thread that can move; then to the earliest deadline of all. When
 * no member has a deadline either, the family is deadlocked.
 *
 * A member is *running* until it says that it is idle. It says so for an *epoch*: the number that grows whenever
 * a member becomes idle anew, or ends. A member that has looked at all that it waits for since the last epoch began has
 * seen all that others have done. So time may jump when all members are idle for the current epoch.
 *
 * Real time passes instead where a member waits for somebody outside of the family, and where one is running for long.
 * The state lies in memory that all members share. Each function is called by the only moving thread of its process.
 */
#ifndef RADDLE_RUNTIME_FAMILY_H
#define RADDLE_RUNTIME_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

enum family_verdict {
	FAMILY_ALONE, /* there is no other member */
	FAMILY_WAITS, /* another member is running, or has an earlier deadline */
	FAMILY_OUTSIDE, /* all are idle, but one of them may be woken from outside: real time passes */
	FAMILY_TIME,	/* the clock may jump to the caller's deadline */
	FAMILY_DEADLOCKED /* nobody has a deadline, and nobody can move */
};

/* What a member that is idle waits for. */
struct family_wait {
	uint64_t epoch;	      /* family_look() from before the caller looked at what it waits for */
	uint64_t deadline_ns; /* ENGINE_FOREVER: none */
	bool is_outside;      /* somebody outside of the family may wake it */
	bool is_signal;	      /* it waits for a signal, which may come from anywhere */
};

/* Around a fork. `pid`: negative where it failed; 0: in the child. */
void family_prepare_fork(void);
void family_forked(long pid);
/* The process is no member any more: a run begins in it, or it has become a stranger. */
void family_leave(void);
/* There is, or may have been, a process that is no member and has what the family shares. */
void family_note_stranger(void);
bool family_has_stranger(void);
/* The process ends now. One that ends without saying so was killed, or had become another program: a stranger. */
void family_end(void);

/* Is there another living member? */
bool family_has_others(void);
/* Is this process a member? Not an ended one, or 0. */
bool family_has_member(int pid);
/* The caller is running, and its clock is not behind that of others. Returns the epoch. */
uint64_t family_look(void);
/* The caller is idle. */
enum family_verdict family_wait(const struct family_wait *wait);
/* The caller stands still for good: no thread of it can ever move. */
void family_stop(void);
/* The caller's clock has moved with the real one. */
void family_publish_clock(void);

#endif
