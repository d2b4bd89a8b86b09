/*
 * Faults of the disk, by number: every call that changes files, of this program and of the
 * libraries it uses, passes here first and counts. Include it in one file of a test.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum storage_fault {
	FAULT_NONE,
	FAULT_KILL, /* SIGKILL just before call n */
	FAULT_FULL, /* from call n on, calls that need space fail */
	FAULT_ONCE  /* call n fails with EIO, and nothing else */
};

/* Written by the test before the calls it watches. */
static struct {
	enum storage_fault fault;
	unsigned at;	/* call n, from 1 */
	unsigned calls; /* number of calls so far */
} storage;

/* Counts a call; true: it is to fail, errno is set. */
static bool storage_fails(bool needs_space)
{
	storage.calls++;
	if (storage.fault == FAULT_KILL && storage.calls == storage.at)
		(void)raise(SIGKILL);
	if (storage.fault == FAULT_FULL && storage.calls >= storage.at && needs_space) {
		errno = ENOSPC;
		return true;
	}
	if (storage.fault == FAULT_ONCE && storage.calls == storage.at) {
		errno = EIO;
		return true;
	}
	return false;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
	return storage_fails(true) ? -1 : syscall(SYS_write, fd, bytes, size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
	return storage_fails(true) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, offset);
}

int fsync(int fd)
{
	return storage_fails(false) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return storage_fails(false) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off64_t size)
{
	return storage_fails(false) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int mkdir(const char *path, mode_t mode)
{
	return storage_fails(true) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

int rmdir(const char *path)
{
	return storage_fails(false) ? -1 : (int)syscall(SYS_rmdir, path);
}

int unlink(const char *path)
{
	return storage_fails(false) ? -1 : (int)syscall(SYS_unlink, path);
}

int unlinkat(int folder, const char *path, int flags)
{
	return storage_fails(false) ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}

int rename(const char *from, const char *to)
{
	return storage_fails(false) ? -1 : (int)syscall(SYS_rename, from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
	if (storage_fails(false))
		return -1;
	return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

/* Opening counts where it may create. */
static int storage_open(const char *path, int flags, mode_t mode)
{
	if (flags & O_CREAT && storage_fails(true))
		return -1;
	return (int)syscall(SYS_open, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode = 0;

	va_start(rest, flags);
	if (flags & O_CREAT)
		mode = va_arg(rest, mode_t);
	va_end(rest);
	return storage_open(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list rest;
	mode_t mode = 0;

	va_start(rest, flags);
	if (flags & O_CREAT)
		mode = va_arg(rest, mode_t);
	va_end(rest);
	return storage_open(path, flags, mode);
}
