/* abort() and failed assertions end at one location in glibc. The caller is noted here: different
 * callers are different failures. */
#undef NDEBUG /* <assert.h> declares nothing without assertions */
#include <assert.h>
#include <stdlib.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"

EXPORT void abort(void)
{
	ENTER();
	runtime_note_abort(RETURN_SITE);
	REAL(abort)();
	__builtin_unreachable();
}

EXPORT void __assert_fail(
	const char *assertion, const char *file, unsigned line, const char *function)
{
	ENTER();
	runtime_note_abort(RETURN_SITE);
	REAL(__assert_fail)(assertion, file, line, function);
	__builtin_unreachable();
}

EXPORT void __assert_perror_fail(int code, const char *file, unsigned line, const char *function)
{
	ENTER();
	runtime_note_abort(RETURN_SITE);
	REAL(__assert_perror_fail)(code, file, line, function);
	__builtin_unreachable();
}

void __assert(const char *assertion, const char *file, int line);

EXPORT void __assert(const char *assertion, const char *file, int line)
{
	ENTER();
	runtime_note_abort(RETURN_SITE);
	REAL(__assert)(assertion, file, line);
	__builtin_unreachable();
}
