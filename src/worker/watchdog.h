/*
 * Tells a run that goes on without reaching scheduling points from one that works: the heartbeat of
 * the contract stands still while the guest uses processor time, or while it sleeps in a system
 * call that the runtime does not know of. Time is counted in the guest's own processor time, so a
 * loaded machine makes no hangs.
 */
#ifndef RADDLE_WORKER_WATCHDOG_H
#define RADDLE_WORKER_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/contract.h"

enum watchdog_state {
	WATCHDOG_QUIET,
	WATCHDOG_ASKED, /* SIGSYS was sent: the runtime records where it spins and ends the run */
	WATCHDOG_KILLED /* that did not help: SIGKILL was sent */
};

struct watchdog {
	uint64_t limit_ns; /* 0: never bites */
	enum watchdog_state state;
	uint64_t looked_ns; /* when watchdog_look() last did something */
	/* Where the guest stood when it last moved. */
	uint64_t run_number;
	uint64_t heartbeat;
	uint64_t runs;
	uint64_t processor_ns; /* its processor time then */
	uint64_t asleep_ns;    /* time seen asleep since then */
	uint64_t asked_ns;     /* when SIGSYS was sent */
	int32_t killed_pid;
	uint32_t extensions;   /* contract.hang_extensions at the last check */
	bool has_asked_spin;   /* since the guest last made progress */
	bool has_asked_native; /* likewise */
};

/* A guest sets out: everything seen so far is forgotten. */
void watchdog_reset(struct watchdog *watchdog, uint64_t limit_ns);
/* To be called now and then while runs are under way; acts at most every 100 ms. */
void watchdog_look(struct watchdog *watchdog, const struct contract *contract, uint64_t now_ns);

#endif
