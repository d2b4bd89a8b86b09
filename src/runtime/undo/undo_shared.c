/* Shared mappings of the program, which the image does not hold and forked runs share. Their
 * content at the starting point is saved, and written back after each run. Runs in the moving
 * thread (logging) and in a restart server. */
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/undo/undo_internal.h"

#define SHARED_MAX 64
#define PAGE_BYTES UINT64_C(4096)
/* Programs with more shared memory get fresh processes instead of copies. */
#define SHARED_BYTES_MAX (UINT64_C(64) << 20)

struct shared_memory {
	char *start; /* NULL means a free entry */
	size_t bytes;
	void *copy; /* NULL if mapped after the starting point */
};

/* Written by the target's calls, and when the starting point is saved. */
static struct {
	struct shared_memory entries[SHARED_MAX];
	bool is_too_much;
	bool is_saved; /* some entry has a copy */
} shared;

void undo_note_shared(void *start, size_t bytes)
{
	for (int i = 0; i < SHARED_MAX; i++) {
		if (shared.entries[i].start)
			continue;
		bytes = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
		shared.entries[i] = (struct shared_memory){.start = start, .bytes = bytes};
		return;
	}
	shared.is_too_much = true;
}

/* Forgets the mapping also where a part of it remains. */
void undo_forget_shared(const void *start, size_t bytes)
{
	const char *end = (const char *)start + bytes;

	for (int i = 0; i < SHARED_MAX; i++) {
		struct shared_memory *entry = &shared.entries[i];

		if (entry->start && entry->start < end &&
			(const char *)start < entry->start + entry->bytes)
			entry->start = NULL;
	}
}

/* Copies memory. The kernel skips pages that are unmapped or not writable. */
bool undo_has_shared(void)
{
	for (int i = 0; i < SHARED_MAX; i++)
		if (shared.entries[i].start)
			return true;
	return shared.is_too_much;
}

static void undo_shared_copy(void *to, const void *from, size_t bytes)
{
	(void)platform_read(from, to, bytes);
}

void undo_save_shared(void)
{
	uint64_t bytes = 0;

	for (int i = 0; i < SHARED_MAX; i++)
		bytes += shared.entries[i].start ? shared.entries[i].bytes : 0;
	if (bytes > SHARED_BYTES_MAX)
		shared.is_too_much = true;
	for (int i = 0; i < SHARED_MAX && !shared.is_too_much; i++) {
		struct shared_memory *entry = &shared.entries[i];

		if (!entry->start || entry->copy)
			continue;
		entry->copy = platform_map(entry->bytes, true);
		if (!entry->copy)
			continue;
		undo_shared_copy(entry->copy, entry->start, entry->bytes);
		shared.is_saved = true;
	}
}

void undo_begin_shared(void)
{
	if (shared.is_too_much)
		runtime_taint_shared("has much memory that processes share");
	if (shared.is_saved)
		undo_obstruct("has memory that processes share");
}

void undo_restore_shared(void)
{
	for (int i = 0; shared.is_saved && i < SHARED_MAX; i++)
		if (shared.entries[i].start && shared.entries[i].copy)
			undo_shared_copy(shared.entries[i].start, shared.entries[i].copy,
				shared.entries[i].bytes);
}

EXPORT void *shmat(int id, const void *wanted, int flags)
{
	ENTER();
	struct shmid_ds status;
	long result = target_call(SYS_shmat, id, wanted, flags);

	if (!platform_failed(result) && !(flags & SHM_RDONLY) &&
		!platform_failed(platform_call(SYS_shmctl, id, IPC_STAT, &status)))
		undo_note_shared((void *)result, status.shm_segsz);
	return (void *)interpose_result(result);
}

EXPORT int shmdt(const void *start)
{
	ENTER();
	long result = target_call(SYS_shmdt, start);

	if (!platform_failed(result))
		undo_forget_shared(start, 1);
	return (int)interpose_result(result);
}
