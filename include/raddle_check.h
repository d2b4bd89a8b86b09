/*
 * raddle in unit tests: explores the schedules of one function inside the test's own process, many times
 * a millisecond. C and C++; link with -lraddle-check. docs/check.md is the manual.
 *
 *	static int transfer_twice(void *argument)	makes its state, its threads, joins them, looks at it
 *	{ ... assert(account.sum == 100); return 0; }
 *
 *	int main(void) { return raddle_check(transfer_twice, NULL, NULL); }
 *
 * The function is called once per schedule, so what it works on it has to set up itself. A schedule fails
 * when the function returns something other than 0, calls raddle_fail(), abort() or exit(), crashes, leaves
 * by an exception or longjmp(), or when its threads can not go on. The first that fails ends the check; it is
 * described on standard error, together with RADDLE_REPLAY=..., which makes the same call run that schedule alone.
 */
#ifndef RADDLE_CHECK_H
#define RADDLE_CHECK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What came of a check. Texts are owned by raddle and hold until the next check. */
struct raddle_result {
	uint64_t schedules;  /* run */
	uint64_t steps;	     /* scheduling points of all of them */
	int is_complete;     /* no further schedule would show anything new */
	const char *outcome; /* of the last schedule: "passed", "deadlock", "abort", ... */
	const char *message; /* why it failed, in words; "" when it passed */
	const char *replay;  /* the value for RADDLE_REPLAY; "" when it passed */
};

/* All zero is what most tests want. */
struct raddle_options {
	const char *strategy;  /* as for raddle run --strategy, "pct,depth=3"; NULL: portfolio */
	uint64_t schedules;    /* at most; 0: 100,000 */
	uint64_t milliseconds; /* at most; 0: 10,000 */
	uint64_t seed;	       /* 0: 1 */
	uint64_t steps;	       /* of one schedule at most, beyond is a livelock; 0: 1,000,000 */
	uint64_t hang_milliseconds; /* of processor time without a step is a hang; 0: 5,000 */
	const char *name; /* of the check in messages and tokens; NULL: file and function */
	const char
		*replay; /* a token, instead of RADDLE_REPLAY; "": that is not looked at, either */
	int is_quiet;	 /* nothing is printed */
	int has_spurious_wakeups; /* waits for conditions may end without a signal */
	int has_early_timeouts;	  /* a timed wait may time out whenever it waits */
	/* Two accesses to memory that nothing orders are a failure, where the code shows its accesses. */
	int are_races_failures;
	/*
	 * Asked behind every schedule: how many failures has the test framework seen so far? Where there is one more
	 * than before, the schedule has failed. NULL: not asked.
	 */
	int (*has_failed)(void);
	struct raddle_result *result; /* filled in; NULL: not wanted */
	/* A failing schedule is told as it was found, and not first simplified (for half a second at most). */
	int is_as_found;
};

/*
 * 0: no schedule failed. 1: one did. 2: the check could not be made, standard error says why.
 * `options` may be NULL.
 */
#ifndef __cplusplus
#define raddle_check(function, argument, options)                                                  \
	raddle_check_at((function), (argument), (options), __FILE__, #function)
#endif

/* `file` and `what` are the name of the check, where the options give none. */
int raddle_check_at(int (*function)(void *), void *argument, const struct raddle_options *options,
	const char *file, const char *what);

/* The schedule fails, for this reason. From any thread of the function. */
void raddle_fail(const char *message) __attribute__((noreturn));

/* One of 0 to count - 1: all of them are tried, as if they were schedules. 0 outside of a check. */
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

/* The function as C calls it: what leaves it as an exception becomes a failure. */
template <class Function> int call_caught(void *argument)
{
	Function &function = *static_cast<Function *>(argument);
	char message[200];

	try {
		return call(function, std::is_void<decltype(function())>());
	} catch (abi::__forced_unwind &) {
		throw; /* pthread_exit() */
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
 * raddle_check() for anything that can be called; it returns nothing, or an int. Where gtest.h is included before
 * this header, a failed EXPECT_ or ASSERT_ inside is a failure, too.
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
