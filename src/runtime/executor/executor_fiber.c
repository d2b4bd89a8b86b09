/*
 * The fiber executor: all threads of the target run on one kernel thread. Each has the stack and
 * thread-local block of a *donor*, a real pthread whose kernel thread ended at once
 * (platform_thread_vanish). Therefore pthread_self(), errno, TLS, stack guards, dlopen's TLS and
 * debuggers work as usual.
 *
 * Life of a donor: executor_fiber_donor_new() creates it, in advance (fiber_pool_grow()) or on demand.
 * executor_fiber_spawn() gives it to a thread. executor_fiber_reap() returns it to the free list; the next
 * executor_fiber_spawn() renews its thread-local block. Each class of stack sizes has its own free list.
 *
 * Runs in the moving thread, except executor_fiber_donor_main(). The donors' table belongs to the rewind's image.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "base/hot_state.h"
#include "runtime/runtime.h"
#include "runtime/thread_stacks.h"

struct donor {
	struct donor *next;
	struct donor *made_before; /* donor made before it, since the starting point */
	struct thread_stack stack; /* start NULL: the stack is glibc's own */
	uintptr_t thread_base;
	void *stack_top; /* a thread's first frame begins here */
	/* From here on, memory belongs to glibc: its first frame, the thread-local variables and the description of
	 * the thread. The bytes between the two addresses are unused. */
	void *library_part;
	int kernel_id;
	uint32_t
		size_class; /* THREAD_STACK_CLASSES: made for one thread's stack size, not reused */
	bool is_used;	    /* a thread has ended on it: must be renewed for the next one */
};

#define KERNEL_SIGSET_BYTES 8

/* A restore of a donor's stack must not overwrite its description. Donors beyond these have theirs
 * on their own stacks. */
static struct donor donors[THREAD_CAPACITY];

/* Donors of one class of sizes. */
struct donor_pool {
	uint32_t made; /* the n-th donor has the n-th slot under every restart */
	/* The donors of ended threads, latest first, then the unused ones in slot order. A run uses
	 * the same donors whether or not donors were made in advance. */
	struct donor *free;
};

static HOT_STATE struct {
	uint32_t made; /* donors of every class */
	struct donor_pool pools[THREAD_STACK_CLASSES];
	/* fiber_time() when each pooled donor was last given to a thread; 0 if it was in no run.
	 * The array lies in shared memory, because a rewind restores a donor's stack only when
	 * needed. */
	uint64_t *used_at;
	void (*switch_to)(struct context *from, const struct context *to);
	void *(*tls_init)(void *, bool);
	void (*ctype_init)(void);
	struct donor *made_last; /* latest donor made since the starting point */
} fibers;

struct donor_request {
	struct donor *donor;
	struct thread_stack stack;
	uint32_t is_ready; /* futex: the creator waits for 1 */
};

static void *executor_fiber_donor_main(void *argument)
{
	struct donor own;
	struct donor_request *request = argument;
	struct donor *donor = request->donor ? request->donor : &own;

	*donor = (struct donor){.thread_base = context_thread_base(),
		.stack_top = thread_stack_top(__builtin_frame_address(0)),
		.library_part = __builtin_frame_address(0),
		.kernel_id = (int)platform_call(SYS_gettid)};
	request->donor = donor;
	/* For glibc the thread still exists: the kernel must not clear pd->tid. */
	(void)platform_call(SYS_set_tid_address, 0);
	platform_thread_vanish(&request->is_ready);
}

static int executor_fiber_donor_create(const pthread_attr_t *own, struct donor_request *request)
{
	const bool was_up = runtime_is_up;
	pthread_t handle;
	uint64_t all = ~UINT64_C(0);
	uint64_t old;
	int error;

	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, KERNEL_SIGSET_BYTES);
	runtime_dispatch_pause();
	if (request->stack.start)
		thread_stack_lend(&request->stack);
	runtime_is_up = true; /* the new thread may call interposed functions for a sanitizer */
	error = REAL(pthread_create)(&handle, own, executor_fiber_donor_main, request);
	while (!error && /* pairs with the store of platform_thread_vanish */
		!__atomic_load_n(&request->is_ready, __ATOMIC_ACQUIRE))
		platform_futex_wait(&request->is_ready, 0, UINT64_MAX, false);
	if (!was_up)
		runtime_is_up = false;
	thread_stack_lend_end(&request->stack);
	runtime_dispatch_resume();
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, KERNEL_SIGSET_BYTES);
	return error;
}

