/* The system calls that the runtime answers (system_calls.def). libc's functions use the same
 * answering functions, so a call means the same however the program makes it. Answers are raw: a
 * result, or -errno. Runs in the moving thread, and inside the handler of a trapped call. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Missing in the headers of older systems. */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* An answering function leaves this call to the kernel. */
#define CALL_OF_KERNEL LONG_MIN

#define SYSTEM_CALL(name) long call_##name(const long arguments[6], uint64_t site);
#define BLOCKING_CALL(name) SYSTEM_CALL(name)
#include "runtime/libc/system_calls.def"
#undef SYSTEM_CALL
#undef BLOCKING_CALL

typedef long system_call(const long arguments[6], uint64_t site);

long system_call_make(system_call *function, long number, const long arguments[6], uint64_t site);

/* Answers the same system call in an interposed function, with the caller as the site. */
#define ANSWER_ARGUMENTS(name, a, b, c, d, e, f, ...)                                              \
	system_call_make(call_##name, SYS_##name,                                                  \
		(const long[6]){(long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)}, \
		CALL_SITE)
#define ANSWER(...) ANSWER_ARGUMENTS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* An interposed function with the result of a system call, by errno: type, name, parameters in
 * brackets, the call, and its arguments. */
#define ANSWERED(type, name, parameters, ...)                                                      \
	INTERPOSED(type, name, parameters, (type)interpose_result(ANSWER(__VA_ARGS__)))

/* Returns false if the kernel answers the call. */
bool system_call_answer(long number, const long arguments[6], uint64_t site, long *result);
