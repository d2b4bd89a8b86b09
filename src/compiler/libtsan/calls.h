/* The arguments of an interposed call, as entries.S saves them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct call_arguments {
	union {
		void *pointers[3];
		size_t numbers[3];
	};
	uint64_t number; /* %rax */
	void *frame;
	void *site; /* return address of the call */
};

/* Reports the accesses of the call. Returns libc's function. */
void *calls_report(const struct call_arguments *with, uint32_t call);
