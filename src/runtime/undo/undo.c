/* Runs in the moving thread (logging) and in a restart server (reverting). */
#include "runtime/undo/undo_internal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/text.h"
#include "runtime/undo/harmless_calls.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/undo.h"

struct undo_log *undo;

/* Duplicates a descriptor, so that a run may close it. A copy of a pipe or socket would keep the
 * other side from seeing its end, and is made only of standard descriptors, whose other side the
 * command holds. */
static void undo_save_descriptor(long fd, mode_t mode)
{
	bool is_harmless =
		fd < STANDARD_DESCRIPTORS || S_ISREG(mode) || S_ISDIR(mode) || S_ISCHR(mode);

	if (fd >= UNDO_SAVED_MAX)
		return;
	undo->status_flags[fd] = platform_call(SYS_fcntl, fd, F_GETFL);
	undo->descriptor_flags[fd] = platform_call(SYS_fcntl, fd, F_GETFD);
	if (!is_harmless || undo->saved[fd])
		return;
	undo->saved[fd] = runtime_high_descriptor(fd);
}

/* Returns true if writes have no effect: /dev/null, or closed. */
static bool undo_is_null(long fd)
{
	struct stat status;

	return platform_failed(platform_call(SYS_fstat, fd, &status)) ||
	       (S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3));
}

void undo_save_offsets(bool can_reopen)
{
	if (!undo)
		undo = platform_map(sizeof *undo, true);
	if (!undo)
		return;
	for (long fd = 0; fd < UNDO_DESCRIPTORS; fd++) {
		struct stat status;

		/* Descriptors are dense at the start: a long gap means the end. */
		if (platform_failed(platform_call(SYS_fstat, fd, &status))) {
			if (fd > 255)
				break;
			continue;
		}
		bitset_add(undo->present, (uint32_t)fd);
		if (can_reopen)
			undo_save_descriptor(fd, status.st_mode);
		if (!S_ISREG(status.st_mode))
			continue;
		bitset_add(undo->regular, (uint32_t)fd);
		undo->offset[fd] = platform_call(SYS_lseek, fd, 0, SEEK_CUR);
	}
	undo_save_shared();
	undo->is_discarding_output = undo_is_null(1) && undo_is_null(2);
	undo->program_break = platform_call(SYS_brk, 0);
	(void)platform_call(SYS_sched_getaffinity, 0, sizeof undo->affinity, undo->affinity);
}

void undo_restore_offsets(void)
{
	if (!undo)
		return;
	bitset_each (fd, undo->regular, UNDO_DESCRIPTORS) {
		if (fd >= STANDARD_DESCRIPTORS || fd == 0)
			(void)platform_call(SYS_lseek, fd, undo->offset[fd], SEEK_SET);
	}
	undo_restore_shared();
}

void undo_taint(enum contract_taint taint, const char *what, long number)
{
	struct contract *contract = runtime.contract;
	struct text text;

	if (!contract || contract->taint >= taint)
		return;
	contract->taint = taint;
	text_init(&text, contract->taint_text, sizeof contract->taint_text);
	text_add(&text, what);
	if (platform_call_name(number)) {
		text_add(&text, " (");
		text_add(&text, platform_call_name(number));
		text_add(&text, ")");
	}
}

void undo_obstruct(const char *what)
{
	if (!undo->obstacle)
		undo->obstacle = what;
}

void runtime_taint(const char *what, long number)
{
	if (!runtime.is_forked_child)
		undo_taint(TAINT_REWIND, what, number ? number : -1);
}

void runtime_taint_shared(const char *what)
{
	if (!runtime.is_forked_child)
		undo_taint(TAINT_SHARED, what, -1);
}

static void undo_note_opened(long fd)
{
	if (fd < 0 || fd >= UNDO_DESCRIPTORS) {
		undo_taint(TAINT_REWIND, "opened very many files", -1);
		return;
	}
	bitset_add(undo->opened, (uint32_t)fd);
	if (fd >= undo->opened_end)
		undo->opened_end = (uint32_t)fd + 1;
}

