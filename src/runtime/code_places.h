/*
 * Code addresses as the command is told of them: places (model/code_module.h) where modules are loaded at random, since
 * personality() was refused; else the addresses themselves.
 */
#ifndef RADDLE_RUNTIME_CODE_PLACES_H
#define RADDLE_RUNTIME_CODE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct contract;

/* Looks for the modules that are loaded now; before the program runs, and at its first thread. */
void code_places_find(struct contract *contract);
/* Written by that. */
extern bool code_places_are_moved;
/* General registers only. */
uint64_t code_place_of_module(uint64_t address);

static inline uint64_t code_place(uint64_t address)
{
	return __builtin_expect(code_places_are_moved, 0) ? code_place_of_module(address) : address;
}

#endif
