/* Addresses of the locals of main that other code may reference: threads often get one as their
 * argument. Their sites (SITE_OF_MAIN) are on from the load of the program until its first run
 * begins. Works only where all runs begin at the same point inside main. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "abi/contract_memory.h"

static inline bool main_locals_has(const struct site_record *record)
{
	return record->kind == SITE_ADDRESS && record->order == SITE_OF_MAIN;
}

/* Notes the address of a local of main. The code uses general registers only. */
void main_locals_note(const struct site_record *record, uintptr_t address);
/* Returns the distance from the end of main's stack, in granules; 0: no such local at the
 * address. */
uint32_t main_locals_depth(const void *address);
const void *main_locals_address(uint32_t depth);
/* Returns the n-th local (from 0) that overlaps this granule; NULL if there is none. */
const struct memory_object *main_locals_at(
	const struct contract_memory *memory, uintptr_t address, uint32_t number);