/* Returns true for descriptors that the run opened; without dispatch, for all absent at the
 * start. */
static bool undo_is_opened(long fd)
{
	return fd >= 0 && fd < UNDO_DESCRIPTORS &&
	       (bitset_has(undo->opened, (uint32_t)fd) ||
		       (!runtime.has_dispatch && !bitset_has(undo->present, (uint32_t)fd)));
}

static void undo_note_closed(long fd)
{
	if (undo_is_opened(fd))
		bitset_remove(undo->opened, (uint32_t)fd);
	else if (fd >= 0 && fd < UNDO_SAVED_MAX && undo->saved[fd])
		undo->closed |= UINT64_C(1) << fd;
	else if (fd >= 0 && fd < UNDO_DESCRIPTORS && bitset_has(undo->regular, (uint32_t)fd))
		undo_taint(TAINT_REWIND, "closed a file of the starting point", SYS_close);
	else /* the server's copy stays open, so a reader of the pipe never sees its end */
		undo_taint(
			TAINT_SHARED, "closed a pipe or socket of the starting point", SYS_close);
}

/* Logs input or output. Use of the run's own descriptors needs no revert. */
static void undo_note_use(long fd, bool is_write, long number)
{
	if (undo_is_opened(fd) || (is_write && fd >= 1 && fd < STANDARD_DESCRIPTORS))
		return;
	if (fd >= 0 && fd < UNDO_DESCRIPTORS && bitset_has(undo->regular, (uint32_t)fd)) {
		bitset_add(undo->moved, (uint32_t)fd);
		undo->has_moved = true;
		if (is_write) /* the file keeps the bytes, also in separate processes */
			undo_taint(TAINT_SHARED, "wrote to a file opened before the first thread",
				number);
		return;
	}
	undo_taint(TAINT_SHARED, "used a pipe, socket or terminal opened before the first thread",
		number);
}

static void undo_note_flagged(long fd)
{
	if (fd >= 0 && fd < UNDO_SAVED_MAX)
		undo->flagged |= UINT64_C(1) << fd;
	else
		undo_taint(TAINT_REWIND, "changed flags of a file descriptor", SYS_fcntl);
}

static bool undo_note_descriptor(long number, const long a[6], long result)
{
	switch (number) {
	case SYS_open:
	case SYS_openat:
	case SYS_creat:
	case SYS_socket:
	case SYS_epoll_create1:
	case SYS_epoll_create:
	case SYS_eventfd:
	case SYS_eventfd2:
	case SYS_timerfd_create:
	case SYS_memfd_create:
	case SYS_dup:
		undo_note_opened(result);
		return true;
	case SYS_accept:
	case SYS_accept4:
		undo_note_use(a[0], false, number); /* takes from a queue that all runs share */
		undo_note_opened(result);
		return true;
	case SYS_dup2:
	case SYS_dup3:
		undo_note_closed(a[1]);
		undo_note_opened(result);
		return true;
	case SYS_pipe:
	case SYS_pipe2:
		undo_note_opened(((const int *)a[0])[0]);
		undo_note_opened(((const int *)a[0])[1]);
		return true;
	case SYS_socketpair:
		undo_note_opened(((const int *)a[3])[0]);
		undo_note_opened(((const int *)a[3])[1]);
		return true;
	case SYS_fcntl:
		if (a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC)
			undo_note_opened(result);
		else if ((a[1] == F_SETFL || a[1] == F_SETFD) && !undo_is_opened(a[0]))
			undo_note_flagged(a[0]);
		return true;
	case SYS_close:
		undo_note_closed(a[0]);
		return true;
	default:
		return false;
	}
}

