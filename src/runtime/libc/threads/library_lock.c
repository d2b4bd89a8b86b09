/*
 * Locks that libraries build from atomic operations and futexes (library_locks.def). The library's
 * function still runs, and its futex call is scheduled where it blocks. The wrapper adds a
 * scheduling point before the call, as an atomic update of the lock, and the happens-before order
 * once the lock is held.
 *
 * Of other such locks, inlined into programs (std::atomic::wait) or called inside a library, the
 * runtime sees only the futex calls. The runtime reports the first such call to the command.
 */
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/starts_with.h"
#include "runtime/libc/threads/sync.h"
#include "runtime/libc/threads/library_lock.h"
#include "runtime/callers.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"

#define LOCK_BYTES 4

/* File name prefixes of libraries whose futex calls are made by interposed functions. */
static const char *const known_libraries[] = {"libc.so", "ld-linux", "libpthread.so",
	"libstdc++.so", "libgomp.so", "libomp.so", "libiomp", "libglib-2.0.so", "libraddle"};

/* Calls without an object argument share this address, and reports print its name. Its content is
 * not used. */
static uint32_t critical_section;

static struct engine_op library_lock_update(long object, enum call_kind call, uint64_t site)
{
	return (struct engine_op){.kind = OP_ATOMIC_UPDATE,
		.call = (uint8_t)call,
		.address = object ? (const void *)object : &critical_section,
		.site = site,
		.bytes = LOCK_BYTES,
		.order = __ATOMIC_ACQ_REL,
		.deadline_ns = ENGINE_FOREVER};
}

static void library_lock_enter(long first, long second, enum call_kind call, uint64_t site)
{
	struct engine_op op = library_lock_update(first, call, site);

	if (second) { /* the lock that a wait releases */
		const struct engine_op release = library_lock_update(second, CALL_RELEASE, site);

		engine_note_access(&release);
	}
	(void)engine_perform(&op);
}

static void library_lock_leave(long first, long second, enum call_kind call, uint64_t site)
{
	const struct engine_op acquired = library_lock_update(first, call, site);

	engine_note_access(&acquired);
	if (second) {
		const struct engine_op again = library_lock_update(second, CALL_ACQUIRE, site);

		engine_note_access(&again);
	}
}

/* Arguments and result are register words; passing more than the function takes does no harm. */
#define LIBRARY_LOCK(function, objects, call)                                                      \
	EXPORT long function(long a, long b, long c, long d, long e, long f);                      \
	EXPORT long function(long a, long b, long c, long d, long e, long f)                       \
	{                                                                                          \
		const long first = (objects) > 0 ? a : 0;                                          \
		const long second = (objects) > 1 ? b : 0;                                         \
		long result;                                                                       \
                                                                                                   \
		ENTER();                                                                           \
		library_lock_enter(first, second, CALL_##call, CALL_SITE);                         \
		result = REAL(function)(a, b, c, d, e, f);                                         \
		library_lock_leave(first, second, CALL_##call, CALL_SITE);                         \
		return result;                                                                     \
	}
#include "runtime/libc/threads/library_locks.def"
#undef LIBRARY_LOCK

/* Returns the target of a stub in the procedure linkage table; 0: no stub. */
static uintptr_t library_lock_stub_target(const uint8_t *code)
{
	static const uint8_t landing_pad[] = {0xf3, 0x0f, 0x1e, 0xfa};
	int32_t distance;

	if (memcmp(code, landing_pad, sizeof landing_pad) == 0)
		code += sizeof landing_pad;
	code += *code == 0xf2; /* the bnd prefix of a jump */
	if (code[0] != 0xff || code[1] != 0x25)
		return 0;
	memcpy(&distance, code + 2, sizeof distance);
	return *(const uintptr_t *)(code + 6 + distance);
}

/* Returns whether the code before the return address makes a system call, or calls syscall().
 * Otherwise it calls a library function that ends in a tail call to syscall(). */
static bool library_lock_calls_kernel(const uint8_t *site)
{
	int32_t distance;

	if (site[-2] == 0x0f && site[-1] == 0x05)
		return true;
	memcpy(&distance, site - sizeof distance, sizeof distance);
	if (site[-5] == 0xe8)
		return library_lock_stub_target(site + distance) == (uintptr_t)syscall;
	return site[-6] == 0xff && site[-5] == 0x15 &&
	       *(const uintptr_t *)(site + distance) == (uintptr_t)syscall;
}

static bool library_lock_is_known(const void *code)
{
	struct dl_find_object object;
	const char *name;
	uintptr_t start, end;

	if (_dl_find_object((void *)(uintptr_t)code, &object) || !object.dlfo_link_map)
		return true; /* code generated at run time */
	name = strrchr(object.dlfo_link_map->l_name, '/');
	if (name && STARTS_WITH_ANY(name + 1, known_libraries))
		return true;
	/* The runtime sees atomic operations of raddle-cc's code. */
	return sites_find_code((uintptr_t)code, &start, &end) || !library_lock_calls_kernel(code);
}

void library_lock_note_futex(uint64_t site)
{
	struct contract *contract = runtime.contract;
	uint64_t sites[UNSEEN_SITES] = {site};

	if (!contract || contract->unseen & UNSEEN_LOCKS || !engine_is_live() ||
		library_lock_is_known((const void *)(uintptr_t)site))
		return;
	runtime_note_callers(engine_current(), site, sites + 1, UNSEEN_SITES - 1);
	for (unsigned i = 0; i < UNSEEN_SITES && sites[i]; i++)
		contract->unseen_sites[i] = sites[i];
	/* Pairs with the command's acquire, which then reads the site. */
	__atomic_or_fetch(&contract->unseen, UNSEEN_LOCKS, __ATOMIC_RELEASE);
}
