/* Registers the writable segments of all modules, each by the hash of its base name. */
#include <link.h>
#include <string.h>

#include "base/hash.h"
#include "runtime/runtime.h"

static int modules_add(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = strrchr(info->dlpi_name, '/');
	uint64_t hash;

	(void)size;
	(void)unused;
	name = name ? name + 1 : info->dlpi_name;
	hash = hash_bytes(name, strlen(name));
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && header->p_flags & PF_W)
			engine_add_module(start, start + header->p_memsz, hash);
	}
	return 0;
}

void runtime_add_modules(void)
{
	(void)dl_iterate_phdr(modules_add, NULL);
}
