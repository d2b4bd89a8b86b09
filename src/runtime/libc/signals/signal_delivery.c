/* Delivery of signals to the target (signals.h): the entry from the kernel, the choice of a thread,
 * and the handler with its mask. The entry runs in any context that the kernel interrupts;
 * everything else runs in the moving thread. */
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/guarded_read.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/spinning.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/time_stamp_counter.h"

/* Written by sigaction, by the delivery (SA_RESETHAND), and by a child that leaves control. */
static struct {
	struct signal_action actions[SIGNAL_LAST + 1];
	/* signals that the kernel blocks: signal_leave_to_kernel() */
	uint64_t left_to_kernel;
	int dying_of; /* default action under way; 0: none */
	const struct engine_thread
		*receiver; /* of this signal, by which another thread ends the process */
	bool has_left_control;
	/* all of its last handlers had SA_RESTART */
	bool wants_restart[THREAD_CAPACITY];
	uint16_t depth[THREAD_CAPACITY]; /* nesting of its handlers */
} delivery;

struct signal_action *signal_action_of(int signal)
{
	return &delivery.actions[signal];
}

static bool signal_has_handler(int signal)
{
	void (*handler)(int) = delivery.actions[signal].handler.plain;

	return handler != SIG_DFL && handler != SIG_IGN;
}

bool signal_has_default_action(int signal)
{
	return delivery.actions[signal].handler.plain == SIG_DFL;
}

bool signal_is_ignored(int signal)
{
	void (*handler)(int) = delivery.actions[signal].handler.plain;

	if (handler != SIG_DFL)
		return handler == SIG_IGN;
	return signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
}

static void signal_entry(int signal, siginfo_t *information, void *context);

/* `before`: receives the previous action; NULL: not wanted. */
static void signal_delivery_kernel_install(
	int signal, void *handler, unsigned long flags, uint64_t mask, struct kernel_action *before)
{
	struct kernel_action action = {.handler = handler,
		.flags = flags | KERNEL_ACTION_RESTORER,
		.restorer = platform_signal_return,
		.mask = mask};

	/* Fails only for numbers that sigaction has refused before. */
	(void)platform_call(SYS_rt_sigaction, signal, &action, before, sizeof action.mask);
}

/* Performs the default action: ends the process, stops it, or does nothing. */
static void signal_act_by_default(const struct engine_thread *thread, int signal)
{
	uint64_t bit;

	if (signal_is_ignored(signal))
		return;
	if (signal_stops(signal)) {
		(void)platform_call(SYS_kill, platform_call(SYS_getpid), SIGSTOP);
		return;
	}
	/* The crash path needs a signal frame of this signal: see signal_entry. */
	delivery.dying_of = signal;
	delivery.receiver = thread == engine_current() ? NULL : thread;
	bit = signal_bit(signal);
	(void)platform_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, NULL, sizeof bit);
	signal_delivery_kernel_install(
		signal, (void *)signal_entry, SA_SIGINFO | SA_NODEFER, 0, NULL);
	(void)platform_call(
		SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), signal);
}

struct handler_call {
	struct signal_action action;
	int signal;
	siginfo_t *information;
	void *context;
};

static void signal_call_handler(void *argument)
{
	const struct handler_call *call = argument;

	if (call->action.flags & SA_SIGINFO)
		call->action.handler.with_information(
			call->signal, call->information, call->context);
	else
		call->action.handler.plain(call->signal);
}

void call_on_stack(void (*function)(void *), void *argument, void *stack_end);

/* `is_here`: the handler runs on the thread's own stack, unless it wants the alternate one. */
static void signal_run_handler(struct engine_thread *thread, int signal, siginfo_t *information,
	ucontext_t *context, bool is_here)
{
	struct handler_call call = {.action = delivery.actions[signal],
		.signal = signal,
		.information = information,
		.context = context};
	const struct signal_action action = call.action;
	uint64_t old_mask = thread->signals_blocked;
	uint64_t kernel_mask = context->uc_sigmask.__val[0];
	uint32_t index = thread->id.index;
	int old_errno = errno;
	void *stack_end = is_here && action.flags & SA_ONSTACK ? signal_stack_end(thread) : NULL;

	engine_note(OP_SIGNAL_WAIT, NULL, 0); /* happens-before: the sender precedes the handler */
	delivery.depth[index]++;
	if (action.flags & (int)SA_RESETHAND)
		delivery.actions[signal].handler.plain = SIG_DFL;
	signal_set_mask(thread,
		old_mask | action.mask | (action.flags & SA_NODEFER ? 0 : signal_bit(signal)));
	/* The mask after the handler, which may change it through its context. */
	context->uc_sigmask.__val[0] = old_mask;
	if (stack_end)
		call_on_stack(signal_call_handler, &call, stack_end);
	else
		signal_call_handler(&call);
	signal_set_mask(thread, context->uc_sigmask.__val[0]);
	context->uc_sigmask.__val[0] = kernel_mask;
	if (delivery.depth[index])
		delivery.depth[index]--;
	errno = old_errno;
}

