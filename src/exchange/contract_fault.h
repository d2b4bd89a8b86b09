/*
 * The state of strategies, of memory and of the detectors is read where the target writes it. Separated blocks lie alone in a
 * region of the address space (contract_block.h), so a damaged index of 32 bits leads into unmapped parts of that region, never
 * to memory of the command. The command then ends with one line and status 2.
 */
#ifndef RADDLE_EXCHANGE_CONTRACT_FAULT_H
#define RADDLE_EXCHANGE_CONTRACT_FAULT_H

/* Installs the handler of SIGSEGV and SIGBUS; once is enough. */
void contract_fault_watch(void);

#endif