/* Makes a donor of the class. Returns NULL if glibc cannot make the thread. `size`: used if no slot
 * of the class is free. */
static struct donor *executor_fiber_donor_new(uint32_t size_class, size_t size)
{
	struct donor_request request = {
		.donor = fibers.made < THREAD_CAPACITY ? &donors[fibers.made] : NULL};
	pthread_attr_t own;
	int error;

	(void)pthread_attr_init(&own);
	if (size_class < THREAD_STACK_CLASSES &&
		thread_stack_map(&request.stack, size_class, fibers.pools[size_class].made))
		(void)pthread_attr_setstack(&own, request.stack.start, request.stack.stack_bytes);
	else /* the slot is taken: glibc chooses the stack */
		(void)pthread_attr_setstacksize(&own, size);
	error = executor_fiber_donor_create(&own, &request);
	(void)pthread_attr_destroy(&own);
	if (error) {
		if (request.stack.start)
			thread_stack_unmap(&request.stack);
		return NULL;
	}
	if (size_class && !request.stack.start)
		size_class = THREAD_STACK_CLASSES;
	if (size_class < THREAD_STACK_CLASSES)
		fibers.pools[size_class].made++;
	fibers.made++;
	request.donor->stack = request.stack;
	request.donor->size_class = size_class;
	request.donor->made_before = fibers.made_last;
	fibers.made_last = request.donor;
	return request.donor;
}

static void executor_fiber_set_up(void)
{
	if (fibers.switch_to)
		return;
	if (runtime.restart == &restart_rewind)
		fibers.used_at = platform_map(THREAD_CAPACITY * sizeof *fibers.used_at, true);
	fibers.switch_to = context_has_fsgsbase() ? context_switch_fsgsbase : context_switch_prctl;
	/* glibc's functions that renew a cached stack; without them, stacks are not reused. */
	fibers.tls_init = (void *(*)(void *, bool))SYMBOL_SLOT("_dl_allocate_tls_init")->function;
	fibers.ctype_init = (void (*)(void))SYMBOL_SLOT("__ctype_init")->function;
}

static void executor_fiber_donor_pool_grow(uint32_t size_class, uint32_t count)
{
	struct donor **end = &fibers.pools[size_class].free;

	while (*end)
		end = &(*end)->next;
	while (count--) {
		struct donor *donor =
			executor_fiber_donor_new(size_class, thread_stack_standard_bytes());

		if (!donor)
			break;
		*end = donor;
		end = &donor->next;
	}
}

void fiber_pool_grow(const struct fiber_counts *counts)
{
	executor_fiber_set_up();
	for (uint32_t i = 0; i < THREAD_STACK_CLASSES; i++)
		executor_fiber_donor_pool_grow(i, counts->of_class[i]);
	fibers.made_last = NULL;
}

uint32_t fiber_made_since_snapshot(struct fiber_made *made, uint32_t capacity)
{
	uint32_t count = 0;

	for (const struct donor *donor = fibers.made_last; donor;
		donor = donor->made_before, count++)
		if (count < capacity)
			made[count] = (struct fiber_made){.start = donor->stack.start,
				.bytes = donor->stack.bytes,
				.kernel_id = donor->kernel_id,
				.size_class = donor->size_class};
	return count;
}

bool fiber_is_donor(int kernel_id)
{
	const struct donor *donor = fibers.made_last;

	while (donor && donor->kernel_id != kernel_id)
		donor = donor->made_before;
	return donor != NULL;
}

struct fiber_counts fiber_pool_lacked(void)
{
	struct fiber_counts counts = {0};

	for (const struct donor *donor = fibers.made_last; donor; donor = donor->made_before)
		if (donor->size_class < THREAD_STACK_CLASSES)
			counts.of_class[donor->size_class]++;
	return counts;
}

static uint32_t executor_fiber_pool_index_of(const struct donor *donor)
{
	return donor >= donors && donor < donors + THREAD_CAPACITY ? (uint32_t)(donor - donors)
								   : FIBER_NOT_POOLED;
}

uint32_t fiber_index_of(const struct engine_thread *thread)
{
	return executor_fiber_pool_index_of(thread->executor_part);
}

uint64_t *fiber_used_at(uint32_t pool_index)
{
	return fibers.used_at && pool_index != FIBER_NOT_POOLED ? &fibers.used_at[pool_index]
								: NULL;
}