void signal_left_handlers(void)
{
	delivery.depth[engine_current()->id.index] = 0;
	engine_current()->interrupted = NULL;
}

void signal_set_mask(struct engine_thread *thread, uint64_t mask)
{
	const uint64_t opened = thread->signals_blocked & ~mask;
	bool is_any = (signal_queue_process() & opened) != 0;

	mask &= ~signal_unblockable();
	thread->signals_blocked = mask;
	if (thread->signals_pending & mask)
		is_any |= signal_queue_return(thread, mask);
	if (is_any)
		runtime_route_signals();
}

void signals_leave_thread(void)
{
	struct engine_thread *self = engine_current();

	if (delivery.has_left_control)
		return;
	(void)signals_deliver_now(); /* unblocked signals still reach the ending thread */
	signal_set_mask(self, ~UINT64_C(0));
	signal_queue_forget(self);
}

/* Runs a handler that interrupts no instruction: its context names the site of the point. */
static void signal_run_here(struct engine_thread *thread, int signal, siginfo_t *information)
{
	ucontext_t context;

	memset(&context, 0, sizeof context);
	context.uc_mcontext.gregs[REG_RIP] =
		thread->op ? (greg_t)thread->op->site
			   : (greg_t)(uintptr_t)__builtin_return_address(0);
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)__builtin_frame_address(0);
	context.uc_mcontext.gregs[REG_RBP] = context.uc_mcontext.gregs[REG_RSP];
	context.uc_mcontext.fpregs = &context.__fpregs_mem;
	signal_run_handler(thread, signal, information, &context, true);
}

bool runtime_deliver_signals(struct engine_thread *thread)
{
	bool wants_restart = true;
	bool has_run = false;
	uint64_t waiting;

	while ((waiting = thread->signals_pending & ~thread->signals_blocked)) {
		int signal = __builtin_ctzll(waiting) + 1;
		siginfo_t information;

		if (!signal_queue_take(thread, signal, &information))
			continue;
		if (!signal_has_handler(signal)) {
			signal_act_by_default(thread, signal);
			continue;
		}
		wants_restart &= (delivery.actions[signal].flags & SA_RESTART) != 0;
		if (!has_run)
			runtime_trace_signal(thread, signal);
		has_run = true;
		signal_run_here(thread, signal, &information);
	}
	if (has_run)
		delivery.wants_restart[thread->id.index] = wants_restart;
	return has_run;
}

bool signals_want_restart(void)
{
	return delivery.wants_restart[engine_current()->id.index];
}

bool signals_deliver_now(void)
{
	if (delivery.has_left_control)
		return false;
	runtime_route_signals();
	return runtime_deliver_signals(engine_current());
}

static bool signal_delivery_thread_waits_for(const struct engine_thread *thread, int signal)
{
	return thread->op && thread->op->kind == OP_SIGNAL_WAIT &&
	       thread->op->argument & signal_bit(signal);
}

static bool signal_delivery_thread_takes(const struct engine_thread *thread, int signal)
{
	return thread->state == THREAD_ALIVE && !(thread->signals_blocked & signal_bit(signal));
}

/* Chooses the receiving thread, which does not block the signal or waits for it; the strategy chooses
 * among several if one of them runs a handler or waits. Returns NULL if there is none. */
static struct engine_thread *signal_choose_thread(int signal, uint32_t waiting)
{
	uint32_t count = waiting;
	uint32_t chosen;

