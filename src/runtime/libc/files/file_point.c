#include "runtime/libc/file_point.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bitset.h"
#include "runtime/interpose.h"
#include "runtime/libc/world.h"
#include "runtime/runtime.h"

#define FILE_POINT_NUMBERS 4096 /* larger numbers count as closed */
/* Two descriptors of one file are one object if the lower number is less than this one. */
#define FILE_POINT_SAME_FILE 256

struct file_call {
	uint8_t kind; /* OP_NONE: the call is no interruption point */
	uint8_t call;
	bool has_descriptor; /* its first argument */
	bool concerns_contents;
};

static const struct file_call file_calls[] = {
#define FILE_CALL(name, kind, call) [SYS_##name] = {OP_##kind, CALL_##call, false, false},
#define CONTENTS_CALL(name, kind, call) [SYS_##name] = {OP_##kind, CALL_##call, false, true},
#define DESCRIPTOR_CALL(name, kind, call) [SYS_##name] = {OP_##kind, CALL_##call, true, false},
#define WRITE_CALL(name, kind, call) [SYS_##name] = {OP_##kind, CALL_##call, true, true},
#include "runtime/libc/file_calls.def"
#undef FILE_CALL
#undef CONTENTS_CALL
#undef DESCRIPTOR_CALL
#undef WRITE_CALL
};

/* The object of calls with paths and of calls that make a descriptor; its content is not used. */
static uint64_t file_system;
/* The second object of calls that depend on the contents of files; its content is not used. */
static uint64_t file_contents;

/* Numbers that were closed in this run: a call that opens a file may get, or have got, the number. */
static uint64_t closed_numbers[BITSET_WORDS(FILE_POINT_NUMBERS)];

/* Returns whether the loader makes the call. It holds a lock that the runtime may need meanwhile. */
static bool file_point_is_in_loader(uint64_t site)
{
	struct dl_find_object object;

	return _dl_find_object((void *)(uintptr_t)site, &object) == 0 &&
	       (uintptr_t)object.dlfo_map_start == getauxval(AT_BASE);
}

/* Returns whether the call is fstat(), as the C library makes it: it asks for a descriptor, like read()
 * a call that changes nothing. */
static bool file_point_is_fstat(long number, const long arguments[6])
{
	return number == SYS_newfstatat && arguments[3] & AT_EMPTY_PATH;
}

/* Returns the lowest descriptor of the file, which names the common object of calls on all its descriptors. The number is
 * the same in all orders of independent steps, because no two opens are independent. */
static int file_point_descriptor_of_file(int fd)
{
	const int end = fd < FILE_POINT_SAME_FILE ? fd : FILE_POINT_SAME_FILE;
	struct stat file, other;

	if (platform_call(SYS_fstat, fd, &file) < 0 || !S_ISREG(file.st_mode))
		return fd;
	for (int lower = STDERR_FILENO + 1; lower < end; lower++)
		if (platform_call(SYS_fstat, lower, &other) == 0 && other.st_ino == file.st_ino &&
			other.st_dev == file.st_dev)
			return lower;
	return fd;
}

static object_name file_point_object(int fd)
{
	return engine_object_name(fd_object(file_point_descriptor_of_file(fd)));
}

/* Returns whether the call concerns its first argument, a descriptor, and no path or new descriptor. */
static bool file_point_concerns_descriptor(
	const struct file_call *call, long number, const long arguments[6])
{
	return call->has_descriptor ||
	       (number == SYS_fcntl && arguments[1] != F_DUPFD && arguments[1] != F_DUPFD_CLOEXEC);
}

/* Returns whether the call opens a file and may discard its contents. */
static bool file_point_truncates(long number, const long arguments[6])
{
	return number == SYS_creat || number == SYS_openat2 ||
	       (number == SYS_open && arguments[1] & O_TRUNC) ||
	       (number == SYS_openat && arguments[2] & O_TRUNC);
}

static bool file_point_was_closed(int fd)
{
	return (uint32_t)fd >= FILE_POINT_NUMBERS || bitset_has(closed_numbers, (uint32_t)fd);
}

uint16_t file_point_second(void)
{
	return runtime.interruption_points && engine_is_live()
		       ? op_second(engine_object_name(&file_system))
		       : 0;
}

uint16_t file_point_second_of(int fd)
{
	return file_point_was_closed(fd) ? file_point_second() : 0;
}

/* Describes a call with a path, or one that makes a descriptor. */
static void file_point_describe_path(
	struct engine_op *op, const struct file_call *call, long number, const long arguments[6])
{
	op->address = &file_system;
	op->is_wide = call->concerns_contents || file_point_truncates(number, arguments);
	if (op->is_wide)
		op->second = op_second(engine_object_name(&file_contents));
	else if (number == SYS_dup2 || number == SYS_dup3) /* changes what the number stands for */
		op->second = op_second(file_point_object((int)arguments[1]));
}

static void file_point_describe_descriptor(
	struct engine_op *op, const struct file_call *call, long number, int fd)
{
	op->address = fd_object(fd);
	op->object = file_point_object(fd);
	op->number = fd_number(fd);
	if (number == SYS_close || file_point_was_closed(fd))
		op->second = file_point_second();
	else if (call->concerns_contents)
		op->second = op_second(engine_object_name(&file_contents));
}

/* Pending calls on the descriptor were announced before it was closed. */
void file_point_closed(int fd)
{
	static const enum op_kind kinds[] = {
		OP_FILE_CHANGE, OP_FD_READ, OP_FD_WRITE, OP_FD_CONTROL};

	if (!engine_is_live() || engine_live_count() < 2 || (uint32_t)fd >= FILE_POINT_NUMBERS)
		return;
	bitset_add(closed_numbers, (uint32_t)fd);
	for (size_t i = 0; runtime.interruption_points && i < sizeof kinds / sizeof *kinds; i++)
		engine_set_second(kinds[i], fd_object(fd), file_point_second());
}

void file_point(long number, const long arguments[6], uint64_t site)
{
	struct engine_op op = {.site = site, .deadline_ns = ENGINE_FOREVER};
	const struct file_call *call;
	bool concerns_descriptor;

	if (!runtime.contract || !runtime.interruption_points || !engine_is_live() ||
		engine_live_count() < 2 || runtime.is_forked_child || runtime.is_run_over ||
		number < 0 || number >= (long)(sizeof file_calls / sizeof *file_calls))
		return;
	call = &file_calls[number];
	if (!call->kind)
		return;
	/* Output is no communication between the program's threads. */
	concerns_descriptor = file_point_concerns_descriptor(call, number, arguments);
	if ((concerns_descriptor && arguments[0] <= STDERR_FILENO) ||
		file_point_is_fstat(number, arguments) || file_point_is_in_loader(site))
		return;
	op.kind = call->kind;
	op.call = call->call;
	if (concerns_descriptor && !call->has_descriptor) {
		op.kind = OP_FD_CONTROL;
		op.call = CALL_CONTROL;
	}
	if (concerns_descriptor)
		file_point_describe_descriptor(&op, call, number, (int)arguments[0]);
	else
		file_point_describe_path(&op, call, number, arguments);
	if (runtime.interruption_points == INTERRUPTION_POINTS_FILES)
		runtime.contract->interruption_points = INTERRUPTION_POINTS_FILES;
	(void)engine_perform(&op);
}
