/*
 * Addresses in a target. In a relocated one (src/relocate/), program and stack lie as without
 * randomisation, and mappings below the lowest random start of the kernel's search.
 */
#pragma once

#include <stdint.h>

/* Start of a position-independent program. */
#define FIXED_PROGRAM UINT64_C(0x555555554000)
/* One past the last byte of main's stack. */
#define FIXED_STACK_END UINT64_C(0x7ffffffff000)
/* One past the last byte of the loader; other mappings lie below. */
#define FIXED_MAPPINGS_END UINT64_C(0x7ef000000000)
/* Same as FIXED_MAPPINGS_END, for a process without a stack limit. */
#define FIXED_MAPPINGS_END_UNLIMITED UINT64_C(0x144000000000)

/* Tables of the runtime: the record of the heap, then the contract. */
#define FIXED_TABLES UINT64_C(0x7e8000000000)
#define FIXED_CONTRACT UINT64_C(0x7e9000000000)
#define FIXED_TABLES_END UINT64_C(0x7e9800000000)
