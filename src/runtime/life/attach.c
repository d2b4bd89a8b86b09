#include "runtime/attach.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "model/memory/fixed_addresses.h"
#include "platform/platform.h"

/* Far from the mappings of targets, and program memory for every sanitizer. */
#define CONTRACT_ADDRESS ((void *)FIXED_CONTRACT)
#define ENVIRONMENT_BYTES_MAX (256 * 1024)

bool attach_is_first(void)
{
	return true; /* the library was preloaded */
}

extern char **environ;

/* Returns whether the entry is that of the variable, and copies its value. */
static bool attach_read_entry(const char *entry, const char *name, char *value, size_t size)
{
	const size_t length = strlen(name);

	if (strncmp(entry, name, length) != 0 || entry[length] != '=' ||
		strlen(entry + length + 1) >= size)
		return false;
	memcpy(value, entry + length + 1, strlen(entry + length + 1) + 1);
	return true;
}

/* Reads /proc/self/environ: libc's constructor may not have run yet. Returns false if not found, or longer than
 * `size`. */
static bool attach_variable_of_file(const char *name, char *value, size_t size)
{
	char *block = platform_map(ENVIRONMENT_BYTES_MAX, false);
	long file = platform_call(SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	bool is_found = false;

	while (block && !platform_failed(file) && length < ENVIRONMENT_BYTES_MAX - 1) {
		long got = platform_call(
			SYS_read, file, block + length, ENVIRONMENT_BYTES_MAX - 1 - length);

		if (got <= 0)
			break;
		length += (size_t)got;
	}
	for (size_t at = 0; block && at < length && !is_found; at += strlen(block + at) + 1)
		is_found = attach_read_entry(block + at, name, value, size);
	if (!platform_failed(file))
		(void)platform_call(SYS_close, file);
	if (block)
		platform_unmap(block, ENVIRONMENT_BYTES_MAX);
	return is_found;
}

static bool attach_variable(const char *name, char *value, size_t size)
{
	for (char **entry = environ; entry && *entry; entry++)
		if (attach_read_entry(*entry, name, value, size))
			return true;
	return attach_variable_of_file(name, value, size);
}

static bool attach_ends_with(const char *text, size_t length, const char *end)
{
	const size_t end_length = strlen(end);

	return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

/* An entry such as "LD_PRELOAD=a:b". Returns false if no other library is left. */
static bool attach_strip_libraries(char *entry)
{
	char *value = strchr(entry, '=') + 1;
	char *from = value;
	char *to = value;

	while (*from) {
		size_t length = strcspn(from, ": ");
		bool is_ours = attach_ends_with(from, length, "libraddle.so") ||
			       attach_ends_with(from, length, "libraddle-libtsan.so") ||
			       attach_ends_with(from, length, "libraddle-relocate.so");

		if (!is_ours && length) {
			if (to != value)
				*to++ = ':';
			memmove(to, from, length);
			to += length;
		}
		from += length;
		from += strspn(from, ": ");
	}
	*to = '\0';
	return to != value;
}

void attach_clean_environment(char **environment)
{
	char **to = environment;

	for (char **from = environment; *from; from++) {
		if (strncmp(*from, CONTRACT_ENVIRONMENT "=", sizeof CONTRACT_ENVIRONMENT) == 0 ||
			strncmp(*from, CONTRACT_FILLER "=", sizeof CONTRACT_FILLER) == 0)
			continue;
		if ((strncmp(*from, "LD_PRELOAD=", 11) == 0 ||
			    strncmp(*from, "LD_AUDIT=", 9) == 0) &&
			!attach_strip_libraries(*from))
			continue;
		*to++ = *from;
	}
	*to = NULL;
}

struct contract *attach_contract(void)
{
	char path[64];
	struct stat status;
	struct contract *contract;
	long file;
	long start;

	if (!attach_variable(CONTRACT_ENVIRONMENT, path, sizeof path))
		return NULL;
	file = platform_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	if (platform_failed(file))
		return NULL;
	start = platform_call(SYS_fstat, file, &status);
	if (!platform_failed(start))
		start = platform_call(SYS_mmap, CONTRACT_ADDRESS, status.st_size,
			PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
	(void)platform_call(SYS_close, file);
	if (platform_failed(start))
		return NULL;
	contract = (struct contract *)start;
	if (contract->magic != CONTRACT_MAGIC)
		return NULL;
	_Static_assert(sizeof contract->range == sizeof(struct platform_range), "sizes differ");
	platform_keep_range((struct platform_range *)contract->range);
	contract->guest_pid = (uint32_t)platform_call(SYS_getpid);
	return contract;
}