	for (uint32_t i = 0; i < engine_thread_count(); i++)
		count += signal_delivery_thread_takes(engine_thread(i), signal);
	if (!count)
		return NULL;
	chosen = signal_has_handler(signal) || waiting ? engine_choose_value(count) : 0;
	for (uint32_t i = 0; i < engine_thread_count(); i++)
		if ((signal_delivery_thread_takes(engine_thread(i), signal) ||
			    signal_delivery_thread_waits_for(engine_thread(i), signal)) &&
			!chosen--)
			return engine_thread(i);
	return NULL;
}

/* Routes one instance. Returns true if it has left the process's queue. */
static bool signal_route(int signal)
{
	struct engine_thread *thread;
	uint32_t waiting = 0, taking = 0;
	siginfo_t information;

	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		waiting += signal_delivery_thread_waits_for(engine_thread(i), signal);
		taking += signal_delivery_thread_takes(engine_thread(i), signal);
	}
	if (waiting && !taking) { /* the first of them to run takes it */
		engine_changed_kind(OP_SIGNAL_WAIT);
		return false;
	}
	thread = signal_choose_thread(signal, waiting);
	if (!thread)
		return false; /* stays pending for the process */
	if (signal_has_handler(signal) || signal_delivery_thread_waits_for(thread, signal)) {
		signal_queue_assign(signal, thread);
		engine_evaluate(thread);
	} else if (signal_queue_take_process(signal, &information)) {
		signal_act_by_default(thread, signal);
	}
	return true;
}

void runtime_route_signals(void)
{
	runtime_run_controlled();
	signal_queue_drain();
	for (int signal = 1; signal_queue_process() && signal <= SIGNAL_LAST; signal++)
		while (signal_queue_process() & signal_bit(signal) && signal_route(signal))
			;
}

int signal_send(struct engine_thread *thread, const siginfo_t *information)
{
	int signal = information->si_signo;
	int error;

	if (signal == SIGSTOP || signal == SIGKILL)
		return (int)-platform_call(SYS_kill, platform_call(SYS_getpid), signal);
	signal_note_own(signal);
	if (signal_bit(signal) & delivery.left_to_kernel)
		return (int)-platform_call(
			SYS_rt_sigqueueinfo, platform_call(SYS_getpid), signal, information);
	if (thread && signal_delivery_thread_takes(thread, signal) && !signal_has_handler(signal)) {
		signal_act_by_default(thread, signal);
		return 0;
	}
	error = signal_queue_add(thread, information);
	if (error)
		return error;
	if (thread) {
		engine_evaluate(thread);
		engine_changed_kind(OP_SIGNAL_WAIT);
	}
	(void)signals_deliver_now();
	return 0;
}

void signals_raise(struct engine_thread *thread, const siginfo_t *information)
{
	if (delivery.has_left_control) {
		(void)platform_call(SYS_kill, platform_call(SYS_getpid), information->si_signo);
		return;
	}
	/* Fails if the queue is full, which is harmless */
	(void)signal_queue_add(thread, information);
	engine_raise_attention();
	if (thread)
		engine_evaluate(thread);
}

uint64_t signals_swap_mask(uint64_t mask)
{
	struct engine_thread *self = engine_current();
	uint64_t old_mask = self->signals_blocked;

	if (delivery.has_left_control) {
		(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old_mask, sizeof mask);
		return old_mask;
	}
	signal_set_mask(self, mask);
	return old_mask;
}

/* Bounds of the runtime's own code, from the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool signal_delivery_is_in_runtime(const ucontext_t *context)
{
	uintptr_t at = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

	return at >= (uintptr_t)__ehdr_start && at < (uintptr_t)etext;
}

/* Handles a fault, or abort(): the thread cannot continue before. */
static void signal_handle_at_once(int signal, siginfo_t *information, void *context)
{
	struct engine_thread *self = engine_current();

	if (signal != delivery.dying_of && signal_has_handler(signal) &&
		!(self->signals_blocked & signal_bit(signal))) {
		signal_run_handler(self, signal, information, context, false);
		return;
	}
	/* Ends the run, or restores the default action and raises the signal again. */
	runtime_crash(signal, information, context);
	if (signal == delivery.dying_of && delivery.receiver && runtime.contract &&
		!runtime.is_forked_child)
		runtime.contract->outcome.other_thread = delivery.receiver->id;
}

