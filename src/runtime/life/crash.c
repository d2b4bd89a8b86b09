/* Fatal signals and hangs. The handler records the failure in the contract and diverts the
 * interrupted context into crash_continue(), as if the interrupted code had called it. The run ends
 * there, in ordinary code on the thread's ordinary stack, which a debugger can unwind. After a
 * stack overflow, the run ends in the handler, on the signal stack. */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/text.h"
#include "runtime/libc/child_run.h"
#include "runtime/libc/time_stamp_counter.h"
#include "runtime/guarded_read.h"
#include "runtime/record.h"
#include "runtime/callers.h"
#include "runtime/runtime.h"

#define KERNEL_SIGSET_BYTES 8
#define SA_RESTORER_FLAG 0x04000000
#define CRASH_STACK_BYTES (64 * 1024)

/* Stack of the handlers, except under rewind: a rewind must not restore it under a running handler. */
static char crash_own_stack[CRASH_STACK_BYTES] __attribute__((aligned(4096)));

void runtime_install_handler(int signal, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = {handler, (unsigned long)flags | SA_SIGINFO | SA_RESTORER_FLAG,
		platform_signal_return, 0};

	(void)platform_call(SYS_rt_sigaction, signal, &action, NULL, KERNEL_SIGSET_BYTES);
}

/* Returns true for signals that the processor raises for a faulting instruction. */
static bool crash_is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
	       signal == SIGTRAP || signal == SIGSYS;
}

static void crash_record(enum outcome_kind kind, int signal, uint64_t site, uint64_t address)
{
	struct outcome *outcome = &runtime.contract->outcome;

	outcome_set(outcome, kind, engine_current()->id, signal);
	outcome->site = site;
	outcome->address = address;
	outcome->step = engine_step();
	outcome->clock_ns = engine_clock_ns();
	if (kind == OUTCOME_ABORT || (kind == OUTCOME_CRASH && !crash_is_fault(signal)))
		engine_blame_blocked(outcome);
}

/* The diverted stack may have any alignment. */
__attribute__((force_align_arg_pointer)) static void crash_continue(void)
{
	runtime_finish_run();
}

/* Makes the return from this signal frame call `entry` at the interrupted instruction, or in its
 * location if the stack already has the return address of a call to no code. */
static void crash_runtime_divert(void *context, void (*entry)(void), bool is_called)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t *top = (uint64_t *)registers[REG_RSP] - 1;

	/* + 1: a call pushes the address behind itself, and an unwinder examines one byte before.
	 * The red zone is overwritten, but the interrupted function never continues. */
	if (!is_called) {
		*top = (uint64_t)registers[REG_RIP] + 1;
		registers[REG_RSP] = (greg_t)top;
	}
	registers[REG_RIP] = (greg_t)(uintptr_t)entry;
	registers[REG_EFL] &= ~(greg_t)0x400; /* direction flag, by the ABI */
}

/* Returns true for a fault near the stack pointer. */
static bool crash_is_stack_overflow(int signal, const siginfo_t *info, const greg_t *registers)
{
	uint64_t stack = (uint64_t)registers[REG_RSP];
	uint64_t address = (uint64_t)(uintptr_t)info->si_addr;

	return (signal == SIGSEGV || signal == SIGBUS) && address < stack + 65536 &&
	       address + 65536 > stack;
}

/* Returns the return address of a call to an address without code; 0: there is no such call. A thread
 * whose library was unloaded has made none: it returns to the library's code, or executes it. */
static uint64_t crash_caller(int signal, const siginfo_t *info, const greg_t *registers)
{
	uint64_t caller = 0;

	if (signal == SIGSEGV &&
		(uint64_t)(uintptr_t)info->si_addr == (uint64_t)registers[REG_RIP] &&
		!runtime_unload_site((uintptr_t)registers[REG_RIP]))
		(void)guarded_read((const void *)registers[REG_RSP], sizeof caller, &caller);
	return caller;
}

/* Returns the address that the instruction used. The processor does not report addresses that no
 * memory can have. */
static uint64_t crash_address(int signal, const siginfo_t *info)
{
	if (signal == SIGABRT)
		return 0;
	return info->si_code == SI_KERNEL ? OUTCOME_NO_MEMORY : (uint64_t)(uintptr_t)info->si_addr;
}

/* Code address of the call that aborts; runtime_crash() stores it in outcome.other_site. A rewind restores it. */
static uint64_t abort_site;

void runtime_note_abort(uint64_t site)
{
	abort_site = site;
}

