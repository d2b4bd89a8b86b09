#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "engine/sync.h"
#include "runtime/libc/child_run.h"
#include "runtime/interpose.h"
#include "runtime/libc/raw_thread.h"
#include "runtime/runtime.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/world.h"
#include "runtime/memory.h"

void runtime_prepare_threads(void)
{
	runtime_add_modules();
}

/* Called when a constructor creates a thread: the restart's starting point at main must be reached
 * now. */
static void thread_reach_main(void)
{
	if (runtime.has_reached_main)
		return;
	if (runtime.restart == &restart_fork_main)
		runtime_refuse_restart("a thread is made before main");
	runtime.restart->at_main();
}

extern void *__sbrk(intptr_t bytes); /* an allocator may define sbrk() itself */

/* Too large for malloc's cache of a thread: freed, the block is again part of the rest of the heap. It ends in the
 * heap's first page, which malloc writes anyway. */
#define HEAP_FIRST_BYTES 2048

/* pthread_create() of glibc allocates, so natively the heap begins at the first thread at the latest. Without this,
 * each rewound or forked run of a program that allocates later would begin the heap anew, by system calls. */
static void thread_begin_heap(void)
{
	if (!runtime.has_sanitizer && !mallinfo2().arena)
		REAL(free)(REAL(malloc)(HEAP_FIRST_BYTES));
	heap_prepare((uintptr_t)__sbrk(0));
}

/* Every restart except fork_main continues here for each run. */
void runtime_first_create(void)
{
	if (runtime.has_created)
		return;
	raw_thread_check_start();
	runtime.has_created = true;
	runtime_prepare_threads();
	if (runtime.contract && runtime.is_forked_child && daemon_becomes_program())
		process_become_program();
	else if (runtime.contract && !runtime.is_forked_child && daemon_has_replaced_us())
		process_become_child();
	runtime.has_created = true;
	if (runtime.contract && !runtime.is_forked_child) {
		thread_reach_main();
		thread_begin_heap();
		runtime.restart->at_first_create();
		return;
	}
	runtime.has_dispatch = runtime_dispatch_arm();
	if (runtime.is_forked_child)
		child_run_begin();
	engine_go_live();
}

int runtime_thread_create(pthread_t *handle, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument, uint64_t site)
{
	struct engine_thread *thread;
	int error;

	runtime_first_create();
	engine_point(OP_THREAD_CREATE, NULL, site);
	error = affinity_check(attributes);
	if (!error)
		error = engine_thread_create(&thread, start, argument, attributes, site);
	if (error)
		return error;
	affinity_inherit(thread, attributes);
	if (attributes) {
		int state = PTHREAD_CREATE_JOINABLE;
		sigset_t mask;

		(void)pthread_attr_getdetachstate(attributes, &state);
		thread->is_detached = state == PTHREAD_CREATE_DETACHED;
		if (pthread_attr_getsigmask_np(attributes, &mask) == 0)
			thread->signals_blocked = mask.__val[0] & ~signal_unblockable();
	}
	if (runtime.contract && !runtime.is_forked_child)
		runtime.contract->thread_count = engine_thread_count();
	*handle = thread->handle;
	/* A second scheduling point: the new thread may run before its creator's next action, which
	 * exposes "used before it was initialised". A sanitizer's pthread_create holds locks, and
	 * gets no such point. */
	if (!runtime.has_sanitizer)
		engine_point(OP_THREAD_CREATED, NULL, site);
	return 0;
}

EXPORT int pthread_create(pthread_t *restrict handle, const pthread_attr_t *restrict attributes,
	void *(*start)(void *), void *restrict argument)
{
	ENTER();
	return runtime_thread_create(handle, attributes, start, argument, CALL_SITE);
}

int runtime_start_detached(const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	pthread_attr_t own;
	pthread_t thread;

	if (attributes)
		own = *attributes; /* creation only reads the copy */
	else
		(void)pthread_attr_init(&own);
	(void)pthread_attr_setdetachstate(&own, PTHREAD_CREATE_DETACHED);
	return pthread_create(&thread, &own, start, argument);
}

void runtime_thread_body(struct engine_thread *thread)
{
	__pthread_unwind_buf_t buffer;

	(void)raw_thread_run(thread); /* a raw thread never returns from this call */
	/* The end of glibc's forced unwinding (pthread_exit, cancellation). */
	if (!__sigsetjmp_cancel(buffer.__cancel_jmp_buf, 0)) {
		__pthread_register_cancel(&buffer);
		thread->result = thread->start(thread->argument);
		__pthread_unregister_cancel(&buffer);
	}
	runtime_leave_thread();
}

void runtime_leave_thread(void)
{
	struct engine_thread *self = engine_current();
	void (*call_tls_destructors)(void) =
		(void (*)(void))SYMBOL_SLOT("__call_tls_dtors")->function;

	self->is_cancel_disabled = true;
	if (call_tls_destructors)
		call_tls_destructors();
	runtime_run_key_destructors();
	signals_leave_thread();
	engine_mutex_owner_died(self);
}

