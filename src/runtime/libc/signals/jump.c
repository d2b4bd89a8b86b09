/* Jumps, also out of signal handlers. sigsetjmp() (setjmp.S) saves the engine's mask of the thread,
 * siglongjmp() restores it. The kernel's mask is unchanged. */
#include <setjmp.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/world.h"

/* glibc scrambles the stack pointer in a jmp_buf. */
#define JUMP_STACK_POINTER 6

static uintptr_t jump_stack_pointer(const struct __jmp_buf_tag *buffer)
{
	uintptr_t pointer = (uintptr_t)buffer->__jmpbuf[JUMP_STACK_POINTER];

	__asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(pointer) : : "cc");
	return pointer;
}

__attribute__((visibility("hidden"))) void jump_save_mask(
	struct __jmp_buf_tag *buffer, int saves_mask);
void jump_save_mask(struct __jmp_buf_tag *buffer, int saves_mask)
{
	ENTER();
	buffer->__mask_was_saved = saves_mask != 0;
	if (!saves_mask)
		return;
	if (signals_have_left_control())
		(void)platform_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &buffer->__saved_mask,
			sizeof(uint64_t));
	else
		buffer->__saved_mask.__val[0] = engine_current()->signals_blocked;
}

typedef void jump_function(struct __jmp_buf_tag *, int);

static void jump(struct symbol_slot *next, struct __jmp_buf_tag buffer[1], int value)
	__attribute__((noreturn));
static void jump(struct symbol_slot *next, struct __jmp_buf_tag buffer[1], int value)
{
	struct __jmp_buf_tag without_mask = *buffer;

	if (runtime.jumps_to)
		runtime.jumps_to(jump_stack_pointer(buffer));
	if (!signals_have_left_control()) {
		signal_left_handlers();
		if (buffer->__mask_was_saved)
			signal_set_mask(engine_current(), signal_set_bits(&buffer->__saved_mask));
		(void)signals_deliver_now();	   /* new signals are delivered before the jump */
		without_mask.__mask_was_saved = 0; /* libc would restore the mask in the kernel */
	}
	((jump_function *)symbol_slot_function(next))(&without_mask, value);
	__builtin_unreachable();
}

#undef longjmp
#undef siglongjmp

EXPORT void longjmp(struct __jmp_buf_tag buffer[1], int value)
{
	ENTER();
	jump(SYMBOL_SLOT("longjmp"), buffer, value);
}

EXPORT void _longjmp(struct __jmp_buf_tag buffer[1], int value)
{
	ENTER();
	jump(SYMBOL_SLOT("_longjmp"), buffer, value);
}

EXPORT void siglongjmp(struct __jmp_buf_tag buffer[1], int value)
{
	ENTER();
	jump(SYMBOL_SLOT("siglongjmp"), buffer, value);
}

void __longjmp_chk(struct __jmp_buf_tag buffer[1], int value) __attribute__((noreturn));

EXPORT void __longjmp_chk(struct __jmp_buf_tag buffer[1], int value)
{
	ENTER();
	jump(SYMBOL_SLOT("__longjmp_chk"), buffer, value);
}
