/*
 * Stubs: the code that a point calls while its site is on. x86-64.
 *
 *	.long RECORD-HERE		-- the distance to the record
 *	stub:	popq %r11		-- if the operand is relative to the stack pointer: the call moved it
 *		leaq OPERAND, %r10	-- the record's instruction
 *		pushq %r11		-- if there was a popq
 *		jmp *TARGET(%rip)	-- a function of enum stub_target, in a table
 *
 * A target returns behind the point and keeps all registers except %r10, %r11 and the flags. Targets for plain loads
 * and stores of 1, 2, 4, 8 and 16 bytes need not look into the record. The most frequent path has few taken
 * branches, which limit its speed.
 *
 * The code of this file needs nothing of the runtime: tests and measurements write stubs with other targets.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi/instrument_abi.h"

#define STUB_BYTES 24

/* Of loads and stores the first: the others follow by size. */
enum stub_target { STUB_ANY, STUB_LOAD, STUB_STORE = STUB_LOAD + 5, STUB_TARGETS = STUB_STORE + 5 };

/* Writes the record's instruction, with popq and pushq if needed. Returns the end of the code; NULL: the
 * instruction is unknown, or the memory that it names is too far away. */
unsigned char *stub_write_operand(unsigned char *code, const struct site_record *record);
/* Writes STUB_BYTES at `slot`. `targets`: a table of STUB_TARGETS addresses within the reach of a jump. Returns the
 * address to call; NULL: see stub_write_operand(). */
unsigned char *stub_write(
	unsigned char *slot, const struct site_record *record, void (*const *targets)(void));
