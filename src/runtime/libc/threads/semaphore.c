/* sem_*, unnamed and named. Named semaphores live in a table of this process: one name is one
 * object, which lives while a name or a process refers to it. O_CREAT and O_EXCL behave as in
 * POSIX. The table is shared by the processes of one family (family.h), not beyond. */
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "engine/sync.h"
#include "runtime/libc/family.h"
#include "runtime/libc/threads/sync.h"
#include "runtime/libc/world.h"

#define GROUPS_MAX 256
#define NAMED_MAX 128 /* beyond, sem_open() fails with EMFILE */

/* An entry without a name is unlinked; without holders, too, it is free. */
struct named_semaphore {
	struct semaphore semaphore;
	uint64_t holders; /* bit family_number(): this process has opened it */
	bool was_used;
	uint32_t owner, group, mode; /* attributes of the file that the name would have on disk */
	char name[NAME_MAX + 1];
};

#define PAGE_BYTES 4096UL
#define TABLE_BYTES                                                                                \
	((NAMED_MAX * sizeof(struct named_semaphore) + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1))

/* Written by the moving thread; after the first fork, by every process of the family. */
static union {
	struct named_semaphore entries[NAMED_MAX];
	char pages[TABLE_BYTES];
} named_table __attribute__((aligned(PAGE_BYTES)));
#define named_semaphores named_table.entries

/* Of this process; a fork copies it. */
static struct {
	bool is_shared;
	uint32_t opened[NAMED_MAX]; /* by sem_open() and not closed again */
} named_state;

/* Notes that the member has the semaphore open, or no longer. The bit FAMILY_NONE may belong to
 * several processes: it stays set in a shared table. */
static void semaphore_named_set_holder(unsigned index, uint32_t member)
{
	const uint64_t bit = UINT64_C(1) << member;

	if (named_state.opened[index])
		named_semaphores[index].holders |= bit;
	else if (member != FAMILY_NONE || !named_state.is_shared)
		named_semaphores[index].holders &= ~bit;
}

static void semaphore_named_share(void)
{
	char *memory = platform_map(TABLE_BYTES, true);

	if (!memory)
		return; /* each process continues with its own table */
	for (unsigned i = 0; i < NAMED_MAX; i++)
		named_semaphores[i].holders = 0;
	memcpy(memory, &named_table, TABLE_BYTES);
	if (!platform_failed(platform_call(SYS_mremap, memory, TABLE_BYTES, TABLE_BYTES,
		    MREMAP_MAYMOVE | MREMAP_FIXED, &named_table)))
		named_state.is_shared = true;
	for (unsigned i = 0; i < NAMED_MAX; i++)
		semaphore_named_set_holder(i, family_number());
}

void semaphore_prepare_fork(void)
{
	if (!named_state.is_shared)
		semaphore_named_share();
	shared_enter(named_state.is_shared);
	for (unsigned i = 0; i < NAMED_MAX; i++)
		if (named_state.is_shared)
			semaphore_named_set_holder(i, family_child_number());
	shared_leave(named_state.is_shared);
}

static struct semaphore *semaphore_of(sem_t *semaphore)
{
	return (struct semaphore *)semaphore;
}

/* Returns 0, EINVAL or ENAMETOOLONG. */
static int semaphore_named_check(const char **name)
{
	size_t length;

	*name += strspn(*name, "/");
	length = strlen(*name);
	if (!length || strchr(*name, '/'))
		return EINVAL;
	return length > NAME_MAX - strlen("sem.") ? ENAMETOOLONG : 0;
}

static struct named_semaphore *semaphore_named_find(const char *name)
{
	for (unsigned i = 0; i < NAMED_MAX; i++)
		if (named_semaphores[i].name[0] && !strcmp(named_semaphores[i].name, name))
			return &named_semaphores[i];
	return NULL;
}

static bool semaphore_group_is_own(uint32_t group)
{
	uint32_t groups[GROUPS_MAX];
	long count = platform_call(SYS_getgroups, GROUPS_MAX, groups);

	for (long i = 0; i < count; i++)
		if (groups[i] == group)
			return true;
	return group == (uint32_t)platform_call(SYS_getegid);
}

/* Returns whether the caller may open the semaphore: as for a file, this needs permission to read
 * and to write. */
static bool semaphore_named_may_open(const struct named_semaphore *named)
{
	const uint32_t user = (uint32_t)platform_call(SYS_geteuid);
	const uint32_t shift = user == named->owner		      ? 6
			       : semaphore_group_is_own(named->group) ? 3
								      : 0;

	return !user || (named->mode >> shift & 6) == 6;
}

/* Returns whether the caller may unlink the semaphore. The directory of semaphores is sticky: only
 * the owner may. */
static bool semaphore_named_may_unlink(const struct named_semaphore *named)
{
	const uint32_t user = (uint32_t)platform_call(SYS_geteuid);

	return !user || user == named->owner;
}

static uint32_t semaphore_named_mode(mode_t wanted)
{
	const long mask = platform_call(SYS_umask, 0);

	(void)platform_call(SYS_umask, mask); /* always succeeds */
	return wanted & ~(uint32_t)mask;
}

static struct named_semaphore *semaphore_named_find_free(uint64_t holders, bool is_reused)
{
	for (unsigned i = 0; i < NAMED_MAX; i++) {
		struct named_semaphore *named = &named_semaphores[i];

		if (!named->name[0] && !(named->holders & holders) &&
			(is_reused || !named->was_used))
			return named;
	}
	return NULL;
}

