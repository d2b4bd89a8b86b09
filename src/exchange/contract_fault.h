/*
 * Handles faults caused by a damaged index in shared memory.
 *
 * The states of strategies, of memory and of detectors are read where the target writes them.
 * Separated blocks lie alone in a region of the address space (contract_block.h). A damaged 32-bit
 * index therefore leads to unmapped parts of that region, never to memory of the command. The
 * handler then prints one line and ends the command with status 2.
 */
#ifndef RADDLE_EXCHANGE_CONTRACT_FAULT_H
#define RADDLE_EXCHANGE_CONTRACT_FAULT_H

/* Installs the handler of SIGSEGV and SIGBUS. Repeated calls have no effect. */
void contract_fault_watch(void);

#endif
