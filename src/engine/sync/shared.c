#include "engine/sync.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

#include "base/hot_state.h"
#include "platform/platform.h"

/* Attempts to take the lock before the processor is yielded. */
#define LOOKS_BEFORE_YIELD 100
/* Yields before shared_enter() checks whether the holding process still exists. */
#define YIELDS_BEFORE_DOUBT 1000

/* State of the critical section among processes. Other processes also write *lock. */
static HOT_STATE struct {
	uint32_t *lock; /* id of the process in the critical section; 0: none */
	uint32_t depth;
} shared;

void shared_set_lock(uint32_t *lock)
{
	shared.lock = lock;
}

int32_t shared_process(void)
{
	return (int32_t)platform_call(SYS_getpid);
}

bool shared_process_is_gone(int32_t process)
{
	long descriptor = platform_call(SYS_pidfd_open, process, 0);
	struct pollfd poll = {.fd = (int)descriptor, .events = POLLIN};
	bool is_gone;

	if (platform_failed(descriptor))
		return descriptor == -ESRCH;
	/* also true for a zombie, which is not yet reaped */
	is_gone = platform_call(SYS_poll, &poll, 1, 0) > 0;
	(void)platform_call(SYS_close, descriptor);
	return is_gone;
}

void shared_enter(bool is_shared)
{
	uint32_t own, holder = 0;

	if (!is_shared || !shared.lock || shared.depth++)
		return;
	own = (uint32_t)shared_process();
	for (uint32_t looks = 1;; looks++) {
		holder = 0;
		/* acquire: pairs with the release in shared_leave() */
		if (__atomic_compare_exchange_n(
			    shared.lock, &holder, own, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
		if (looks % LOOKS_BEFORE_YIELD)
			continue;
		(void)platform_call(SYS_sched_yield);
		/* The holder was killed: the first process that notices this frees the lock. */
		if (looks / LOOKS_BEFORE_YIELD % YIELDS_BEFORE_DOUBT == 0 &&
			shared_process_is_gone((int32_t)holder))
			(void)__atomic_compare_exchange_n(
				shared.lock, &holder, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
}

void shared_leave(bool is_shared)
{
	if (!is_shared || !shared.lock || --shared.depth)
		return;
	__atomic_store_n(shared.lock, 0, __ATOMIC_RELEASE);
}
