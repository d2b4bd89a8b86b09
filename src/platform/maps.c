#include <fcntl.h>
#include <sys/syscall.h>

#include "platform/platform.h"

#define MAPS_BYTES ((size_t)1024 * 1024) /* enough for about ten thousand mappings */

static uintptr_t maps_hex(const char **text)
{
	uintptr_t value = 0;

	for (;; (*text)++) {
		char digit = **text;

		if (digit >= '0' && digit <= '9')
			value = value * 16 + (uintptr_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			value = value * 16 + (uintptr_t)(digit - 'a') + 10;
		else
			return value;
	}
}

/* Reads the whole list before the first visit, because a visitor may map memory. */
static bool maps_read(char *text)
{
	long file = platform_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	long got;

	if (platform_failed(file))
		return false;
	while ((got = platform_call(SYS_read, file, text + length, MAPS_BYTES - 1 - length)) > 0)
		length += (size_t)got;
	(void)platform_call(SYS_close, file);
	text[length] = '\0';
	return length < MAPS_BYTES - 1;
}

bool platform_each_mapping(platform_visit_mapping *visit, void *argument)
{
	char *text = platform_map(MAPS_BYTES, true);
	const char *at = text;
	bool is_complete = text && maps_read(text);

	while (is_complete && *at) {
		struct platform_mapping mapping;
		const char *flags;

		mapping.start = (char *)maps_hex(&at);
		at++;
		mapping.end = (char *)maps_hex(&at);
		flags = ++at;
		mapping.is_writable = flags[0] == 'r' && flags[1] == 'w';
		mapping.is_private = flags[3] == 'p';
		mapping.is_file = false;
		for (; *at && *at != '\n'; at++)
			mapping.is_file |= *at == '/';
		at += *at == '\n';
		is_complete = visit(argument, &mapping);
	}
	if (text)
		platform_unmap(text, MAPS_BYTES);
	return is_complete;
}
