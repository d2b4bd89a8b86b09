/*
 * A function as the headers of the C++ library have them: compiled into the user's own object file
 * and not the user's code. Its calls are a frame between the user and the library.
 */
#pragma once

#include <stdint.h>

#line 1 "/usr/include/system_wrapper.h"
static __attribute__((noinline)) uint64_t call_from_system_header(uint64_t (*function)(void))
{
	const uint64_t site = function();

	__asm__ volatile(""); /* otherwise the call would become a jump */
	return site;
}
