/*
 * How a guest finds the contract and leaves no trace in the target's environment. Runs in the only
 * thread there is, before libc may be ready: raw system calls only.
 */
#ifndef RADDLE_RUNTIME_ATTACH_H
#define RADDLE_RUNTIME_ATTACH_H

#include <stdbool.h>

#include "abi/contract.h"

/* Are this library's functions the ones that the process calls? Else it must leave everything alone. */
bool attach_is_first(void);
/* Maps the contract that the environment names; NULL: nobody drives this process. */
struct contract *attach_contract(void);
/* The target sees the environment that the user gave it; what it executes is not controlled. */
void attach_clean_environment(char **environment);

#endif
