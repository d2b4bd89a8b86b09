/* How a guest finds the contract and removes its traces from the target's environment. Runs in
 * the process's only thread, possibly before libc is ready: raw system calls only. */
#pragma once

#include <stdbool.h>

#include "abi/contract.h"

/* Returns true if the process calls this library's functions. Otherwise the library changes
 * nothing. */
bool attach_is_first(void);
/* Maps the contract that the environment names; returns NULL if no command drives this process. */
struct contract *attach_contract(void);
/* Restores the user's environment, so programs that the target executes are not controlled. */
void attach_clean_environment(char **environment);
