/* Memory for code that the runtime writes, near the code of a module. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maps memory within the reach of jumps from and to all code and data between `start` and `end`. The address is
 * the same in every process with the same modules. Returns NULL if there is no room, or if the system
 * forbids it. */
unsigned char *code_memory_map(uintptr_t start, uintptr_t end, size_t bytes, int protection);
