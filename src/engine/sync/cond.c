#include "engine/sync.h"

#include <pthread.h>

_Static_assert(sizeof(struct cond) == sizeof(pthread_cond_t), "glibc's size");

void cond_init(struct cond *cond, int32_t clock, bool is_shared)
{
	*cond = (struct cond){.clock = clock, .is_shared = is_shared};
	engine_object_renew(cond);
}

/* Returns NULL if the queue is empty or the object was overwritten. Also returns NULL if this
 * process is the child of a fork and the waiters belong to the parent. */
static struct engine_thread *cond_waiter(const struct cond *cond, uint16_t mark)
{
	struct engine_thread *thread = sync_thread(mark);

	return thread && thread->queue_object == cond && thread->state == THREAD_ALIVE ? thread
										       : NULL;
}

static struct engine_thread *cond_first(const struct cond *cond)
{
	return cond_waiter(cond, cond->first);
}

static void cond_enqueue(struct cond *cond, struct engine_thread *thread)
{
	struct engine_thread *last = cond_waiter(cond, cond->last);

	thread->queue_next = NULL;
	thread->queue_object = cond;
	if (last) {
		last->queue_next = thread;
	} else {
		cond->first = sync_mark(thread);
		cond->waiter_count = 0;
	}
	cond->last = sync_mark(thread);
	cond->waiter_count++;
}

static void cond_unlink(struct cond *cond, struct engine_thread *thread)
{
	struct engine_thread *before = NULL;
	struct engine_thread *at = cond_first(cond);

	while (at && at != thread) {
		before = at;
		at = at->queue_next;
	}
	if (!at)
		return; /* the program initialised the object again while threads waited */
	if (before)
		before->queue_next = thread->queue_next;
	else
		cond->first = thread->queue_next ? sync_mark(thread->queue_next) : 0;
	if (!thread->queue_next)
		cond->last = before ? sync_mark(before) : 0;
	cond->waiter_count--;
}

static void cond_dequeue(struct cond *cond, struct engine_thread *thread)
{
	cond_unlink(cond, thread);
	thread->queue_object = NULL;
	thread->queue_next = NULL;
	if (!cond_first(cond))
		engine_changed(cond); /* cond_destroy() may wait until the queue is empty */
}

/* queue_ticket after a spurious wake-up here: the thread's next wait cannot end spuriously
 * again. One spurious wake-up suffices to show a missing loop, and without the limit a lost
 * wake-up would never become a deadlock. */
static uint64_t cond_spurious_ticket(const struct cond *cond)
{
	return (uint64_t)(uintptr_t)cond | 1;
}

static bool cond_is_woken(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct cond *cond = op->address;

	return thread->queue_object != cond ||
	       (engine_has_spurious_wakeups() &&
		       thread->queue_ticket != cond_spurious_ticket(cond));
}

/* A separate step, because the mutex may be held after a wait that ended without a signal. */
static int cond_end_wait(struct mutex *mutex, uint64_t site)
{
	struct engine_op op = mutex_return_op(mutex, site);
	int error;

	do {
		(void)engine_perform(&op);
		error = mutex_return(mutex, site);
	} while (error == SYNC_AGAIN);
	return error;
}

static bool cond_is_granted(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct cond *cond = op->address;

	(void)thread;
	return cond->granted && (int32_t)(cond->limit - (uint32_t)op->argument2) > 0;
}

/* Returns true if a signal ended the wait. If `must_wait` is set, only a signal ends the wait. */
static bool cond_leave_shared(struct cond *cond, const struct engine_op *op, bool must_wait)
{
	bool is_granted;

	shared_enter(true);
	is_granted = cond_is_granted(op, engine_current());
	cond->granted -= is_granted;
	cond->waiting -= is_granted || !must_wait;
	shared_leave(true);
	if (is_granted)
		engine_changed(cond); /* cond_destroy() may wait until no thread waits */
	return is_granted;
}

static int cond_wait_shared(struct cond *cond, struct mutex *mutex, struct engine_op *op)
{
	enum engine_result result;
	bool is_granted;
	int error;

	op->is_shared = true;
	op->ready = cond_is_granted;
	shared_enter(true);
	error = mutex_leave(mutex, op->site);
	if (!error) {
		op->argument2 = cond->arrivals++;
		cond->waiting++;
	}
	shared_leave(true);
	if (error)
		return error;
	do {
		result = engine_perform(op);
		is_granted = cond_leave_shared(cond, op, result == WAIT_DONE);
	} while (result == WAIT_DONE && !is_granted);
	error = cond_end_wait(mutex, op->site);
	return error || is_granted ? error : sync_error(result);
}

static void cond_grant(struct cond *cond, uint32_t count)
{
	bool is_lost;

	shared_enter(true);
	is_lost = !cond->waiting;
	cond->limit = cond->arrivals;
	cond->granted =
		cond->waiting - cond->granted < count ? cond->waiting : cond->granted + count;
	shared_leave(true);
	if (is_lost && cond->lost_signals < UINT16_MAX)
		cond->lost_signals++;
	engine_changed(cond);
}

