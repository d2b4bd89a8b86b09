/*
 * Detects a run without progress. The heartbeat of the contract stands still while the guest uses
 * processor time, or sleeps in a system call that the runtime does not know. The limit counts the
 * guest's own processor time: a loaded machine causes no false hangs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/contract.h"

enum watchdog_state {
	WATCHDOG_SILENT,
	WATCHDOG_ASKED, /* SIGSYS was sent: the runtime records the location and ends the run */
	WATCHDOG_KILLED /* the runtime did not react: SIGKILL was sent */
};

struct watchdog {
	uint64_t limit_ns; /* 0: never ends a run */
	enum watchdog_state state;
	uint64_t checked_ns; /* time when watchdog_look() last acted */
	/* State of the guest at its last progress. */
	uint64_t run_number;
	uint64_t heartbeat;
	uint64_t runs;
	uint64_t processor_ns; /* processor time of the guest at that time */
	uint64_t asleep_ns;    /* time observed asleep since then */
	uint64_t asked_ns;     /* time when SIGSYS was sent */
	uint32_t extensions;   /* contract.hang_extensions at the last check */
	/* a check for spinning was requested since the guest last made progress */
	bool has_asked_spin;
	bool has_asked_native; /* native speed was requested since the guest last made progress */
};

/* Returns the processor time of the process, which hardly depends on the machine's load; 0: unknown. */
uint64_t watchdog_processor_ns(pid_t pid);
/* Forgets all observations. Call it when a guest starts or a batch begins. */
void watchdog_reset(struct watchdog *watchdog, uint64_t limit_ns);
/* Call it regularly while runs are under way. It acts at most every 100 ms. */
void watchdog_look(struct watchdog *watchdog, const struct contract *contract, uint64_t now_ns);
