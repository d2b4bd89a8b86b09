/* Virtual time in the processor's time stamp counter. The kernel makes rdtsc and rdtscp raise
 * SIGSEGV (PR_SET_TSC), and the handlers here execute the instruction: one tick per nanosecond of
 * CLOCK_MONOTONIC. Runs in the thread that reads the counter.
 *
 * Children and executed programs inherit the trap, but not the handlers. The trap is therefore
 * armed together with the dispatch, which sees those calls, and released during them. Before the
 * first thread of the target the counter shows real time, and so it does in targets that contain no
 * such instruction at their start. */
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/hot_state.h"
#include "base/starts_with.h"
#include "runtime/guarded_read.h"
#include "runtime/interpose.h"
#include "runtime/libc/time_stamp_counter.h"
#include "runtime/libc/world.h"

#define RDTSC UINT64_C(0x310f)
#define RDTSC_BYTES 2
#define RDTSCP UINT64_C(0xf9010f)
#define RDTSCP_BYTES 3

#define TICKS_PER_NS 2 /* about the rate of real counters */

static HOT_STATE bool time_stamp_counter_is_virtual; /* written at set-up */

static bool time_stamp_counter_is_system(const char *name)
{
	static const char *const libraries[] = {"ld-linux", "linux-vdso", "libc.so", "libm.so",
		"libgcc_s.so", "libstdc++.so", "libraddle"};

	return STARTS_WITH_ANY(name, libraries);
}

/* Returns 1 if the module contains the bytes of an instruction that reads the counter. They may
 * also be a part of other instructions, which costs only the price of the trap. */
static int time_stamp_counter_search(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	(void)unused;
	if (time_stamp_counter_is_system(name ? name + 1 : info->dlpi_name))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const void *code = (const void *)(info->dlpi_addr + header->p_vaddr);

		if (header->p_type == PT_LOAD && header->p_flags & PF_X && header->p_flags & PF_R &&
			(memmem(code, header->p_filesz, "\x0f\x31", RDTSC_BYTES) ||
				memmem(code, header->p_filesz, "\x0f\x01\xf9", RDTSCP_BYTES)))
			return 1;
	}
	return 0;
}

void time_stamp_counter_set_up(void)
{
	time_stamp_counter_is_virtual = dl_iterate_phdr(time_stamp_counter_search, NULL) != 0;
}

/* Where the kernel refuses, the counter shows real time. */
static void time_stamp_counter_set(int mode)
{
	if (time_stamp_counter_is_virtual)
		(void)platform_call(SYS_prctl, PR_SET_TSC, mode, 0, 0, 0);
}

void time_stamp_counter_trap(void)
{
	time_stamp_counter_set(PR_TSC_SIGSEGV);
}

void time_stamp_counter_release(void)
{
	time_stamp_counter_set(PR_TSC_ENABLE);
}

/* Returns the length of the instruction at the address if it reads the counter; else 0. */
static int time_stamp_counter_instruction(greg_t address)
{
	uint64_t bytes = 0;

	for (int i = RDTSCP_BYTES; i-- > 0;) {
		uint64_t byte = 0;

		(void)guarded_read((const void *)(address + i), 1, &byte);
		bytes = bytes << 8 | byte;
	}
	if ((bytes & 0xffff) == RDTSC)
		return RDTSC_BYTES;
	return bytes == RDTSCP ? RDTSCP_BYTES : 0;
}

bool time_stamp_counter_has_trapped(int signal, const siginfo_t *info, const void *context)
{
	const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
	const uint64_t blocked = signal_bit(SIGSYS);

	if (signal != SIGSEGV || info->si_code != SI_KERNEL || !time_stamp_counter_is_virtual ||
		!time_stamp_counter_instruction(registers[REG_RIP]))
		return false;
	/* This handler may use the alternate stack, where no other thread can be scheduled. The
	 * return from this handler unblocks SIGSYS. */
	(void)platform_call(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, NULL, sizeof blocked);
	(void)platform_call(
		SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), SIGSYS);
	return true;
}

void time_stamp_counter_read(void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	const int length = time_stamp_counter_instruction(registers[REG_RIP]);
	uint64_t ns = 0;

	if (!length)
		return;
	(void)time_read(CLOCK_MONOTONIC, &ns);
	registers[REG_RAX] = (greg_t)(ns & UINT32_MAX);
	registers[REG_RDX] = (greg_t)(ns >> 32);
	if (length == RDTSCP_BYTES)
		registers[REG_RCX] = (greg_t)affinity_processor();
	registers[REG_RIP] += length;
}

uint64_t time_stamp_counter_real(void)
{
	return time_stamp_counter_is_virtual ? TICKS_PER_NS * platform_monotonic_ns()
					     : __builtin_ia32_rdtsc();
}
