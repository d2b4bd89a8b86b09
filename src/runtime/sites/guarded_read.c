/* All instructions that may fault are in guarded_read_code.S. After a fault there, the signal
 * handler continues at the end of the routine. */
#include "runtime/guarded_read.h"

#include <ucontext.h>

/* Return 0 and leave *value untouched if the address is not readable. */
int guarded_read_1(const void *address, uint64_t *value);
int guarded_read_2(const void *address, uint64_t *value);
int guarded_read_4(const void *address, uint64_t *value);
int guarded_read_8(const void *address, uint64_t *value);
/* Returns the index of the first byte that is zero or not readable; or `most`. */
size_t guarded_find_zero(const char *string, size_t most);

/* The code that may fault, and where each part continues after a fault. */
extern const char guarded_words_start[], guarded_words_end[], guarded_words_failed[];
extern const char guarded_string_start[], guarded_string_end[], guarded_string_failed[];
extern const char guarded_reported_start[], guarded_reported_end[], guarded_reported_failed[];

bool guarded_read(const void *address, size_t bytes, uint64_t *value)
{
	switch (bytes) {
	case 1:
		return guarded_read_1(address, value);
	case 2:
		return guarded_read_2(address, value);
	case 4:
		return guarded_read_4(address, value);
	case 8:
		return guarded_read_8(address, value);
	default:
		return false;
	}
}

size_t guarded_string_bytes(const char *string, size_t most)
{
	size_t zero = guarded_find_zero(string, most);

	return zero < most ? zero + 1 : most;
}

bool guarded_read_has_failed(int signal, const siginfo_t *info, void *context)
{
	greg_t *next = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	const char *at = (const char *)(uintptr_t)*next;

	/* The fault was not sent by another process if si_code is positive. */
	if ((signal != SIGSEGV && signal != SIGBUS) || info->si_code <= 0)
		return false;
	if (at >= guarded_words_start && at < guarded_words_end)
		*next = (greg_t)(uintptr_t)guarded_words_failed;
	else if (at >= guarded_string_start && at < guarded_string_end)
		*next = (greg_t)(uintptr_t)guarded_string_failed;
	else if (at >= guarded_reported_start && at < guarded_reported_end)
		*next = (greg_t)(uintptr_t)guarded_reported_failed;
	else
		return false;
	return true;
}