int cond_wait(struct cond *cond, struct mutex *mutex, uint64_t deadline_ns, uint64_t site)
{
	struct engine_thread *self = engine_current();
	struct engine_op op = {.kind = OP_COND_WAKE,
		.interruptions = INTERRUPT_CANCEL,
		.address = cond,
		.site = site,
		.ready = cond_is_woken,
		.deadline_ns = deadline_ns,
		.argument = (uint64_t)(uintptr_t)mutex};
	struct engine_op wait = {.kind = OP_COND_WAIT,
		.address = cond,
		.site = site,
		.deadline_ns = ENGINE_FOREVER,
		.argument = (uint64_t)(uintptr_t)mutex};
	enum engine_result result;
	int error, mutex_error;

	engine_note_feature(FEATURE_CONDITION);
	(void)engine_perform(&wait);
	if (cond->is_shared)
		return cond_wait_shared(cond, mutex, &op);
	error = mutex_leave(mutex, site);
	if (error)
		return error;
	/* The caller is a signal handler that interrupted a wait on this object: the interrupted
	 * wait ends spuriously. */
	if (self->queue_object)
		return cond_end_wait(mutex, site);
	cond_enqueue(cond, self);
	result = engine_perform(&op);
	if (op.kind == OP_MUTEX_LOCK) {
		error = mutex_return(mutex, site);
		return error == SYNC_AGAIN ? cond_end_wait(mutex, site) : error;
	}
	if (self->queue_object == cond) {
		self->queue_ticket = result == WAIT_DONE ? cond_spurious_ticket(cond) : 0;
		cond_dequeue(cond, self);
		error = sync_error(result);
	}
	mutex_error = cond_end_wait(mutex, site);
	return mutex_error && error != SYNC_CANCELLED ? mutex_error : error;
}

/* The thread now waits for its mutex, and no deadline or cancellation can lose the signal. The
 * wait of a thread in a signal handler is not announced: when the handler returns,
 * cond_is_woken() finds the thread outside of the queue. */
static void cond_wake(struct cond *cond, struct engine_thread *thread)
{
	const struct engine_op *op = thread->op;

	cond_dequeue(cond, thread);
	thread->queue_ticket = 0;
	if (op && op->kind == OP_COND_WAKE && op->address == cond) {
		const struct mutex *mutex = (const struct mutex *)(uintptr_t)op->argument;
		struct engine_op back = mutex_return_op(mutex, op->site);

		engine_redirect(thread, &back);
	}
}

/* Programs that make all runs in one process, such as unit tests, keep their memory from run to run. A condition variable
 * then still holds what earlier runs have noted, and this function forgets that. */
static void cond_note_signal(struct cond *cond)
{
	if (cond->run != engine_run_number())
		cond->lost_signals = 0;
	cond->run = engine_run_number();
	cond->is_signalled = true;
}

bool cond_was_signalled(const struct cond *cond)
{
	return cond->is_signalled && cond->run == engine_run_number();
}

uint16_t cond_lost_signals(const struct cond *cond)
{
	return cond_was_signalled(cond) ? cond->lost_signals : 0;
}

static void cond_lose_signal(struct cond *cond)
{
	if (cond->lost_signals < UINT16_MAX)
		cond->lost_signals++;
}

void cond_signal(struct cond *cond, uint64_t site)
{
	struct engine_thread *chosen;

	engine_point(OP_COND_SIGNAL, cond, site);
	cond_note_signal(cond);
	if (cond->is_shared) {
		cond_grant(cond, 1);
		return;
	}
	chosen = cond_first(cond);
	if (!chosen) {
		cond_lose_signal(cond);
		return;
	}
	if (cond->waiter_count > 1)
		for (uint32_t i = engine_choose_value(cond->waiter_count); i && chosen->queue_next;
			i--)
			chosen = chosen->queue_next;
	cond_wake(cond, chosen);
}

void cond_broadcast(struct cond *cond, uint64_t site)
{
	struct engine_thread *waiter;

	engine_point(OP_COND_BROADCAST, cond, site);
	cond_note_signal(cond);
	if (cond->is_shared) {
		cond_grant(cond, UINT32_MAX);
		return;
	}
	waiter = cond_first(cond);
	if (!waiter)
		cond_lose_signal(cond);
	for (; waiter; waiter = cond_first(cond))
		cond_wake(cond, waiter);
}

static bool cond_is_deserted(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct cond *cond = op->address;

	(void)thread;
	return cond->is_shared ? !cond->granted : !cond_first(cond);
}

int cond_destroy(struct cond *cond, uint64_t site)
{
	struct engine_op op = {.kind = OP_COND_DESTROY,
		.interruptions = INTERRUPT_NEVER,
		.address = cond,
		.site = site,
		.is_shared = cond->is_shared,
		.ready = cond_is_deserted,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op);
	if (!cond->is_shared)
		cond->clock = SYNC_DESTROYED;
	engine_object_destroyed(&op, sizeof *cond);
	return 0;
}