uint64_t fiber_time(void)
{
	return engine_step() + 1;
}

const char *fiber_stack_of(const struct engine_thread *thread)
{
	const struct donor *donor = thread->executor_part;

	return donor ? donor->stack_top : NULL;
}

void fiber_each_pooled(fiber_visit_pooled *visit, void *argument)
{
	for (uint32_t i = 0; i < THREAD_STACK_CLASSES; i++)
		for (struct donor *donor = fibers.pools[i].free; donor; donor = donor->next)
			visit(donor->library_part, donor->stack.used_end,
				executor_fiber_pool_index_of(donor), argument);
}

/* Reads what the attributes say about the stack: the caller's own, or a larger size. */
static void executor_fiber_read_attributes(
	const pthread_attr_t *attributes, char **stack, size_t *stack_size, uint32_t *size_class)
{
	void *address = NULL;

	*stack = NULL;
	*size_class = 0;
	if (!attributes)
		return;
	(void)pthread_attr_getstack(attributes, &address, stack_size);
	/* If the caller gave no stack, getstack returns 0 minus the size. */
	if (address && address != (void *)(0 - *stack_size))
		*stack = address;
	else
		*size_class = thread_stack_class(*stack_size);
}

/* Runs `function` with the thread-local base of another thread. */
static void executor_fiber_with_base(uintptr_t base, void (*function)(void))
{
	uintptr_t own = context_thread_base();

	context_set_thread_base(base);
	function();
	context_set_thread_base(own);
}

/* Renews the donor as glibc renews a cached stack. */
static void executor_fiber_donor_renew(struct donor *donor)
{
	(void)fibers.tls_init((void *)donor->thread_base, true);
	executor_fiber_with_base(donor->thread_base, fibers.ctype_init);
	donor->is_used = false;
}

static int executor_fiber_spawn(struct engine_thread *thread, const void *attributes)
{
	struct donor *donor;
	char *stack;
	size_t stack_size = 0;
	uint32_t size_class;

	executor_fiber_set_up();
	executor_fiber_read_attributes(attributes, &stack, &stack_size, &size_class);
	donor = size_class < THREAD_STACK_CLASSES ? fibers.pools[size_class].free : NULL;
	if (donor) {
		fibers.pools[size_class].free = donor->next;
		if (donor->is_used)
			executor_fiber_donor_renew(donor);
	} else {
		donor = executor_fiber_donor_new(
			size_class, size_class ? stack_size : thread_stack_standard_bytes());
		if (!donor)
			return EAGAIN;
	}
	if (fiber_used_at(executor_fiber_pool_index_of(donor)))
		*fiber_used_at(executor_fiber_pool_index_of(donor)) = fiber_time();
	thread->executor_part = donor;
	thread->handle = donor->thread_base;
	thread->kernel_id = donor->kernel_id;
	context_make(&thread->context, stack ? stack + stack_size : donor->stack_top,
		donor->thread_base, thread_stack_enter, thread);
	return 0;
}

static void executor_fiber_transfer(struct engine_thread *from, struct engine_thread *to)
{
	fibers.switch_to(&from->context, &to->context);
}

/* Returns the donor unrenewed: the next use renews it, and most runs end earlier. */
static void executor_fiber_reap(struct engine_thread *thread)
{
	struct donor *donor = thread->executor_part;

	thread->executor_part = NULL;
	if (!donor || donor->size_class == THREAD_STACK_CLASSES || !fibers.tls_init ||
		!fibers.ctype_init)
		return;
	donor->is_used = true;
	donor->next = fibers.pools[donor->size_class].free;
	fibers.pools[donor->size_class].free = donor;
}

/* Forgets the donors of other threads, whose stacks glibc's fork has reclaimed. */
static void executor_fiber_after_fork(struct engine_thread *self)
{
	(void)self;
	for (uint32_t i = 0; i < THREAD_STACK_CLASSES; i++)
		fibers.pools[i].free = NULL;
}

const struct executor executor_fiber = {
	.name = "fiber",
	.can_clone = true,
	.can_rewind = true,
	.spawn = executor_fiber_spawn,
	.transfer = executor_fiber_transfer,
	.finish = executor_fiber_transfer,
	.reap = executor_fiber_reap,
	.after_fork = executor_fiber_after_fork,
};