static bool undo_note_io(long number, const long a[6])
{
	switch (number) {
	case SYS_read:
	case SYS_readv:
	case SYS_preadv2:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
		undo_note_use(a[0], false, number);
		return true;
	case SYS_lseek:
		undo_note_use(a[0], a[0] != 0 && a[0] < STANDARD_DESCRIPTORS, number);
		return true;
	case SYS_write:
	case SYS_writev:
	case SYS_pwritev2:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_connect:
	case SYS_bind:
	case SYS_listen:
	case SYS_setsockopt:
	case SYS_shutdown:
	case SYS_ftruncate:
	case SYS_fallocate:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_fadvise64:
	case SYS_fchmod:
	case SYS_fchown:
	case SYS_pwrite64:
		undo_note_use(a[0], true, number);
		return true;
	case SYS_epoll_ctl:
		if (!undo_is_opened(a[0]))
			undo_taint(
				TAINT_SHARED, "changed an epoll set of the starting point", number);
		return true;
	default:
		return false;
	}
}

/* No restart reverts the file system: every run behaves as if the program was started again.
 * Exception: a path that the program created before its first thread, and a run removes. Only a
 * restart at main creates such a path again. */
static bool undo_note_path(long number, const long a[6], long result)
{
	bool is_foreign;
	bool is_known = created_paths_note(&undo->created, number, a, result, &is_foreign);

	if (is_foreign)
		undo_taint(TAINT_SHARED, "removed a file that was there before the first thread",
			number);
	return is_known;
}

/* Returns true for isatty and similar calls. */
static bool undo_is_harmless_control(long number, const long a[6])
{
	return number == SYS_ioctl &&
	       (a[1] == 0x5401 /* TCGETS */ || a[1] == 0x541b /* FIONREAD */ ||
		       a[1] == 0x5413 /* TIOCGWINSZ */ || undo_is_opened(a[0]));
}

void runtime_note_call(long number, const long arguments[6], long result)
{
	if (!undo || !undo->is_noting || runtime.is_forked_child || platform_failed(result))
		return;
	if (call_is_harmless(number, arguments) || undo_note_memory(number, arguments, result) ||
		undo_is_harmless_control(number, arguments))
		return;
	if (undo_note_path(number, arguments, result)) {
		undo_obstruct("changed a file's name");
	} else if (undo_note_descriptor(number, arguments, result)) {
		undo_obstruct("opened or closed a file");
	} else if (undo_note_io(number, arguments)) {
		if (!undo->is_discarding_output || arguments[0] < 1 || arguments[0] > 2)
			undo_obstruct("read or wrote a file");
	} else {
		undo_taint(TAINT_REWIND, "changed the kernel's state", number);
	}
}

void undo_begin_run(void)
{
	if (!undo)
		return;
	undo->obstacle = NULL;
	undo->is_noting = true;
	created_paths_clear(&undo->created);
	undo_begin_shared();
}

/* Called after the run's own descriptors are closed. */
static void undo_restore_descriptors(void)
{
	for (long fd = 0; undo->closed; fd++, undo->closed >>= 1)
		if (undo->closed & 1)
			(void)platform_call(SYS_dup3, undo->saved[fd], fd,
				undo->descriptor_flags[fd] & FD_CLOEXEC ? O_CLOEXEC : 0);
	for (long fd = 0; undo->flagged; fd++, undo->flagged >>= 1)
		if (undo->flagged & 1) {
			(void)platform_call(SYS_fcntl, fd, F_SETFL, undo->status_flags[fd]);
			(void)platform_call(SYS_fcntl, fd, F_SETFD, undo->descriptor_flags[fd]);
		}
}

void undo_world(void)
{
	undo->is_noting = false;
	if (undo->opened_end) {
		bitset_each (fd, undo->opened, undo->opened_end) {
			(void)platform_call(SYS_close, fd);
			bitset_remove(undo->opened, fd);
		}
		undo->opened_end = 0;
	}
	undo_restore_descriptors();
	if (undo->has_moved) {
		bitset_each (fd, undo->moved, UNDO_DESCRIPTORS) {
			(void)platform_call(SYS_lseek, fd, undo->offset[fd], SEEK_SET);
			bitset_remove(undo->moved, fd);
		}
		undo->has_moved = false;
	}
	if (undo->has_moved_affinity)
		(void)platform_call(
			SYS_sched_setaffinity, 0, sizeof undo->affinity, undo->affinity);
	undo->has_moved_affinity = false;
	undo_restore_shared();
}

const char *undo_obstacle(void)
{
	return undo->obstacle;
}
