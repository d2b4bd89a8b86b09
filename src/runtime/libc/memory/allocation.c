/*
 * Interposed allocation functions. glibc's functions do the allocation; the runtime records blocks
 * while heap_is_recording is set (heap.h). Otherwise each function is a test and a jump.
 *
 * A block belongs to the innermost caller outside of the libraries that allocate for others. A
 * function that allocates by calling malloc (operator new, strdup) therefore leaves its caller's
 * address for the first allocation inside it.
 *
 * The loader calls these functions before set-up, and looking up glibc's may allocate.
 */
#define __NO_INLINE__ 1 /* their inline getline would hide ours */

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <wchar.h>

#include "base/hot_state.h"
#include "engine/c11.h"
#include "engine/store_buffer.h"
#include "runtime/heap.h"
#include "runtime/interpose.h"
#include "runtime/returned.h"
#include "runtime/runtime.h"
#include "runtime/thread_stacks.h"
#include "runtime/undo.h"

#define EARLY_BYTES 4096

static HOT_STATE struct {
	/* Call site of the outer call that is about to allocate through malloc; 0: none */
	uint64_t outer_site;
	uint8_t outer_kind;
	/* Also set while memory is lent, because no call may reach the program's heap then */
	bool is_looking_up;
	char *lent; /* memory for the next allocations (thread_stacks.h); NULL if none */
	size_t lent_bytes;
	size_t early_used;
} calls;

/* Memory for allocations during symbol look-ups. */
static char early[EARLY_BYTES] __attribute__((aligned(16)));