static int semaphore_named_create(
	const char *name, unsigned value, mode_t mode, struct named_semaphore **out)
{
	/* Processes of a family close semaphores at different times. Unused entries come first, so
	 * addresses do not depend on these times as long as there are such entries. */
	struct named_semaphore *named =
		semaphore_named_find_free(UINT64_MAX, !named_state.is_shared);
	int error;

	if (!named)
		named = semaphore_named_find_free(family_living(), true);
	if (!named)
		return EMFILE;
	error = semaphore_init(&named->semaphore, value, true);
	if (error)
		return error;
	strcpy(named->name, name);
	named->holders = 0;
	named->was_used = true;
	named->owner = (uint32_t)platform_call(SYS_geteuid);
	named->group = (uint32_t)platform_call(SYS_getegid);
	named->mode = semaphore_named_mode(mode);
	*out = named;
	return 0;
}

/* `mode` and `value` apply only to a new semaphore. */
static int semaphore_named_open(
	const char *name, int flags, mode_t mode, unsigned value, struct named_semaphore **out)
{
	int error = semaphore_named_check(&name);

	if (error)
		return error;
	*out = semaphore_named_find(name);
	if (*out)
		return flags & O_CREAT && flags & O_EXCL ? EEXIST
		       : semaphore_named_may_open(*out)	 ? 0
							 : EACCES;
	return flags & O_CREAT ? semaphore_named_create(name, value, mode, out) : ENOENT;
}

EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
	struct named_semaphore *named;
	unsigned value = 0;
	mode_t mode = 0;
	int error;

	ENTER();
	if (flags & O_CREAT) {
		va_list arguments;

		va_start(arguments, flags);
		mode = va_arg(arguments, mode_t);
		value = va_arg(arguments, unsigned);
		va_end(arguments);
	}
	shared_enter(named_state.is_shared);
	error = semaphore_named_open(name, flags, mode, value, &named);
	if (!error) {
		named_state.opened[named - named_semaphores]++;
		semaphore_named_set_holder((unsigned)(named - named_semaphores), family_number());
	}
	shared_leave(named_state.is_shared);
	if (error) {
		errno = error;
		return SEM_FAILED;
	}
	return (sem_t *)&named->semaphore;
}

EXPORT int sem_close(sem_t *semaphore)
{
	struct named_semaphore *named = (struct named_semaphore *)semaphore;
	const size_t index = (size_t)(named - named_semaphores);

	ENTER();
	if (named < named_semaphores || index >= NAMED_MAX || !named_state.opened[index])
		return sync_errno_result(EINVAL);
	named_state.opened[index]--;
	shared_enter(named_state.is_shared);
	semaphore_named_set_holder((unsigned)index, family_number());
	if (!named->name[0] && !named->holders)
		semaphore_destroy(&named->semaphore);
	shared_leave(named_state.is_shared);
	return 0;
}

EXPORT int sem_unlink(const char *name)
{
	ENTER();
	struct named_semaphore *named;
	int error = semaphore_named_check(&name);

	if (error)
		/* same error as glibc */
		return sync_errno_result(error == EINVAL ? ENOENT : error);
	named = semaphore_named_find(name);
	if (!named)
		return sync_errno_result(ENOENT);
	if (!semaphore_named_may_unlink(named))
		return sync_errno_result(EACCES);
	named->name[0] = '\0';
	return 0;
}

INTERPOSED(int, sem_init, (sem_t * semaphore, int is_shared, unsigned value),
	sync_errno_result(semaphore_init(semaphore_of(semaphore), value, is_shared != 0)));

EXPORT int sem_destroy(sem_t *semaphore)
{
	ENTER();
	semaphore_destroy(semaphore_of(semaphore));
	return 0;
}

/* Restarts the wait as the kernel does for a futex: a signal whose handlers all have SA_RESTART
 * does not end a wait without deadline. */
static int semaphore_wait_restarting(sem_t *semaphore, uint64_t deadline_ns, uint64_t site)
{
	int error;

	do {
		error = semaphore_wait(semaphore_of(semaphore), deadline_ns, site);
	} while (error == EINTR && deadline_ns == ENGINE_FOREVER && signals_want_restart());
	return error;
}

INTERPOSED(int, sem_wait, (sem_t * semaphore),
	sync_errno_result(
		sync_result(semaphore_wait_restarting(semaphore, ENGINE_FOREVER, CALL_SITE))));

/* Refuses an invalid time even if the call need not wait, as glibc does. */
EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *time)
{
	ENTER();
	if (!sync_is_valid_time(time))
		return sync_errno_result(EINVAL);
	return sync_errno_result(
		sync_timed_result(semaphore_wait_restarting(semaphore,
					  sync_deadline(CLOCK_REALTIME, time), CALL_SITE),
			time));
}

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time)
{
	ENTER();
	if (!sync_has_clock(clock) || !sync_is_valid_time(time))
		return sync_errno_result(EINVAL);
	return sync_errno_result(sync_timed_result(
		semaphore_wait_restarting(semaphore, sync_deadline(clock, time), CALL_SITE), time));
}

INTERPOSED(int, sem_trywait, (sem_t * semaphore),
	sync_errno_result(semaphore_trywait(semaphore_of(semaphore), CALL_SITE)));
INTERPOSED(int, sem_post, (sem_t * semaphore),
	sync_errno_result(semaphore_post(semaphore_of(semaphore), CALL_SITE)));

EXPORT int sem_getvalue(sem_t *semaphore, int *value)
{
	ENTER();
	*value = (int)semaphore_value(semaphore_of(semaphore), CALL_SITE);
	return 0;
}
