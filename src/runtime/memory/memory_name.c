/* Names of memory that are equal in every run: docs/decisions/0002. The functions are on the path
 * of each watched access: they make no system call, take no lock and allocate nothing. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/hot_state.h"
#include "model/thread_name.h"
#include "engine/engine.h"
#include "runtime/heap.h"
#include "runtime/runtime.h"

enum memory_family { FAMILY_STACK = 1, FAMILY_MODULE, FAMILY_REST };

/* Bound of glibc's block of a thread, above the thread-local base. */
#define THREAD_BLOCK_BYTES 4096
/* Bound of main's static thread-local variables, below its base. */
#define MAIN_LOCALS_BYTES 65536
/* Bound of main's arguments and environment, above its stack. */
#define MAIN_ARGUMENTS_BYTES ((uintptr_t)1 << 20)
/* Bound of stacks whose size the program chose. */
#define STACK_BYTES_MOST ((uintptr_t)1 << 30)
/* Bytes below a stack pointer that belong to the stack. */
#define RED_ZONE_BYTES 256

extern void *__libc_stack_end;

/* 0: not yet known. Written by the moving thread. */
static HOT_STATE size_t stack_standard_bytes;

static variable_name memory_name_name_of(uint64_t family, uint64_t owner, uint64_t offset)
{
	return hash_pair(hash_pair(family, owner), offset / 8) | 1;
}

static void memory_name_find_stack_standard(void)
{
	pthread_attr_t none;

	if (!stack_standard_bytes) {
		(void)pthread_attr_init(&none);
		(void)pthread_attr_getstacksize(&none, &stack_standard_bytes);
		(void)pthread_attr_destroy(&none);
	}
}

/* Stack, thread-local variables and glibc's block lie in one mapping, in this order, with the
 * thread-local base at a fixed location. The distance to the base is a name that is equal under every
 * executor and in every pooled stack. */
static uintptr_t memory_name_stack_reach(const struct engine_thread *thread)
{
	const uintptr_t pointer = thread == engine_current()
					  ? (uintptr_t)__builtin_frame_address(0)
					  : (uintptr_t)thread->context.stack_pointer;
	const uintptr_t live = thread->handle - pointer + RED_ZONE_BYTES;

	return pointer && live > stack_standard_bytes && live < STACK_BYTES_MOST
		       ? live
		       : stack_standard_bytes;
}

/* Separates main's original frames from the stack of its own that main's code may have. */
#define MAIN_FRAME_DEPTH ((uint64_t)1 << 40)
/* Separates the frames of main() from those of its callers. */
#define MAIN_BASE_DEPTH ((uint64_t)1 << 41)

static bool memory_name_main_holds(uintptr_t address, uint64_t *depth)
{
	const uintptr_t end = (uintptr_t)__libc_stack_end;
	const uintptr_t base = engine_thread(0)->handle;

	if (runtime.main_stack_end) {
		*depth = runtime.main_stack_end - address;
		if (*depth < stack_standard_bytes)
			return true;
		/* Depths above main's frame count from the frame, because the environment's size
		 * varies. */
		*depth = MAIN_FRAME_DEPTH + (address - runtime.main_frame);
		if (address >= runtime.main_frame && address < end)
			return true;
	}
	*depth = end - address;
	if (address < runtime.main_base)
		*depth = MAIN_BASE_DEPTH +
			 (runtime.main_base - address); /* the same in all layouts */
	if (address < end ? end - address < stack_standard_bytes
			  : address - end < MAIN_ARGUMENTS_BYTES)
		return true;
	*depth = base - address;
	return address < base ? base - address < MAIN_LOCALS_BYTES
			      : address - base < THREAD_BLOCK_BYTES;
}

static bool memory_name_thread_holds(
	const struct engine_thread *thread, uintptr_t address, uint64_t *depth)
{
	const uintptr_t base = thread->handle;

	*depth = base - address;
	if (!base)
		return false;
	return address < base ? base - address < memory_name_stack_reach(thread)
			      : address - base < THREAD_BLOCK_BYTES;
}

/* Returns false for most addresses that are in no thread's stack: those far below and above all stacks. */
static bool memory_name_is_among_stacks(uintptr_t address)
{
	return address >= engine_lowest_handle() - STACK_BYTES_MOST &&
	       address < engine_highest_handle() + THREAD_BLOCK_BYTES;
}

/* Names an address on a stack by the thread with the nearest thread-local base above the
 * address. */
