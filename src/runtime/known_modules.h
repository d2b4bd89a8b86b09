/*
 * What earlier processes of the campaign found in the tables of their modules. Every process by exec begins with the
 * same searches. The contract keeps their results, which hold for all processes with the same modules at the same
 * addresses.
 */
#pragma once

#include "abi/contract.h"

/* Returns the results, valid for the modules loaded now; NULL if the process has no contract, or a module has no
 * build id that identifies its contents. Called in set-up, in the only thread. */
struct contract_modules *known_modules(void);

/* Returns whether the results contain this fact. */
static inline bool known_modules_have(const struct contract_modules *known, uint32_t fact)
{
	return known && known->facts & fact;
}