EXPORT void pthread_exit(void *result)
{
	ENTER();
	engine_current()->result = result;
	engine_current()->is_cancel_disabled = true;
	REAL(pthread_exit)(result); /* unwinds into runtime_thread_body or startup_run_main */
	__builtin_trap();
}

static bool thread_has_ended(const struct engine_op *op, const struct engine_thread *self)
{
	(void)self;
	return ((const struct engine_thread *)op->address)->state == THREAD_DONE;
}

static int thread_join_error(enum op_kind kind, const struct engine_thread *thread, uint64_t site)
{
	const struct engine_thread *self = engine_current();

	if (!thread || thread->state == THREAD_REAPED) {
		/* The thread no longer exists, and its handle may already belong to another thread. */
		if (thread)
			engine_point(kind, thread, site);
		if (engine_is_live())
			engine_fail(OUTCOME_JOIN_GONE, NULL, site);
		return ESRCH;
	}
	if (thread->is_detached || thread->has_joiner)
		return EINVAL;
	if (thread == self) {
		engine_fail(OUTCOME_JOIN_SELF, thread, site);
		return EDEADLK;
	}
	/* Threads that join each other may continue if one is cancelled, like in glibc. */
	if (thread->op && thread->op->kind == OP_THREAD_JOIN && thread->op->address == self &&
		thread->op->deadline_ns == ENGINE_FOREVER && !thread->is_cancel_requested &&
		(!self->is_cancel_requested || self->is_cancel_disabled))
		return EDEADLK;
	return 0;
}

/* Ends a join: stores the result of the thread, and releases the thread. */
static void thread_collect(struct engine_thread *thread, void **result)
{
	if (result) {
		engine_note_result_read(thread);
		*result = thread->result;
	}
	engine_thread_reap(thread);
}

int runtime_thread_join(pthread_t handle, void **result, uint64_t deadline_ns, uint64_t site)
{
	struct engine_thread *thread = engine_thread_that_had(handle);
	struct engine_op op = {.kind = OP_THREAD_JOIN,
		.interruptions = INTERRUPT_CANCEL,
		.address = thread,
		.site = site,
		.ready = thread_has_ended,
		.deadline_ns = deadline_ns};
	int error = thread_join_error(OP_THREAD_JOIN, thread, site);
	enum engine_result outcome;

	if (error)
		return error;
	thread->has_joiner = true;
	outcome = engine_perform(&op);
	thread->has_joiner = false;
	if (outcome == WAIT_CANCELLED)
		runtime_act_on_cancel();
	if (outcome == WAIT_TIMED_OUT)
		return ETIMEDOUT;
	thread_collect(thread, result);
	return 0;
}

EXPORT pthread_t pthread_self(void)
{
	engine_note_id_read();
	return (pthread_t)__builtin_thread_pointer();
}

INTERPOSED(int, pthread_join, (pthread_t handle, void **result),
	runtime_thread_join(handle, result, ENGINE_FOREVER, CALL_SITE));

EXPORT int pthread_tryjoin_np(pthread_t handle, void **result)
{
	ENTER();
	struct engine_thread *thread = engine_thread_that_had(handle);
	int error = thread == engine_current()
			    ? EBUSY
			    : thread_join_error(OP_THREAD_TRYJOIN, thread, CALL_SITE);

	if (thread && thread->is_detached && thread->state == THREAD_ALIVE)
		error = EBUSY; /* glibc checks the end of the thread first */
	if (error)
		return error;
	engine_point(OP_THREAD_TRYJOIN, thread, CALL_SITE);
	if (thread->state != THREAD_DONE) {
		engine_unproductive();
		return EBUSY;
	}
	thread_collect(thread, result);
	return 0;
}

static int thread_join_until(pthread_t handle, void **result, clockid_t clock,
	const struct timespec *until, uint64_t site)
{
	if (!until)
		return runtime_thread_join(handle, result, ENGINE_FOREVER, site);
	if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000)
		return EINVAL;
	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return EINVAL;
	return runtime_thread_join(handle, result, runtime_deadline(clock, until), site);
}

INTERPOSED(int, pthread_timedjoin_np,
	(pthread_t handle, void **result, const struct timespec *until),
	thread_join_until(handle, result, CLOCK_REALTIME, until, CALL_SITE));
INTERPOSED(int, pthread_clockjoin_np,
	(pthread_t handle, void **result, clockid_t clock, const struct timespec *until),
	thread_join_until(handle, result, clock, until, CALL_SITE));

int runtime_thread_detach(pthread_t handle, uint64_t site)
{
	struct engine_thread *thread = engine_thread_that_had(handle);

	if (!thread)
		return ESRCH;
	engine_point(OP_THREAD_DETACH, thread, site);
	if (thread->state == THREAD_REAPED)
		return ESRCH;
	if (thread->is_detached)
		return EINVAL;
	thread->is_detached = true;
	if (thread->state == THREAD_DONE)
		engine_thread_reap(thread);
	return 0;
}

INTERPOSED(int, pthread_detach, (pthread_t handle), runtime_thread_detach(handle, CALL_SITE));

