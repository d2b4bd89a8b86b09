/* The symbols of the process that a contract speaks of. */
#ifndef RADDLE_CAMPAIGN_CONTRACT_SYMBOLS_H
#define RADDLE_CAMPAIGN_CONTRACT_SYMBOLS_H

#include "runtime/contract.h"
#include "symbols/symbols.h"

/* 0, or a negative error: they could not be read. The process stands still. */
static inline int contract_symbols(struct symbols **out, const struct contract *contract)
{
	return symbols_from_moved_process(
		out, (pid_t)contract->guest_pid, contract->modules, contract->module_count, NULL);
}

#endif