/* Usually glibc's. */
#define NEXT(function)                                                                             \
	__extension__((__typeof__(&function))allocation_heap_next(SYMBOL_SLOT(#function)))

static inline void *allocation_heap_next(struct symbol_slot *slot)
{
	if (__builtin_expect(!slot->function, 0)) {
		calls.is_looking_up = true;
		slot->function = runtime_next_symbol(slot->name);
		calls.is_looking_up = false;
	}
	return slot->function;
}

/* Requests larger than the rest use the program's heap. */
static void *allocation_lent_allocate(size_t bytes)
{
	char *block = calls.lent;
	const size_t rounded = (bytes + 15) & ~(size_t)15;

	if (rounded <= calls.lent_bytes) {
		calls.lent += rounded;
		calls.lent_bytes -= rounded;
		return block;
	}
	calls.is_looking_up = false;
	block = NEXT(calloc)(1, bytes);
	calls.is_looking_up = true;
	return block;
}

void heap_lend(void *start, size_t bytes)
{
	calls.lent = start;
	calls.lent_bytes = bytes;
	calls.is_looking_up = start != NULL;
}

char *heap_lent_end(void)
{
	return calls.lent;
}

static void *allocation_early_allocate(size_t bytes)
{
	char *block = early + calls.early_used;

	if (calls.lent)
		return allocation_lent_allocate(bytes);
	if (bytes > EARLY_BYTES - calls.early_used)
		return NULL;
	calls.early_used += (bytes + 15) & ~(size_t)15;
	return block;
}

/* End of the runtime's own memory that holds the block; returns NULL if it belongs to the program's
 * heap. */
static const char *allocation_early_end(const void *block)
{
	return (uintptr_t)block - (uintptr_t)early < EARLY_BYTES ? early + EARLY_BYTES
								 : thread_stack_lent_end(block);
}

static bool allocation_is_early(const void *block)
{
	const uintptr_t address = (uintptr_t)block;

	return address - (uintptr_t)early < EARLY_BYTES ||
	       (address - THREAD_STACKS_START < THREAD_STACKS_BYTES &&
		       thread_stack_lent_end(block));
}

static void allocation_note(const void *block, size_t bytes, uint64_t site, uint8_t kind)
{
	if (calls.outer_site) {
		site = calls.outer_site;
		kind = calls.outer_kind;
		calls.outer_site = 0;
	}
	returned_given_out(block, bytes);
	if (block)
		heap_made(block, bytes, site, kind);
}

/* Called when the allocator gives out a block, perhaps a freed one, while heap blocks are not
 * recorded. */
static void *allocation_given(void *block, size_t bytes)
{
	returned_given_out(block, bytes);
	return block;
}

/* Returns true if this call owns the next allocation. An outer call has precedence: new[] calls
 * new. */
static bool allocation_enter(uint64_t site, uint8_t kind)
{
	if (calls.outer_site)
		return false;
	calls.outer_site = site;
	calls.outer_kind = kind;
	return true;
}

/* Ends allocation_enter(). If the outer site is still set, no allocation passed through malloc (own
 * allocator, or reused memory): the call's arguments give the block's size. */
static void allocation_leave(bool is_outer, const void *block, size_t bytes)
{
	if (is_outer && calls.outer_site && bytes)
		allocation_note(block, bytes, 0, 0);
	if (is_outer)
		calls.outer_site = 0;
}

EXPORT void *malloc(size_t bytes)
{
	void *block;

	if (__builtin_expect(calls.is_looking_up, 0))
		return allocation_early_allocate(bytes);
	if (!heap_is_recording)
		return allocation_given(NEXT(malloc)(bytes), bytes);
	block = NEXT(malloc)(bytes);
	allocation_note(block, bytes, RETURN_SITE, BLOCK_MALLOC);
	return block;
}

EXPORT void *calloc(size_t count, size_t bytes)
{
	void *block;

	if (__builtin_expect(calls.is_looking_up, 0))
		return allocation_early_allocate(count * bytes);
	if (!heap_is_recording)
		return allocation_given(NEXT(calloc)(count, bytes), count * bytes);
	block = NEXT(calloc)(count, bytes);
	allocation_note(block, count * bytes, RETURN_SITE, BLOCK_CALLOC);
	return block;
}

/* Returns whether the command wants to examine the stack of this free (plan.inspect). In a program without
 * sites a free is no step. */
static bool allocation_is_inspected(const void *block, uint64_t site)
{
	const struct contract_plan *plan = runtime.contract ? &runtime.contract->plan : NULL;
	struct heap_block found;

	return plan && plan->inspect && engine_is_live() &&
	       plan->inspect_step == engine_step() + 1 && plan->inspect_site == site &&
	       heap_find(block, &found) && plan->inspect_address - found.start < found.bytes;
}

EXPORT void free(void *block)
{
	/* A look-up frees the text of the last error; leaking it is harmless. */
	if (__builtin_expect(allocation_is_early(block) || calls.is_looking_up, 0))
		return;
	if (heap_is_recording) {
		const uint64_t site = RETURN_SITE;

		memory_freed(block, site);
		if (allocation_is_inspected(block, site))
			runtime_stand_still();
		heap_freed(block, site);
	}
	if (!returned_note(block, RETURN_SITE))
		NEXT(free)(block);
}

static void *allocation_moved(void *from, void *to, size_t bytes, uint64_t site)
{
	if (!from)
		allocation_note(to, bytes, site, BLOCK_REALLOC);
	else if (allocation_given(to, bytes))
		heap_moved(from, to, bytes, site);
	else if (!bytes) /* a size of 0 frees the block */
		heap_freed(from, site);
	calls.outer_site = 0;
	return to;
}

/* Copies a block from the runtime's own memory, where blocks are never freed. */
static void *allocation_early_move(const void *from, size_t bytes)
{
	const size_t most = (size_t)(allocation_early_end(from) - (const char *)from);
	void *to = NEXT(malloc)(bytes);

	if (to)
		memcpy(to, from, bytes < most ? bytes : most);
	return to;
}

/* The allocator may write into a block that moves. */
static void allocation_drain(const void *block)
{
	struct heap_block found;

	if (engine_memory_model() == MEMORY_MODEL_SC || !block || !heap_find(block, &found))
		return;
	engine_drain_freed((const void *)found.start, found.bytes);
	c11_forget((const void *)found.start, found.bytes);
}

/* Lets the block grow by a copy in new memory, and frees the old block. */
static void *allocation_grow(void *block, size_t bytes, uint64_t site)
{
	void *to;

	if (heap_is_recording)
		memory_freed(block, site);
	to = NEXT(malloc)(bytes);
	if (!to)
		return NULL;
	memcpy(to, block, malloc_usable_size(block));
	if (heap_is_recording)
		(void)allocation_moved(block, to, bytes, site);
	else
		(void)allocation_given(to, bytes);
	if (!returned_note(block, site))
		NEXT(free)(block);
	return to;
}

EXPORT void *realloc(void *block, size_t bytes)
{
	if (__builtin_expect(allocation_is_early(block), 0))
		return allocation_early_move(block, bytes);
	if (returned_moves(block, bytes)) {
		allocation_drain(block);
		return allocation_grow(block, bytes, RETURN_SITE);
	}
	if (!heap_is_recording)
		return allocation_given(NEXT(realloc)(block, bytes), bytes);
	allocation_drain(block);
	return allocation_moved(block, NEXT(realloc)(block, bytes), bytes, RETURN_SITE);
}

EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
	bool is_outer;

	if (!heap_is_recording)
		return NEXT(reallocarray)(block, count, bytes);
	is_outer = allocation_enter(RETURN_SITE, BLOCK_REALLOC);
	block = NEXT(reallocarray)(block, count, bytes); /* calls realloc above */
	allocation_leave(is_outer, NULL, 0);
	return block;
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
	const int error = NEXT(posix_memalign)(block, alignment, bytes);

	if (!heap_is_recording)
		(void)allocation_given(error ? NULL : *block, bytes);
	else
		allocation_note(error ? NULL : *block, bytes, RETURN_SITE, BLOCK_ALIGNED);
	return error;
}

#define ALIGNED(function)                                                                          \
	EXPORT void *function(size_t alignment, size_t bytes)                                      \
	{                                                                                          \
		void *block;                                                                       \
                                                                                                   \
		if (!heap_is_recording)                                                            \
			return allocation_given(NEXT(function)(alignment, bytes), bytes);          \
		block = NEXT(function)(alignment, bytes);                                          \
		allocation_note(block, bytes, RETURN_SITE, BLOCK_ALIGNED);                         \
		return block;                                                                      \
	}
ALIGNED(aligned_alloc)
ALIGNED(memalign)

#define IN_PAGES(function)                                                                         \
	EXPORT void *function(size_t bytes)                                                        \
	{                                                                                          \
		void *block;                                                                       \
                                                                                                   \
		if (!heap_is_recording)                                                            \
			return allocation_given(NEXT(function)(bytes), bytes);                     \
		block = NEXT(function)(bytes);                                                     \
		allocation_note(block, bytes, RETURN_SITE, BLOCK_ALIGNED);                         \
		return block;                                                                      \
	}
IN_PAGES(valloc)
IN_PAGES(pvalloc)

/* operator new and new[] by their names of the Itanium ABI. They may throw; the first allocation
 * inside them has taken the outer site by then. */
#define NEW(name, parameters, ...)                                                                 \
	void *name parameters;                                                                     \
	EXPORT void *name parameters                                                               \
	{                                                                                          \
		bool is_outer;                                                                     \
		void *block;                                                                       \
                                                                                                   \
		if (!heap_is_recording)                                                            \
			return NEXT(name)(__VA_ARGS__);                                            \
		is_outer = allocation_enter(RETURN_SITE, BLOCK_NEW);                               \
		block = NEXT(name)(__VA_ARGS__);                                                   \
		allocation_leave(is_outer, block, bytes);                                          \
		return block;                                                                      \
	}
NEW(_Znwm, (size_t bytes), bytes)
NEW(_Znam, (size_t bytes), bytes)
NEW(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *nothrow), bytes, nothrow)
NEW(_ZnamRKSt9nothrow_t, (size_t bytes, const void *nothrow), bytes, nothrow)
NEW(_ZnwmSt11align_val_t, (size_t bytes, size_t alignment), bytes, alignment)
NEW(_ZnamSt11align_val_t, (size_t bytes, size_t alignment), bytes, alignment)
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *nothrow),
	bytes, alignment, nothrow)
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *nothrow),
	bytes, alignment, nothrow)

