/*
 * Interposed allocation functions. The next definition of each function allocates; the guest
 * records the block. A block belongs to the caller of malloc, or of an operator new that calls
 * malloc.
 *
 * Looking up those definitions may allocate; such requests are served from a buffer.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "noise/noise.h"
#include "runtime/interpose.h"

#define EARLY_BYTES 8192

/* Written while the process has one thread; `early_used` also atomically. */
static struct {
	bool is_looking_up;
	uint32_t early_used;
	char early[EARLY_BYTES] __attribute__((aligned(16)));
} calls;

/* Caller of an operator new that is about to call malloc; 0: none. */
static __thread uint64_t outer_site;

static void *next_definition(const char *name)
{
	void *found;

	calls.is_looking_up = true;
	found = runtime_next_symbol(name);
	calls.is_looking_up = false;
	return found;
}

#define NEXT(function)                                                                             \
	__extension__({                                                                            \
		static __typeof__(&function) next_;                                                \
		if (__builtin_expect(!next_, 0))                                                   \
			next_ = (__typeof__(&function))next_definition(#function);                 \
		next_;                                                                             \
	})

static void *allocate_early_allocate(size_t bytes)
{
	const uint32_t at = __atomic_fetch_add(
		&calls.early_used, ((uint32_t)bytes + 15) & ~UINT32_C(15), __ATOMIC_RELAXED);

	return bytes > EARLY_BYTES || at > EARLY_BYTES - bytes ? NULL : calls.early + at;
}

static bool allocate_is_early(const void *block)
{
	return (uintptr_t)block - (uintptr_t)calls.early < EARLY_BYTES;
}

static void made(const void *block, size_t bytes, uint64_t site)
{
	if (block && noise_log())
		noise_block_made(block, bytes, outer_site ? outer_site : site);
	outer_site = 0;
}

static void freed(const void *block)
{
	if (block && noise_log())
		noise_block_freed(block);
}

EXPORT void *malloc(size_t bytes)
{
	void *block;

	if (__builtin_expect(calls.is_looking_up, 0))
		return allocate_early_allocate(bytes);
	block = NEXT(malloc)(bytes);
	made(block, bytes, RETURN_SITE);
	return block;
}

EXPORT void *calloc(size_t count, size_t bytes)
{
	void *block;

	if (__builtin_expect(calls.is_looking_up, 0))
		return allocate_early_allocate(count * bytes);
	block = NEXT(calloc)(count, bytes);
	made(block, count * bytes, RETURN_SITE);
	return block;
}

EXPORT void free(void *block)
{
	if (__builtin_expect(allocate_is_early(block) || calls.is_looking_up, 0))
		return;
	freed(block);
	NEXT(free)(block);
}

/* Copies a block out of the buffer. Blocks in the buffer are never freed. */
static void *allocate_early_move(const void *from, size_t bytes)
{
	const size_t most = EARLY_BYTES - (size_t)((const char *)from - calls.early);
	void *to = malloc(bytes);

	if (to)
		memcpy(to, from, bytes < most ? bytes : most);
	return to;
}

static void *allocate_moved(void *block, size_t bytes, uint64_t site)
{
	void *to;

	if (__builtin_expect(allocate_is_early(block), 0))
		return allocate_early_move(block, bytes);
	freed(block); /* before another thread can get the memory */
	to = NEXT(realloc)(block, bytes);
	made(to ? to : bytes ? block : NULL, bytes, site);
	return to;
}

EXPORT void *realloc(void *block, size_t bytes)
{
	return allocate_moved(block, bytes, RETURN_SITE);
}

EXPORT void *reallocarray(void *block, size_t count, size_t bytes)
{
	if (bytes && count > SIZE_MAX / bytes) {
		errno = ENOMEM;
		return NULL;
	}
	return allocate_moved(block, count * bytes, RETURN_SITE);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
	const int error = NEXT(posix_memalign)(block, alignment, bytes);

	made(error ? NULL : *block, bytes, RETURN_SITE);
	return error;
}

#define ALIGNED(function)                                                                          \
	EXPORT void *function(size_t alignment, size_t bytes)                                      \
	{                                                                                          \
		void *block = NEXT(function)(alignment, bytes);                                    \
                                                                                                   \
		made(block, bytes, RETURN_SITE);                                                   \
		return block;                                                                      \
	}
ALIGNED(aligned_alloc)
ALIGNED(memalign)

/*
 * operator new and new[] by their names of the Itanium ABI; operator delete calls free. They may
 * throw; the first allocation inside them has taken the outer site by then.
 */
#define NEW(name, parameters, ...)                                                                 \
	void *name parameters;                                                                     \
	EXPORT void *name parameters                                                               \
	{                                                                                          \
		void *block;                                                                       \
                                                                                                   \
		if (!outer_site)                                                                   \
			outer_site = RETURN_SITE;                                                  \
		block = NEXT(name)(__VA_ARGS__);                                                   \
		outer_site = 0;                                                                    \
		return block;                                                                      \
	}
NEW(_Znwm, (size_t bytes), bytes)
NEW(_Znam, (size_t bytes), bytes)
NEW(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *nothrow), bytes, nothrow)
NEW(_ZnamRKSt9nothrow_t, (size_t bytes, const void *nothrow), bytes, nothrow)
