/* Symbols of the modules that a contract lists for its process. */
#ifndef RADDLE_CAMPAIGN_CONTRACT_SYMBOLS_H
#define RADDLE_CAMPAIGN_CONTRACT_SYMBOLS_H

#include "runtime/contract.h"
#include "symbols/symbols.h"

/*
 * Reads the symbols; returns 0 or a negative error. The process must be stopped, so that its list
 * of modules does not change.
 */
static inline int contract_symbols(struct symbols **out, const struct contract *contract)
{
	return symbols_from_moved_process(
		out, (pid_t)contract->guest_pid, contract->modules, contract->module_count, NULL);
}

#endif