#define TEXT(result, name, parameters, ...)                                                        \
	EXPORT result name parameters                                                              \
	{                                                                                          \
		bool is_outer;                                                                     \
		result given;                                                                      \
                                                                                                   \
		if (!heap_is_recording)                                                            \
			return NEXT(name)(__VA_ARGS__);                                            \
		is_outer = allocation_enter(RETURN_SITE, BLOCK_TEXT);                              \
		given = NEXT(name)(__VA_ARGS__);                                                   \
		allocation_leave(is_outer, NULL, 0);                                               \
		return given;                                                                      \
	}
#undef strdup
#undef strndup
char *__strdup(const char *text);
char *__strndup(const char *text, size_t bytes);
TEXT(char *, strdup, (const char *text), text)
TEXT(char *, __strdup, (const char *text), text)
TEXT(char *, strndup, (const char *text, size_t bytes), text, bytes)
TEXT(char *, __strndup, (const char *text, size_t bytes), text, bytes)
TEXT(wchar_t *, wcsdup, (const wchar_t *text), text)
TEXT(int, vasprintf, (char **text, const char *format, va_list arguments), text, format, arguments)
TEXT(__ssize_t, getline, (char **line, size_t *size, FILE *stream), line, size, stream)
TEXT(__ssize_t, getdelim, (char **line, size_t *size, int delimiter, FILE *stream), line, size,
	delimiter, stream)
