/* Restores bitcode for LLVM from the form in which programs contain it (abi/packed_bitcode.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Stores the bitcode, which the caller frees. Returns false if the packed bytes make no sense; then
 * nothing is stored. */
bool bitcode_unpack(
	const unsigned char *packed, size_t size, unsigned char **bitcode, size_t *bitcode_bytes);
