/* Code that the runtime writes: memory for it near the code of a module, and changes of the code there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps memory within the reach of jumps from and to all code and data between `start` and `end`. The address is
 * the same in every process with the same modules. Returns NULL if there is no room, or if the system
 * forbids it. */
unsigned char *code_memory_map(uintptr_t start, uintptr_t end, size_t bytes, int protection);
/* Makes the pages of code between `first` and `end` writable, or read-only again. Returns false if the system
 * refuses. What was writable can always be made read-only. */
bool code_memory_open(uintptr_t first, uintptr_t end, bool is_open);

/* Instructions that a distance of four bytes follows. */
#define BRANCH_BYTES 5
#define BRANCH_CALL 0xe8
#define BRANCH_JUMP 0xe9

/* Writes a call or jump to `target`, which must be within its reach. The memory must be writable. */
void code_memory_write_branch(
	unsigned char *code, unsigned char opcode, const unsigned char *target);
