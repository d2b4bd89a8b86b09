/*
 * Assertions about raddle itself. BUG_ON stays in release builds; CHECK_EXPENSIVE (validators that
 * walk a whole structure) only in debug builds. Each half of raddle, the command and the runtime,
 * defines bug_report() once: it says what broke and does not return.
 */
#pragma once

__attribute__((noreturn, cold)) void bug_report(const char *condition, const char *file, int line);

#define BUG_ON(condition)                                                                          \
	do {                                                                                       \
		if (__builtin_expect(!!(condition), 0))                                            \
			bug_report(#condition, __FILE__, __LINE__);                                \
	} while (0)

#ifdef NDEBUG
#define CHECK_EXPENSIVE(condition) ((void)0)
#else
#define CHECK_EXPENSIVE(condition) BUG_ON(!(condition))
#endif