static void signal_entry(int signal, siginfo_t *information, void *context)
{
	int old_errno = errno;

	if (guarded_read_has_failed(signal, information, context) ||
		time_stamp_counter_has_trapped(signal, information, context))
		return;
	if (signal == delivery.dying_of || (signal_is_fault(signal) && information->si_code > 0) ||
		(signal == SIGABRT && information->si_code == SI_TKILL)) {
		signal_handle_at_once(signal, information, context);
		return;
	}
	/* SIGPIPE belongs to the thread that wrote; all other signals belong to the process. */
	signal_arrive(signal == SIGPIPE ? engine_current() : NULL, information);
	engine_raise_attention();
	/* A process without threads may never reach a scheduling point: its handler runs now. */
	if (!engine_is_live() && !engine_current()->op && !signal_delivery_is_in_runtime(context))
		(void)signals_deliver_now();
	errno = old_errno;
}

/* Directs the kernel's signals of this number to the runtime. */
static void signal_take_over(int signal, struct kernel_action *before)
{
	const struct signal_action *action = &delivery.actions[signal];
	unsigned long flags = SA_SIGINFO | SA_NODEFER;

	flags |= (unsigned long)action->flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
	if (!signal_has_handler(signal) || action->flags & SA_RESTART)
		flags |= SA_RESTART;
	/* Faults use the runtime's alternate stack: the thread may have overrun its own. */
	if (signal_is_fault(signal) && (!signal_has_handler(signal) || action->flags & SA_ONSTACK))
		flags |= SA_ONSTACK;
	if (signal == SIGCHLD && action->handler.plain == SIG_IGN)
		flags |= SA_NOCLDWAIT;
	signal_delivery_kernel_install(signal, (void *)signal_entry, flags, 0, before);
}

void signal_catch(int signal)
{
	if (signal != SIGSYS && !delivery.has_left_control)
		signal_take_over(signal, NULL);
}

static void signal_delivery_kernel_set_mask(uint64_t mask)
{
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
}

void signal_leave_to_kernel(uint64_t mask)
{
	delivery.left_to_kernel |= mask & ~signal_unblockable();
	signal_delivery_kernel_set_mask(delivery.left_to_kernel);
}

bool signals_of_descriptors_are_own(void)
{
	return signal_all_are_own(delivery.left_to_kernel);
}

void signal_take_from_kernel(uint64_t mask)
{
	if (!(delivery.left_to_kernel & mask))
		return;
	delivery.left_to_kernel &= ~mask;
	signal_delivery_kernel_set_mask(delivery.left_to_kernel);
}

void runtime_signals_set_up(void)
{
	uint64_t mask = ~UINT64_C(0);

	/* No signal arrives before its action is final. */
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &mask, sizeof mask);
	engine_current()->signals_blocked = mask & ~signal_unblockable();
	for (int signal = 1; signal <= SIGNAL_LAST; signal++) {
		struct kernel_action before = {.handler = (void *)SIG_DFL};

		if (signal_unblockable() & signal_bit(signal) || signal_stops(signal) ||
			signal == SIGSYS || signal == SIGTRAP)
			continue;
		signal_take_over(signal, &before);
		if (before.handler == (void *)SIG_DFL)
			continue;
		if (before.handler == (void *)SIG_IGN)
			delivery.actions[signal].handler.plain = SIG_IGN;
		/* Almost all actions are the default, so one system call suffices for these. */
		(void)platform_call(SYS_rt_sigaction, signal, &before, NULL, sizeof before.mask);
	}
	signal_delivery_kernel_set_mask(0);
}

bool signals_have_left_control(void)
{
	return delivery.has_left_control;
}

void signals_begin_child(void)
{
	signal_queue_clear();
	engine_current()->signals_pending = 0;
}

void signals_give_to_kernel(void)
{
	delivery.has_left_control = true;
	for (int signal = 1; signal <= SIGNAL_LAST; signal++) {
		const struct signal_action *action = &delivery.actions[signal];

		if (!(signal_unblockable() & signal_bit(signal)) && signal != SIGSYS)
			signal_delivery_kernel_install(signal, (void *)action->handler.plain,
				(unsigned long)(unsigned int)action->flags, action->mask, NULL);
	}
	signal_delivery_kernel_set_mask(engine_current()->signals_blocked);
}
