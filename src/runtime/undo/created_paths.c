/* Runs after the call, when the path may no longer exist: a path is identified by its text and the
 * folder it starts from. One created under another spelling counts as foreign, which costs only
 * speed. */
#include "runtime/undo/created_paths.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/hash.h"
#include "platform/platform.h"

/* Avoids libc's string functions, which may belong to a sanitizer. */
static uint64_t created_paths_path_name(long folder, const char *path)
{
	size_t length = 0;
	uint64_t name;

	while (path[length])
		length++;
	name = hash_bytes(path, length);
	name = *path == '/' ? name : hash_pair(name, (uint64_t)(uint32_t)folder);
	return name ? name : 1;
}

static uint64_t *created_paths_path_slot(struct created_paths *paths, uint64_t name)
{
	uint32_t at = (uint32_t)(name % (CREATED_PATHS_MAX * 2));

	while (paths->names[at] && paths->names[at] != name)
		at = (at + 1) % (CREATED_PATHS_MAX * 2);
	return &paths->names[at];
}

/* Paths beyond the table's size count as foreign. */
static void created_paths_path_add(struct created_paths *paths, long folder, const char *path)
{
	uint64_t name = created_paths_path_name(folder, path);
	uint64_t *slot = created_paths_path_slot(paths, name);

	if (*slot == name || paths->count == CREATED_PATHS_MAX)
		return;
	*slot = name;
	paths->count++;
}

/* Names are never removed: the run may create and remove a path again. */
static bool created_paths_path_is_foreign(
	struct created_paths *paths, long folder, const char *path)
{
	return !*created_paths_path_slot(paths, created_paths_path_name(folder, path));
}

void created_paths_clear(struct created_paths *paths)
{
	if (paths->count)
		platform_clear(paths, sizeof *paths);
}

/* A file opened with O_CREAT alone may have existed; then only an empty file can be created
 * again. */
static void created_paths_note_open(
	struct created_paths *paths, long folder, const char *path, long flags, long descriptor)
{
	struct stat status;

	if (!(flags & O_CREAT))
		return;
	if (!(flags & (O_EXCL | O_TRUNC)) &&
		(platform_failed(platform_call(SYS_fstat, descriptor, &status)) || status.st_size))
		return;
	created_paths_path_add(paths, folder, path);
}

static bool created_paths_note_rename(struct created_paths *paths, long from_folder,
	const char *from, long to_folder, const char *to)
{
	bool is_foreign = created_paths_path_is_foreign(paths, from_folder, from);

	created_paths_path_add(paths, to_folder, to);
	return is_foreign;
}

/* Records a socket's name in the file system, which is removed like a file's. */
static void created_paths_note_bind(
	struct created_paths *paths, const struct sockaddr *address, long bytes)
{
	const struct sockaddr_un *local = (const struct sockaddr_un *)address;
	long end = offsetof(struct sockaddr_un, sun_path);

	if (bytes <= end || local->sun_family != AF_UNIX || !local->sun_path[0])
		return;
	while (end < bytes && ((const char *)local)[end])
		end++;
	if (end < bytes)
		created_paths_path_add(paths, AT_FDCWD, local->sun_path);
}

/* Records paths of calls that also concern descriptors, which the caller logs. */
static void created_paths_note_descriptor(
	struct created_paths *paths, long number, const long a[6], long result)
{
	switch (number) {
	case SYS_creat:
		created_paths_note_open(
			paths, AT_FDCWD, (const char *)a[0], O_CREAT | O_TRUNC, result);
		break;
	case SYS_open:
		created_paths_note_open(paths, AT_FDCWD, (const char *)a[0], a[1], result);
		break;
	case SYS_openat:
		created_paths_note_open(paths, a[0], (const char *)a[1], a[2], result);
		break;
	case SYS_bind:
		created_paths_note_bind(paths, (const struct sockaddr *)a[1], a[2]);
		break;
	default:
		break;
	}
}

bool created_paths_note(
	struct created_paths *paths, long number, const long a[6], long result, bool *is_foreign)
{
	*is_foreign = false;
	switch (number) {
	case SYS_mkdir:
		created_paths_path_add(paths, AT_FDCWD, (const char *)a[0]);
		return true;
	case SYS_mkdirat:
		created_paths_path_add(paths, a[0], (const char *)a[1]);
		return true;
	case SYS_link:
	case SYS_symlink:
		created_paths_path_add(paths, AT_FDCWD, (const char *)a[1]);
		return true;
	case SYS_symlinkat:
		created_paths_path_add(paths, a[1], (const char *)a[2]);
		return true;
	case SYS_linkat:
		created_paths_path_add(paths, a[2], (const char *)a[3]);
		return true;
	case SYS_unlink:
	case SYS_rmdir:
		*is_foreign = created_paths_path_is_foreign(paths, AT_FDCWD, (const char *)a[0]);
		return true;
	case SYS_unlinkat:
		*is_foreign = created_paths_path_is_foreign(paths, a[0], (const char *)a[1]);
		return true;
	case SYS_rename:
		*is_foreign = created_paths_note_rename(
			paths, AT_FDCWD, (const char *)a[0], AT_FDCWD, (const char *)a[1]);
		return true;
	case SYS_renameat:
	case SYS_renameat2:
		*is_foreign = created_paths_note_rename(
			paths, a[0], (const char *)a[1], a[2], (const char *)a[3]);
		return true;
	default:
		created_paths_note_descriptor(paths, number, a, result);
		return false;
	}
}
