/*
 * Code addresses as reported to the command. If the system refuses personality(), modules load at random addresses; then
 * reports hold places (model/code_module.h). Otherwise reports hold the addresses themselves.
 */
#ifndef RADDLE_RUNTIME_CODE_PLACES_H
#define RADDLE_RUNTIME_CODE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct contract;

/* Assigns places to the modules loaded now. Called before the program runs and at its first thread creation. */
void code_places_find(struct contract *contract);
/* True when reports hold places. Written by code_places_find(). */
extern bool code_places_are_moved;
/* The place of a code address in a loaded module. Uses general registers only. */
uint64_t code_place_of_module(uint64_t address);

static inline uint64_t code_place(uint64_t address)
{
	return __builtin_expect(code_places_are_moved, 0) ? code_place_of_module(address) : address;
}

#endif
