/*
 * Handles faults caused by a damaged index in shared memory. Separated blocks lie alone in a region
 * of the address space (contract_block.h): a 32-bit index leads to unmapped parts of that region.
 * The handler prints one line and ends the command with status 2.
 */
#pragma once

/* Installs the handler of SIGSEGV and SIGBUS. Repeated calls have no effect. */
void contract_fault_watch(void);
