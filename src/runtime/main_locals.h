/*
 * Where the locals of main lie that others may know the addresses of: what threads are given is often one of them. Their
 * sites (SITE_OF_MAIN) are on from the moment the program is loaded until its first run begins.
 *
 * Only in a process whose runs go on from the same beginning, which has been in main by then.
 */
#ifndef RADDLE_RUNTIME_MAIN_LOCALS_H
#define RADDLE_RUNTIME_MAIN_LOCALS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/contract_memory.h"

/* Is it the site of one? */
static inline bool main_locals_has(const struct site_record *record)
{
	return record->kind == SITE_ADDRESS && record->order == SITE_OF_MAIN;
}

/* main has told of one. General registers only. */
void main_locals_note(const struct site_record *record, uintptr_t address);
/* How far below the end of main's stack the eight bytes are, where that is the stack of main's locals; else 0. */
uint32_t main_locals_depth(const void *address);
const void *main_locals_address(uint32_t depth);
/* The n-th local that lies in these eight bytes, from 0; NULL: there are no more. */
const struct memory_object *main_locals_at(
	const struct contract_memory *memory, uintptr_t address, uint32_t number);

#endif
