/*
 * Jumps out of signal handlers. The mask that sigsetjmp() saves and siglongjmp() puts back is the
 * kernel's, by calls inside libc: dispatch turns them into those of the engine's mask. Where there is
 * no dispatch, the mask from before the handlers takes its place.
 */
#include <setjmp.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/world.h"

/* glibc keeps the stack pointer scrambled. */
#define PLACE_STACK_POINTER 6

static uintptr_t jump_stack_pointer(const struct __jmp_buf_tag *place)
{
	uintptr_t pointer = (uintptr_t)place->__jmpbuf[PLACE_STACK_POINTER];

	__asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "+r"(pointer) : : "cc");
	return pointer;
}

typedef void jump_function(struct __jmp_buf_tag *, int);

static void jump(struct symbol_slot *next, struct __jmp_buf_tag place[1], int value)
	__attribute__((noreturn));
static void jump(struct symbol_slot *next, struct __jmp_buf_tag place[1], int value)
{
	if (runtime.jumps_to)
		runtime.jumps_to(jump_stack_pointer(place));
	if (!signals_have_left_control())
		signal_left_handlers(place->__mask_was_saved && !runtime.has_dispatch);
	((jump_function *)symbol_slot_function(next))(place, value);
	__builtin_unreachable();
}

#undef longjmp
#undef siglongjmp

EXPORT void longjmp(struct __jmp_buf_tag place[1], int value)
{
	ENTER();
	jump(SYMBOL_SLOT("longjmp"), place, value);
}

EXPORT void _longjmp(struct __jmp_buf_tag place[1], int value)
{
	ENTER();
	jump(SYMBOL_SLOT("_longjmp"), place, value);
}

EXPORT void siglongjmp(struct __jmp_buf_tag place[1], int value)
{
	ENTER();
	jump(SYMBOL_SLOT("siglongjmp"), place, value);
}

void __longjmp_chk(struct __jmp_buf_tag place[1], int value) __attribute__((noreturn));

EXPORT void __longjmp_chk(struct __jmp_buf_tag place[1], int value)
{
	ENTER();
	jump(SYMBOL_SLOT("__longjmp_chk"), place, value);
}
