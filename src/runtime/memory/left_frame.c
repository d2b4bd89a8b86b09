/*
 * Accesses to the frame of another thread's function that has returned: typically a lambda that captured a
 * local variable by reference and runs too late.
 *
 * A thread that does not move has its pending operation in the runtime's frame on its stack. Memory below the
 * operation belongs to no function. Above it, up to the newest frame of the program, lie the runtime's own
 * frames. A frame that a newer one overlaps is not recognised. Only stacks of the runtime and of main count:
 * below a stack that the program provides lies memory of the program.
 */
#include "runtime/callers.h"
#include "base/bitset.h"
#include "base/hash.h"
#include "base/hot_state.h"
#include "runtime/memory/memory_internal.h"

/* Below a stack pointer. Larger frames are rare, and gaps between stacks are larger. */
#define FRAMES_BYTES ((uintptr_t)64 * 1024)
/* Upper bound for the runtime's frames of a call. */
#define OWN_BYTES ((uintptr_t)4 * 1024)

/* Returns whether the memory lies below all frames of the program. An access of raddle-cc is no call, so
 * the newest frame is not known there. */
static bool left_frame_is_below(const struct engine_thread *thread, uintptr_t address)
{
	const uintptr_t operation = (uintptr_t)thread->op;

	if (address < operation)
		return operation - address < FRAMES_BYTES;
	return address - operation < OWN_BYTES &&
	       op_descriptions[thread->op->kind].object != OBJECT_MEMORY &&
	       address < runtime_newest_frame(thread);
}

static const struct engine_thread *left_frame_find_owner(uintptr_t address)
{
	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		const struct engine_thread *thread = engine_thread(i);

		if (thread != engine_current() && thread->state == THREAD_ALIVE && thread->op &&
			memory_is_on_stack(thread->op) && left_frame_is_below(thread, address))
			return thread;
	}
	return NULL;
}

/* A bit is set if a thread has accessed a variable on the stack of another thread in this run. A hash of both gives the
 * number of the bit. */
#define STRANGERS 4096
static HOT_STATE uint64_t left_frame_strangers[STRANGERS / 64];

void memory_forget_strangers(void)
{
	for (uint32_t i = 0; i < STRANGERS / 64; i++) {
		left_frame_strangers[i] = 0;
		__asm__ volatile("" ::: "memory"); /* keeps the compiler from calling memset() */
	}
}

static bool left_frame_is_on_own_stack(uintptr_t address)
{
	const struct engine_thread *self = engine_current();
	const uintptr_t base = self->id.index ? self->handle : runtime.main_base;

	return address >= (uintptr_t)__builtin_frame_address(0) && address < base;
}

/* Only the first access counts. The fast path (quick.h) hides some of the later ones from this function, but not in a
 * replay, which must behave in the same way. */
bool memory_is_first_on_other_stack(const void *address, object_name variable)
{
	const uint64_t bit = hash_pair(engine_current()->name, variable) % STRANGERS;

	if (left_frame_is_on_own_stack((uintptr_t)address) || bitset_has(left_frame_strangers, bit))
		return false;
	bitset_add(left_frame_strangers, bit);
	return true;
}

void memory_check_left_frame(const struct memory_access *access)
{
	const uintptr_t address = (uintptr_t)access->address;
	const struct engine_thread *owner = left_frame_find_owner(address);
	struct outcome verdict;

	if (!owner)
		return;
	memory_keep_for_replay(access);
	outcome_set(&verdict, OUTCOME_USE_AFTER_RETURN, engine_current()->id, 0);
	verdict.site = access->site;
	verdict.op = (uint8_t)memory_op(access->kind);
	verdict.address = address;
	verdict.other_thread = owner->id;
	verdict.other_op = owner->op->kind;
	verdict.other_site = owner->op->site;
	engine_fail_by_verdict(&verdict);
}