static variable_name memory_name_stack_name(uintptr_t address)
{
	const struct engine_thread *self = engine_current(), *owner = NULL;
	const uint32_t count = memory_name_is_among_stacks(address) ? engine_thread_count() : 0;
	uint64_t depth = 0, nearest = UINT64_MAX;

	if (self->id.index && address >= (uintptr_t)__builtin_frame_address(0) &&
		memory_name_thread_holds(self, address, &depth))
		return memory_name_name_of(FAMILY_STACK, self->name, depth);
	for (uint32_t i = 1; i < count; i++) {
		const struct engine_thread *thread = engine_thread(i);

		if (thread->state != THREAD_REAPED &&
			memory_name_thread_holds(thread, address, &depth) &&
			depth + THREAD_BLOCK_BYTES < nearest) {
			nearest = depth + THREAD_BLOCK_BYTES;
			owner = thread;
		}
	}
	if (owner)
		return memory_name_name_of(FAMILY_STACK, owner->name, nearest - THREAD_BLOCK_BYTES);
	if (memory_name_main_holds(address, &depth))
		return memory_name_name_of(FAMILY_STACK, engine_thread(0)->name, depth);
	return 0;
}

bool memory_is_own_stack(const void *address)
{
	const struct engine_thread *self = engine_current();
	const uintptr_t at = (uintptr_t)address;
	uint64_t depth;

	memory_name_find_stack_standard();
	if (at < (uintptr_t)__builtin_frame_address(0))
		return false;
	return self->id.index ? memory_name_thread_holds(self, at, &depth)
			      : memory_name_main_holds(at, &depth);
}

bool memory_is_common(const void *pointer)
{
	const uintptr_t address = (uintptr_t)pointer & ~(uintptr_t)7;
	struct heap_block block;
	uint64_t depth;
	uint32_t count;

	if (heap_find_any((const void *)address, &block))
		return block.thread == THREAD_NAME_MAIN;
	if (engine_static_name((const void *)address))
		return true;
	memory_name_find_stack_standard();
	count = memory_name_is_among_stacks(address) ? engine_thread_count() : 0;
	for (uint32_t i = 1; i < count; i++)
		if (memory_name_thread_holds(engine_thread(i), address, &depth))
			return false;
	return memory_name_main_holds(address, &depth);
}

/* Names static data of modules loaded after the engine got its list. */
static variable_name memory_name_late_module_name(uintptr_t address)
{
	struct dl_find_object object;
	const char *name;

	if (_dl_find_object((void *)address, &object) || !object.dlfo_link_map)
		return 0;
	name = strrchr(object.dlfo_link_map->l_name, '/');
	name = name ? name + 1 : object.dlfo_link_map->l_name;
	return memory_name_name_of(FAMILY_MODULE, hash_bytes(name, strlen(name)),
		address - (uintptr_t)object.dlfo_map_start);
}

uint64_t memory_code_name(uint64_t address)
{
	struct dl_find_object object;
	const char *name;

	if (_dl_find_object((void *)(uintptr_t)address, &object))
		return address;
	name = object.dlfo_link_map ? strrchr(object.dlfo_link_map->l_name, '/') : NULL;
	name = name ? name + 1 : "";
	return hash_pair(hash_bytes(name, strlen(name)),
		address - (uint64_t)(uintptr_t)object.dlfo_map_start);
}

static variable_name memory_name_in_block(const struct heap_block *block, uintptr_t address)
{
	const uint64_t granule = (address - block->start) / 8;

	return memory_group_name(memory_block_group(block, granule), granule);
}

variable_name memory_lasting_name(const void *pointer, bool *is_freed)
{
	const uintptr_t address = (uintptr_t)pointer & ~(uintptr_t)7;
	struct heap_block block;

	*is_freed = false;
	/* A freed block keeps its name: a use after free accesses the same variable. */
	if (heap_find_any((const void *)address, &block)) {
		*is_freed = block.is_freed;
		return memory_name_in_block(&block, address);
	}
	return engine_static_name((const void *)address);
}

variable_name memory_quick_name(const void *pointer)
{
	bool is_freed;
	const variable_name name = memory_lasting_name(pointer, &is_freed);

	return name || !stack_standard_bytes
		       ? name
		       : memory_name_stack_name((uintptr_t)pointer & ~(uintptr_t)7);
}

variable_name memory_variable_name(const void *pointer)
{
	const uintptr_t address = (uintptr_t)pointer & ~(uintptr_t)7;
	variable_name name;

	memory_name_find_stack_standard();
	name = memory_quick_name(pointer);
	if (!name)
		name = memory_name_late_module_name(address);
	/* Loader, sanitizers, early mappings: the address, equal while the layout is. */
	return name ? name : memory_name_name_of(FAMILY_REST, 0, address);
}

object_name memory_object_name(const void *pointer)
{
	variable_name name;

	memory_name_find_stack_standard();
	name = memory_quick_name(pointer);
	/* Small objects may share one granule: the offset is part of the name. */
	return name ? (object_name)hash_pair(name, (uintptr_t)pointer & 7) | 1 : 0;
}

uint32_t memory_block_class(uint64_t address)
{
	struct heap_block block;

	return heap_find_any((const void *)(uintptr_t)address, &block)
		       ? (uint32_t)hash_pair(FAMILY_REST + 1, block.site) | 1
		       : 0;
}

uint32_t memory_class(uint64_t address)
{
	const uint32_t class = memory_block_class(address);

	if (class)
		return class;
	return engine_static_name((const void *)(uintptr_t)address) ? FAMILY_MODULE : FAMILY_REST;
}