TEXT(__ssize_t, __getdelim, (char **line, size_t *size, int delimiter, FILE *stream), line, size,
	delimiter, stream)

EXPORT int asprintf(char **text, const char *format, ...)
{
	const bool is_outer = heap_is_recording && allocation_enter(RETURN_SITE, BLOCK_TEXT);
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = NEXT(vasprintf)(text, format, arguments);
	va_end(arguments);
	allocation_leave(is_outer, NULL, 0);
	return length;
}

static void allocation_mapped(const void *start, size_t bytes, uint64_t site)
{
	if (start != MAP_FAILED) {
		calls.outer_site = 0;
		heap_unmapped(start, bytes);
		heap_made(start, bytes, site, BLOCK_MAPPING);
	}
}

#define MAP(name, offset_type)                                                                     \
	EXPORT void *name(void *start, size_t bytes, int protection, int flags, int descriptor,    \
		offset_type offset)                                                                \
	{                                                                                          \
		start = NEXT(name)(start, bytes, protection, flags, descriptor, offset);           \
		if (start != MAP_FAILED && flags & MAP_SHARED && protection & PROT_WRITE)          \
			undo_note_shared(start, bytes);                                            \
		if (heap_is_recording)                                                             \
			allocation_mapped(start, bytes, RETURN_SITE);                              \
		return start;                                                                      \
	}
MAP(mmap, __off_t)
MAP(mmap64, __off64_t)

EXPORT int munmap(void *start, size_t bytes)
{
	int result;

	engine_drain_freed(start, bytes);
	result = NEXT(munmap)(start, bytes);
	if (!result)
		undo_forget_shared(start, bytes);
	if (heap_is_recording && !result)
		heap_unmapped(start, bytes);
	return result;
}

EXPORT void *mremap(void *start, size_t bytes, size_t wanted, int flags, ...)
{
	va_list arguments;
	void *target, *moved_to;

	va_start(arguments, flags);
	target = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
	va_end(arguments);
	engine_drain_freed(start, bytes);
	moved_to = NEXT(mremap)(start, bytes, wanted, flags, target);
	if (heap_is_recording && moved_to != MAP_FAILED) {
		heap_unmapped(start, bytes);
		allocation_mapped(moved_to, wanted, RETURN_SITE);
	}
	return moved_to;
}
