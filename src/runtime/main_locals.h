/*
 * Addresses of the locals of main that other code may reference: threads often get one as their argument. The sites
 * of these locals (SITE_OF_MAIN) are on from the load of the program until its first run begins.
 *
 * Works only where all runs of the process begin at the same point inside main.
 */
#ifndef RADDLE_RUNTIME_MAIN_LOCALS_H
#define RADDLE_RUNTIME_MAIN_LOCALS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/contract_memory.h"

/* True for the site of such a local. */
static inline bool main_locals_has(const struct site_record *record)
{
	return record->kind == SITE_ADDRESS && record->order == SITE_OF_MAIN;
}

/* Called at the site of a local of main. Uses general registers only. */
void main_locals_note(const struct site_record *record, uintptr_t address);
/* Distance of the granule from the end of main's stack, in granules; 0: the address is not
 * there, or holds no such local. */
uint32_t main_locals_depth(const void *address);
const void *main_locals_address(uint32_t depth);
/* The n-th local (from 0) that overlaps this granule; NULL: none. */
const struct memory_object *main_locals_at(
	const struct contract_memory *memory, uintptr_t address, uint32_t number);

#endif
