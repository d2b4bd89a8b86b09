/*
 * Set-up of this guest, crash handlers, and the functions that src/runtime/sites/sites.c needs.
 * The command sees by itself how a run ends; only crashes and aborts are reported.
 */
#include "noise/startup.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/text.h"
#include "noise/noise.h"
#include "runtime/attach.h"
#include "runtime/guarded_read.h"
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/runtime.h"
#include "runtime/quick.h"
#include "runtime/sites.h"
#include "compiler/tsan/hook.h"

#define SA_RESTORER_FLAG 0x04000000
#define KERNEL_SIGSET_BYTES 8

/* Only contract and is_forked_child are used; written before threads exist */
struct runtime runtime;
bool runtime_is_up; /* written once, by runtime_set_up() */

static struct {
	uint32_t decided;     /* number of sites that are switched in this process */
	uint32_t has_crashed; /* the first crash is the outcome */
} startup;

static __thread uint64_t abort_site;

struct contract_noise *noise_log(void)
{
	struct contract *contract = runtime.contract;

	return contract && !runtime.is_forked_child
		       ? contract_area(contract, contract->noise_offset)
		       : NULL;
}

uint64_t noise_seed(void)
{
	const struct contract_plan *plan = &runtime.contract->plan;

	return hash_pair(plan->seed, plan->run_first);
}

/* ---- end of the process ---- */

static void leave_process(void) __attribute__((noreturn));
static void leave_process(void)
{
	for (;;)
		(void)platform_call(SYS_exit_group, 127);
}

void bug_report(const char *condition, const char *file, int line)
{
	char buffer[256];
	struct text text;

	text_init(&text, buffer, sizeof buffer);
	text_add(&text, "raddle: internal error in the runtime: ");
	text_add(&text, condition);
	text_add(&text, " at ");
	text_add(&text, file);
	text_add(&text, ":");
	text_unsigned(&text, (uint64_t)line);
	text_add(&text, "\n");
	/* A failure cannot be reported */
	(void)platform_call(SYS_write, 2, buffer, text_length(&text));
	leave_process();
}

void runtime_refuse(const char *why)
{
	struct contract *contract = runtime.contract;
	struct text text;

	outcome_set(&contract->outcome, OUTCOME_REFUSED, THREAD_NONE, REFUSAL_PROGRAM);
	text_init(&text, contract->outcome.text, sizeof contract->outcome.text);
	text_add(&text, why);
	contract->report = REPORT_REFUSED;
	leave_process();
}

/* ---- crashes ---- */

void runtime_note_abort(uint64_t site)
{
	abort_site = site;
}

static void set_action(int signal, void (*handler)(int, siginfo_t *, void *))
{
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = {handler, SA_SIGINFO | SA_RESTORER_FLAG | SA_ONSTACK | SA_NODEFER,
		platform_signal_return, 0};

	/* Cannot fail: signals and memory are valid. */
	(void)platform_call(SYS_rt_sigaction, signal, &action, NULL, KERNEL_SIGSET_BYTES);
}

/*
 * Records the crash. After the return the signal is raised again, and ends the process as it
 * would natively.
 */
static void startup_crash_handle(int signal, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct contract *contract = runtime.contract;

	if (guarded_read_has_failed(signal, info, context))
		return;
	if (noise_log() && !__atomic_exchange_n(&startup.has_crashed, 1, __ATOMIC_RELAXED)) {
		outcome_set(&contract->outcome, signal == SIGABRT ? OUTCOME_ABORT : OUTCOME_CRASH,
			(struct thread_id){noise_thread.number}, signal);
		contract->outcome.site = (uint64_t)registers[REG_RIP];
		if (signal == SIGABRT)
			contract->outcome.other_site = abort_site;
		else
			contract->outcome.address = (uint64_t)(uintptr_t)info->si_addr;
	}
	set_action(signal, NULL);
	if (info->si_code <= 0) /* sent by a process: the signal must be raised again */
		(void)platform_call(
			SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), signal);
}

/* ---- functions that sites.c and others need ---- */

void heap_start_recording(void)
{
	/* The table of blocks works from the beginning. */
}

void tsan_begin(void)
{
	ENTER();
	if (noise_log())
		runtime.contract->has_memory_sites = 1;
}

static bool startup_site_is_on(uint8_t kind, uint8_t state)
{
	return kind < SITE_FUNCTION_ENTRY && kind != SITE_FENCE && state & SITE_ON;
}

/*
 * Decides once per process which sites are on, because code is patched only before it runs. While
 * the sharing is learnt, all sites are on; afterwards, those that touch shared memory and those
 * that have never run.
 */
bool sites_apply(void)
{
	struct contract_memory *memory = sites_memory();

	for (; startup.decided < memory->site_count; startup.decided++) {
		uint8_t *state = &memory->sites[startup.decided];
		const bool is_on =
			!memory->is_frozen || *state & SITE_SHARED || !(*state & SITE_SEEN);

		*state = (uint8_t)((*state & ~SITE_ON) | (is_on ? SITE_ON : 0));
	}
	return sites_switch(startup_site_is_on);
}

/* ---- set-up ---- */

static void forked(void)
{
	runtime.is_forked_child = true;
	sites_are_live = SITES_QUIET;
}

void runtime_set_up(void)
{
	static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
	struct contract_memory *memory;

	if (runtime_is_up)
		return;
	runtime_is_up = true;
	runtime.contract = attach_contract();
	if (!runtime.contract)
		return;
	if (runtime.contract->version != CONTRACT_VERSION || !runtime.contract->noise_bytes)
		runtime_refuse("libraddle-noise.so and raddle are of different versions; install "
			       "them together");
	memory = sites_memory();
	memory->sites_on = 1; /* modules switch their sites when they are loaded */
	for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
		set_action(fatal[i], startup_crash_handle);
}

void runtime_enter(uint64_t site)
{
	(void)site;
	runtime_set_up();
}

/* Threads run at full speed: the end of an interposed function is no scheduling point. */
void focus_left(const char *unused)
{
	(void)unused;
}

__attribute__((constructor)) static void startup_constructor(void)
{
	runtime_set_up();
	attach_clean_environment(environ);
	/* Without memory, a forked child reports its accesses too */
	(void)pthread_atfork(NULL, NULL, forked);
}

/* Waits until the command has read the addresses of the modules. */
static void wait_for_inspection(struct contract *contract)
{
	__atomic_store_n(&contract->command, COMMAND_NONE, __ATOMIC_RELAXED);
	__atomic_store_n(&contract->report, REPORT_INSPECT, __ATOMIC_RELEASE);
	(void)__atomic_add_fetch(&contract->doorbell, 1, __ATOMIC_RELEASE);
	platform_futex_wake(&contract->doorbell, 1, true);
	while (__atomic_load_n(&contract->command, __ATOMIC_ACQUIRE) == COMMAND_NONE)
		platform_futex_wait(&contract->command, COMMAND_NONE, UINT64_MAX, true);
}

void noise_go_live(void)
{
	struct contract *contract = runtime.contract;

	contract->is_live = 1;
	if (contract->plan.inspect)
		wait_for_inspection(contract);
	sites_are_live = SITES_LIVE;
}
