#include <sys/mman.h>
#include <sys/syscall.h>

#include "platform/platform.h"

void *platform_map(size_t bytes, bool is_shared)
{
	int flags = MAP_ANONYMOUS | MAP_NORESERVE | (is_shared ? MAP_SHARED : MAP_PRIVATE);
	long start = platform_call(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);

	return platform_failed(start) ? NULL : (void *)start;
}

void platform_unmap(void *start, size_t bytes)
{
	(void)platform_call(SYS_munmap, start, bytes); /* our own mapping: cannot fail */
}
