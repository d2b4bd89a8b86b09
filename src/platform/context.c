#include <asm/prctl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "platform/platform.h"

#define HWCAP2_FSGSBASE_BIT 2

void context_entry(void);

void context_make(struct context *context, void *stack_top, uintptr_t thread_base,
	void (*entry)(void *), void *argument)
{
	uintptr_t *slot = (uintptr_t *)((uintptr_t)stack_top & ~(uintptr_t)15);
	uint32_t sse_control;
	uint16_t x87_control;

	__asm__ volatile("stmxcsr %0" : "=m"(sse_control));
	__asm__ volatile("fnstcw %0" : "=m"(x87_control));
	/* Two words keep the stack 16-byte aligned at the call inside context_entry. */
	*--slot = 0;
	*--slot = 0;
	*--slot = (uintptr_t)context_entry;
	*--slot = 0; /* rbp: 0 ends the chain of frame pointers */
	*--slot = (uintptr_t)entry;
	*--slot = (uintptr_t)argument;
	*--slot = 0;
	*--slot = 0;
	*--slot = 0;
	*--slot = (uintptr_t)sse_control | (uintptr_t)x87_control << 32;
	context->stack_pointer = slot;
	context->thread_base = thread_base;
}

uintptr_t context_thread_base(void)
{
	uintptr_t base;

	__asm__ volatile("movq %%fs:0x10, %0" : "=r"(base));
	return base;
}

void context_set_thread_base(uintptr_t base)
{
	if (context_has_fsgsbase())
		__asm__ volatile("wrfsbase %0" : : "r"(base) : "memory");
	else
		(void)platform_call(
			SYS_arch_prctl, ARCH_SET_FS, base); /* a valid base cannot fail */
}

bool context_has_fsgsbase(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT;
}

long platform_fork(void)
{
	uint32_t *thread_word = NULL;

	(void)platform_call(SYS_prctl, PR_GET_TID_ADDRESS, &thread_word);
	return platform_call(
		SYS_clone, thread_word ? CLONE_CHILD_SETTID : 0, NULL, NULL, thread_word, NULL);
}