void runtime_act_on_cancel(void)
{
	struct engine_thread *self = engine_current();

	self->is_cancel_requested = false;
	self->is_cancel_disabled = true;
	self->result = PTHREAD_CANCELED;
	REAL(pthread_exit)(PTHREAD_CANCELED);
	__builtin_trap();
}

void runtime_test_cancel(void)
{
	const struct engine_thread *self = engine_current();

	if (self->is_cancel_requested && !self->is_cancel_disabled)
		runtime_act_on_cancel();
}

void runtime_test_cancel_anywhere(void)
{
	const struct engine_thread *self = engine_current();

	if (self->is_cancel_asynchronous && !self->is_exiting)
		runtime_test_cancel();
}

static void thread_cancel_point(const struct engine_thread *thread, uint64_t site)
{
	struct engine_op op = {.kind = OP_THREAD_CANCEL,
		.address = thread,
		.second = (uint16_t)(thread->id.index + 1),
		.site = site,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op);
}

EXPORT int pthread_cancel(pthread_t handle)
{
	ENTER();
	struct engine_thread *thread = engine_thread_that_had(handle);

	if (!thread)
		return ESRCH;
	thread_cancel_point(thread, CALL_SITE);
	if (thread->state != THREAD_ALIVE)
		return thread->state == THREAD_REAPED ? ESRCH : 0;
	thread->is_cancel_requested = true;
	if (thread != engine_current())
		engine_evaluate(thread);
	else if (thread->is_cancel_asynchronous)
		runtime_test_cancel();
	return 0;
}

_Static_assert(PTHREAD_CANCEL_ENABLE == 0 && PTHREAD_CANCEL_DISABLE == 1 &&
		       PTHREAD_CANCEL_DEFERRED == 0 && PTHREAD_CANCEL_ASYNCHRONOUS == 1,
	"the values of both settings are truth values");

/* Changes is_cancel_disabled or is_cancel_asynchronous of the moving thread. */
static int thread_set_cancel(bool *setting, int wanted, int *old)
{
	if (wanted != false && wanted != true)
		return EINVAL;
	if (old)
		*old = *setting;
	*setting = wanted;
	if (engine_current()->is_cancel_asynchronous)
		runtime_test_cancel();
	return 0;
}

INTERPOSED(int, pthread_setcancelstate, (int state, int *old),
	thread_set_cancel(&engine_current()->is_cancel_disabled, state, old));
INTERPOSED(int, pthread_setcanceltype, (int type, int *old),
	thread_set_cancel(&engine_current()->is_cancel_asynchronous, type, old));

EXPORT void pthread_testcancel(void)
{
	struct engine_op op = {.kind = OP_TEST_CANCEL,
		.interruptions = INTERRUPT_CANCEL,
		.site = CALL_SITE,
		.deadline_ns = ENGINE_FOREVER};

	ENTER();
	if (engine_perform(&op) == WAIT_CANCELLED)
		runtime_act_on_cancel();
	if (engine_is_live())
		runtime_waits_forever();
}

#define LABEL_BYTES 16

EXPORT int pthread_setname_np(pthread_t handle, const char *name)
{
	struct engine_thread *thread;

	ENTER();
	if (strlen(name) >= LABEL_BYTES)
		return ERANGE;
	thread = engine_thread_by_handle(handle);
	if (!thread)
		return ESRCH;
	strcpy(thread->label, name);
	/* The name that ps shows */
	if (thread->id.index == 0)
		(void)platform_call(SYS_prctl, PR_SET_NAME, name);
	return 0;
}

bool runtime_emulate_name(const long arguments[6], long *result)
{
	struct engine_thread *self = engine_current();
	char *name = (char *)arguments[1];

	if (self->id.index == 0 || interpose_is_bad_pointer(name))
		return false; /* the name of the kernel thread itself, or EFAULT */
	if (arguments[0] == PR_SET_NAME) {
		memset(self->label, 0, LABEL_BYTES);
		memcpy(self->label, name,
			strnlen(name, LABEL_BYTES - 1)); /* truncated, as by the kernel */
	} else if (arguments[0] == PR_GET_NAME && self->label[0]) {
		memcpy(name, self->label, LABEL_BYTES);
	} else {
		return false;
	}
	*result = 0;
	return true;
}

/* Where system calls are not trapped, this alone sees the call. */
EXPORT int prctl(int option, ...)
{
	va_list list;
	long arguments[6] = {option}, result;

	ENTER();
	va_start(list, option);
	for (int i = 1; i < 5; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (!runtime_emulate_name(arguments, &result))
		result = target_call(SYS_prctl, arguments[0], arguments[1], arguments[2],
			arguments[3], arguments[4]);
	return (int)interpose_result(result);
}

EXPORT int pthread_getname_np(pthread_t handle, char *name, size_t size)
{
	ENTER();
	char label[LABEL_BYTES] = "";
	const struct engine_thread *thread = engine_thread_by_handle(handle);

	if (!thread)
		return ESRCH;
	if (thread->label[0])
		strcpy(label, thread->label);
	else
		(void)platform_call(
			SYS_prctl, PR_GET_NAME, label); /* unnamed: the name of the process */
	if (size <= strlen(label))
		return ERANGE;
	strcpy(name, label);
	return 0;
}
