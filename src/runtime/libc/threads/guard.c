/* Guards of C++ local statics (Itanium C++ ABI, 3.3.2): eight bytes. Compiled code reads the first,
 * nonzero when the variable is initialised; the last four hold a once control of the runtime. The
 * C++ library's own functions would hide the happens-before order. */
#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"

struct guard {
	uint8_t is_ready;
	uint8_t reserved[3];
	struct once once;
};

_Static_assert(sizeof(struct guard) == sizeof(uint64_t), "the ABI's size");

EXPORT int __cxa_guard_acquire(struct guard *guard);
EXPORT void __cxa_guard_release(struct guard *guard);
EXPORT void __cxa_guard_abort(struct guard *guard);

/* Returns 1 if the caller must initialise the variable. */
INTERPOSED(int, __cxa_guard_acquire, (struct guard * guard),
	sync_result(once_enter(&guard->once, CALL_SITE)) != 0);

EXPORT void __cxa_guard_release(struct guard *guard)
{
	const struct engine_op store = {.kind = OP_ATOMIC_STORE,
		.address = guard,
		.site = CALL_SITE,
		.bytes = 1,
		.order = __ATOMIC_RELEASE};

	ENTER();
	once_done(&guard->once, CALL_SITE);
	engine_note_access(&store); /* pairs with the acquiring loads in compiled code */
	__atomic_store_n(&guard->is_ready, 1, __ATOMIC_RELEASE);
}

EXPORT void __cxa_guard_abort(struct guard *guard)
{
	ENTER();
	once_abandon(&guard->once);
}