/* Returns whether the target wrote to a sealed part of the runtime's memory. */
static bool crash_is_stray_write(int signal, const siginfo_t *info)
{
	return signal == SIGSEGV && info->si_code == SEGV_ACCERR && platform_owns(info->si_addr);
}

void runtime_crash(int signal, const siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint64_t caller = crash_caller(signal, info, registers);
	uint64_t site = caller ? caller - 1 : (uint64_t)registers[REG_RIP];
	const uint64_t address = crash_address(signal, info);

	if (!runtime.contract || runtime.is_forked_child) {
		/* The failure is not the run's own: default action at once. */
		void *none[4] = {0};

		child_run_report_death(signal == SIGABRT ? OUTCOME_ABORT : OUTCOME_CRASH, signal,
			signal == SIGABRT && abort_site ? abort_site - 1 : site, address);

		(void)platform_call(SYS_rt_sigaction, signal, none, NULL, KERNEL_SIGSET_BYTES);
		(void)platform_call(
			SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), signal);
		return;
	}
	if (runtime_is_own_code(site) && !crash_is_fault(signal))
		site = engine_current()->last_site; /* the signal arrived in this call */
	crash_record(signal == SIGABRT ? OUTCOME_ABORT : OUTCOME_CRASH, signal, site, address);
	runtime.contract->is_overwritten = crash_is_stray_write(signal, info);
	runtime.contract->outcome.other_site =
		signal == SIGABRT ? abort_site : runtime_unload_site(address);
	if (crash_is_stack_overflow(signal, info, registers)) {
		struct text text;

		text_init(&text, runtime.contract->outcome.text,
			sizeof runtime.contract->outcome.text);
		text_add(&text, "stack overflow");
		runtime_finish_run(); /* here, because the thread's own stack has no room */
	}
	crash_runtime_divert(context, crash_continue, caller != 0);
}

static void crash_handle(int signal, siginfo_t *info, void *context)
{
	if (!guarded_read_has_failed(signal, info, context) &&
		!time_stamp_counter_has_trapped(signal, info, context) &&
		!record_stub_has_failed(signal, info, context))
		runtime_crash(signal, info, context);
}

/* Returns true in a blocking system call made directly by code of the target. */
static bool crash_was_asleep(const greg_t *registers)
{
	const char *next = (const char *)registers[REG_RIP];

	return registers[REG_RAX] == -EINTR &&
	       (next < platform_syscalls_start || next > platform_syscalls_end) &&
	       next[-2] == 0x0f && next[-1] == 0x05; /* the instruction syscall */
}

void runtime_hang(void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	/* A run that has an outcome is no hang: the command may inspect it. */
	if (!runtime.contract || runtime.is_forked_child || runtime.contract->outcome.kind)
		return;
	if (!runtime.has_dispatch && crash_was_asleep(registers))
		runtime_refuse(
			"a library waits by its own system call, as libgomp does; raddle sees this only with Syscall User Dispatch: Linux 5.11, without --no-dispatch");
	crash_record(OUTCOME_HANG, 0, (uint64_t)registers[REG_RIP], 0);
	crash_runtime_divert(context, crash_continue, false);
}

void runtime_fail_run(const char *why)
{
	struct text text;

	if (!runtime.contract || runtime.is_forked_child)
		return;
	crash_record(OUTCOME_CHECK_FAILED, 0, 0, 0);
	text_init(&text, runtime.contract->outcome.text, sizeof runtime.contract->outcome.text);
	text_add(&text, why);
	runtime_finish_run();
}

void *runtime_crash_stack(void *own)
{
	stack_t stack = {.ss_size = CRASH_STACK_BYTES,
		.ss_sp = own ? own : platform_map(CRASH_STACK_BYTES, true)};

	if (stack.ss_sp) /* a stack overflow ends the process if memory is short */
		(void)platform_call(SYS_sigaltstack, &stack, NULL);
	return stack.ss_sp;
}

void runtime_crash_stack_free(void *stack)
{
	if (stack)
		platform_unmap(stack, CRASH_STACK_BYTES);
}

void runtime_crash_set_up(void)
{
	static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

	(void)runtime_crash_stack(runtime.restart == &restart_rewind ? NULL : crash_own_stack);
	for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)

		runtime_install_handler(fatal[i], crash_handle, SA_ONSTACK | SA_NODEFER);
	runtime_dispatch_set_up(); /* the command also reports hangs by SIGSYS */
}
