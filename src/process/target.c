#include "process/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/strbuf.h"

/* Returns the first executable file of this name in PATH, which the caller frees; NULL if there is
 * none. */
static char *target_search_path(const char *name)
{
	const char *folders = getenv("PATH");
	STRBUF_SCOPED candidate = STRBUF_EMPTY;
	struct stat status;

	/* Folders that execvp searches if PATH is not set. */
	if (!folders || !*folders)
		folders = "/bin:/usr/bin";
	for (;;) {
		size_t length = strcspn(folders, ":");

		strbuf_clear(&candidate);
		strbuf_add(&candidate, length ? folders : ".", length ? length : 1);
		strbuf_addf(&candidate, "/%s", name);
		if (stat(candidate.text, &status) == 0 && S_ISREG(status.st_mode) &&
			access(candidate.text, X_OK) == 0)
			return strbuf_detach(&candidate);
		if (!folders[length])
			break;
		folders += length + 1;
	}
	return NULL;
}

static int target_check_file(const char *path, const struct stat *status, struct error *err)
{
	if (S_ISDIR(status->st_mode))
		return error_set(
			err, ERROR_TARGET, "%s is a directory; give the program inside it", path);
	if (!S_ISREG(status->st_mode))
		return error_set(
			err, ERROR_TARGET, "%s is not a regular file; give a program", path);
	if (access(path, X_OK) != 0)
		return error_set(err, ERROR_TARGET,
			"%s is not executable; chmod +x it, or give the built program", path);
	if (status->st_mode & (S_ISUID | S_ISGID))
		return error_set(err, ERROR_TARGET,
			"%s is set-user-id or set-group-id, so the loader ignores preloading; copy it without these bits and run the copy",
			path);
	if (getxattr(path, "security.capability", NULL, 0) > 0)
		return error_set(err, ERROR_TARGET,
			"%s has file capabilities, so the loader ignores preloading; copy it (cp drops them) and run the copy",
			path);
	return 0;
}

/* Maps the file. The caller unmaps it unless it is empty. */
static int target_map_file(const char *path, size_t size, const void **bytes, struct error *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	int result = 0;

	*bytes = "";
	if (file < 0)
		return error_set(err, ERROR_TARGET,
			"%s cannot be read (%s); raddle must read it to check it", path,
			strerror(errno));
	if (size > 0)
		*bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	if (*bytes == MAP_FAILED)
		result =
			error_set(err, ERROR_IO, "%s cannot be mapped (%s)", path, strerror(errno));
	(void)close(file); /* the file was opened for reading */
	return result;
}

static void target_unmap_file(const void *bytes, size_t size)
{
	if (size > 0)
		(void)munmap((void *)(uintptr_t)bytes, size); /* cannot fail: our own mapping */
}

static int target_read_traits(
	const char *path, size_t size, struct target_traits *traits, struct error *err)
{
	const void *bytes;
	int result = target_map_file(path, size, &bytes, err);

	if (result < 0)
		return result;
	result = target_read_elf(bytes, size, path, traits, err);
	target_unmap_file(bytes, size);
	return result;
}

int target_fingerprint(const struct target *target, uint64_t *fingerprint, struct error *err)
{
	const void *bytes;
	struct stat status;
	uint64_t word;
	size_t size, at;
	int result;

	if (stat(target->path, &status) != 0)
		return error_set(err, ERROR_TARGET, "%s cannot be read (%s); was it just built?",
			target->path, strerror(errno));
	size = (size_t)status.st_size;
	result = target_map_file(target->path, size, &bytes, err);
	if (result < 0)
		return result;
	*fingerprint = size;
	for (at = 0; at + sizeof word <= size; at += sizeof word) {
		memcpy(&word, (const char *)bytes + at, sizeof word);
		*fingerprint = hash_pair(*fingerprint, word);
	}
	*fingerprint = hash_pair(*fingerprint, hash_bytes((const char *)bytes + at, size - at)) | 1;
	target_unmap_file(bytes, size);
	return 0;
}

static int target_check_loader(
	const char *path, const struct target_traits *traits, struct error *err)
{
	if (strstr(traits->loader, "ld-musl"))
		return error_set(err, ERROR_TARGET,
			"%s uses the musl C library and raddle knows glibc only; build it against glibc",
			path);
	if (traits->tsan == TSAN_NO_NAMES)
		return error_set(err, ERROR_TARGET,
			"%s contains ThreadSanitizer's runtime, whose functions cannot be found because the program is stripped; give the program as it was linked",
			path);
	if (traits->tsan == TSAN_OTHER)
		return error_set(err, ERROR_TARGET,
			"%s needs a ThreadSanitizer library other than gcc's libtsan.so.2; link it with gcc 12 or later, or with clang without -shared-libsan",
			path);
	if (access(traits->loader, X_OK) != 0)
		return error_set(err, ERROR_TARGET,
			"%s wants the loader %s, which is not here; install it or rebuild the program",
			path, traits->loader);
	return 0;
}

int target_find(struct target *target, const char *name, struct error *err)
{
	struct stat status;
	char *path;
	int result;

	*target = (struct target){0};
	path = strchr(name, '/') ? strdup(name) : target_search_path(name);
	if (!path && !strchr(name, '/')) {
		if (stat(name, &status) == 0 && S_ISREG(status.st_mode))
			return error_set(err, ERROR_NOTFOUND,
				"no program %s in PATH, but the working folder has one; write ./%s",
				name, name);
		return error_set(err, ERROR_NOTFOUND,
			"no program %s in PATH; check the spelling, or give its path", name);
	}
	if (!path)
		return error_set(err, ERROR_NOMEM, "out of memory");
	if (stat(path, &status) != 0)
		result = error_set(err, ERROR_NOTFOUND, "no program %s (%s); check the path", name,
			strerror(errno));
	else
		result = target_check_file(path, &status, err);
	if (result == 0)
		result = target_read_traits(path, (size_t)status.st_size, &target->traits, err);
	if (result == 0)
		result = target_check_loader(path, &target->traits, err);
	if (result < 0) {
		free(path);
		return result;
	}
	target->path = path;
	return 0;
}

bool target_is_script(const char *name)
{
	FREE_SCOPED char *path = strchr(name, '/') ? strdup(name) : target_search_path(name);
	const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char head[2];
	bool is_script = false;

	if (file < 0)
		return false;
	is_script = read(file, head, sizeof head) == sizeof head && !memcmp(head, "#!", 2);
	(void)close(file); /* the file was opened for reading */
	return is_script;
}

void target_release(struct target *target)
{
	free(target->path);
	target->path = NULL;
}
