/*
 * raddle in unit tests: explores the schedules of one function inside the test's own process,
 * several schedules per millisecond. C and C++; link with -lraddle-check. The manual is
 * docs/check.md.
 *
 *	static int transfer_twice(void *argument)	sets up its state, creates and joins its threads,
 *	{ ... assert(account.sum == 100); return 0; }	and checks the result
 *
 *	int main(void) { return raddle_check(transfer_twice, NULL, NULL); }
 *
 * The function is called once per schedule and must set up its own state each time. A schedule
 * fails when the function returns a value other than 0, calls raddle_fail(), abort() or exit(),
 * crashes, or leaves by an exception or longjmp(). A schedule also fails when its threads are
 * deadlocked or hang. The first failure ends the check. Its description on standard error
 * contains RADDLE_REPLAY=..., which makes the same call run only that schedule.
 */
#ifndef RADDLE_CHECK_H
#define RADDLE_CHECK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of a check. raddle owns the texts; they are valid until the next check. */
struct raddle_result {
	uint64_t schedules;  /* schedules that were run */
	uint64_t steps;	     /* scheduling points of all schedules together */
	int is_complete;     /* the search was exhaustive: further schedules would only repeat */
	const char *outcome; /* outcome of the last schedule: "passed", "deadlock", "abort", ... */
	const char *message; /* reason of the failure in words; "" when the check passed */
	const char *replay;  /* value for RADDLE_REPLAY; "" when the check passed */
};

/* Memory models of a check, as those of raddle run --memory-model. */
enum raddle_memory_model { RADDLE_SC, RADDLE_TSO, RADDLE_C11 };

/* Options of a check. A zero-initialised struct selects all defaults. */
struct raddle_options {
	/* Same as the argument of raddle run --strategy, for example "pct,depth=3"; NULL: portfolio */
	const char *strategy;
	uint64_t schedules;    /* upper bound; 0: 100,000 */
	uint64_t milliseconds; /* upper bound, wall-clock; 0: 10,000 */
	uint64_t seed;	       /* seed of the random numbers; 0: 1 */
	uint64_t steps;	       /* per schedule; more steps are a livelock; 0: 1,000,000 */
	/* Processor time without a step that counts as a hang; 0: 5,000 */
	uint64_t hang_milliseconds;
	const char *name; /* name of the check in messages and tokens; NULL: file and function */
	/*
	 * Replay token that takes precedence over RADDLE_REPLAY; "": RADDLE_REPLAY is
	 * ignored
	 */
	const char *replay;
	int is_quiet;		  /* prints nothing */
	int has_spurious_wakeups; /* condition waits may return without a signal */
	int has_stalls;		  /* sleeps and timed waits may end while other threads can move */
	/* A data race is a failure. Needs code whose accesses are instrumented. */
	int are_races_failures;
	/*
	 * Returns the number of failures that the test framework has noted. raddle calls it after
	 * each schedule; the schedule failed if the number has grown. NULL means that raddle does
	 * not ask the framework.
	 */
	int (*has_failed)(void);
	struct raddle_result *result; /* output; NULL: not wanted */
	/*
	 * Reports a failing schedule as found. Otherwise raddle first removes needless context
	 * switches, for at most half a second.
	 */
	int is_as_found;
	/* enum raddle_memory_model. Others than RADDLE_SC need code compiled by raddle-cc. */
	int memory_model;
};

/*
 * Explores the schedules of `function`. Returns 0: no schedule failed; 1: a schedule failed; 2:
 * the check was not possible, and standard error gives the reason. `options` may be NULL.
 */
#ifndef __cplusplus
#define raddle_check(function, argument, options)                                                  \
	raddle_check_at((function), (argument), (options), __FILE__, #function)
#endif

/* `file` and `what` (the function's name) name the check when options->name is NULL. */
int raddle_check_at(int (*function)(void *), void *argument, const struct raddle_options *options,
	const char *file, const char *what);

/* Ends the current schedule as failed, with this reason. Any thread of the function may call it. */
void raddle_fail(const char *message) __attribute__((noreturn));

/*
 * Returns a number from 0 to count - 1. The check explores every number, as it explores every
 * schedule. Returns 0 outside of a check.
 */
unsigned raddle_choose(unsigned count);

#ifdef __cplusplus
}

#if defined(GTEST_INCLUDE_GTEST_GTEST_H_) || defined(GOOGLETEST_INCLUDE_GTEST_GTEST_H_)
#define RADDLE_HAS_GTEST
#endif

#include <cstdio>
#include <cxxabi.h>
#include <exception>
#include <type_traits>

inline int raddle_check(int (*function)(void *), void *argument, const raddle_options *options,
	const char *file = __builtin_FILE(), const char *caller = __builtin_FUNCTION())
{
	return raddle_check_at(function, argument, options, file, caller);
}

namespace raddle
{

using options = raddle_options;
using result = raddle_result;

namespace detail
{
template <class Function> int call(Function &function, std::true_type /* returns nothing */)
{
	function();
	return 0;
}

template <class Function> int call(Function &function, std::false_type)
{
	return static_cast<int>(function());
}

/* Calls the function from C code. An exception that leaves the function becomes a failure. */
template <class Function> int call_caught(void *argument)
{
	Function &function = *static_cast<Function *>(argument);
	char message[200];

	try {
		return call(function, std::is_void<decltype(function())>());
	} catch (abi::__forced_unwind &) {
		throw; /* pthread_exit() unwinds the stack */
	} catch (const std::exception &exception) {
		(void)std::snprintf(message, sizeof message, "exception: %s", exception.what());
	} catch (...) {
		(void)std::snprintf(message, sizeof message, "an exception left the function");
	}
	raddle_fail(message);
}

#ifdef RADDLE_HAS_GTEST
inline int has_failed()
{
	const ::testing::TestInfo *test = ::testing::UnitTest::GetInstance()->current_test_info();
	int count = 0;

	for (int part = 0; test && part < test->result()->total_part_count(); part++)
		count += test->result()->GetTestPartResult(part).failed();
	return count;
}

inline const char *test_name(const char *caller)
{
	const ::testing::TestInfo *test = ::testing::UnitTest::GetInstance()->current_test_info();

	return test ? test->name() : caller;
}
#else
inline const char *test_name(const char *caller)
{
	return caller;
}
#endif
} // namespace detail

/*
 * raddle_check() for any callable that returns void or int. If gtest.h is included before this
 * header, a failed EXPECT_ or ASSERT_ is a failure of the schedule.
 */
template <class Function>
int check(Function &&function, options wanted = {}, const char *file = __builtin_FILE(),
	const char *caller = __builtin_FUNCTION())
{
	using plain = typename std::remove_reference<Function>::type;

#ifdef RADDLE_HAS_GTEST
	if (!wanted.has_failed)
		wanted.has_failed = detail::has_failed;
#endif
	return raddle_check_at(detail::call_caught<plain>,
		const_cast<void *>(static_cast<const void *>(&function)), &wanted, file,
		detail::test_name(caller));
}

} // namespace raddle
#endif

#endif
