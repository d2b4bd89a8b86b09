/*
 * Names thread-local variables of a stopped process. glibc has a vector per thread with the address
 * of each module's block; modules are numbered in the order of the loader's list.
 */
#include <link.h>

#include "base/array.h"
#include "symbols/symbols_internal.h"

#define MODULES_MAX 1024
/* struct r_debug and struct link_map of <link.h>, as they lie in the process. */
#define DEBUG_MAP offsetof(struct r_debug, r_map)
/* Offsets in tcbhead_t: the vector; an entry has the block and the pointer to free. */
#define BASE_VECTOR 8
#define VECTOR_ENTRY 16

static uint64_t thread_locals_block_bytes(Dwfl_Module *module)
{
	GElf_Addr bias;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	GElf_Phdr header;
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_TLS)
			return header.p_memsz;
	return 0;
}

struct numbered_modules {
	unsigned count;
	Dwfl_Module *modules[MODULES_MAX];
};

struct link_search {
	struct symbols *symbols;
	pid_t pid;
	uint64_t map; /* the loader's first struct link_map, 0: not found */
};

/* Finds the list's address through the dynamic section of an object. */
static int thread_locals_find_list(
	Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *to)
{
	struct link_search *search = to;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	GElf_Phdr header;
	size_t count;

	(void)user;
	(void)name;
	(void)start;
	if (!elf || elf_getphdrnum(elf, &count))
		return DWARF_CB_OK;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_DYNAMIC)
			continue;
		for (uint64_t at = header.p_vaddr + bias, end = at + header.p_memsz; at < end;
			at += sizeof(ElfW(Dyn))) {
			uint64_t tag, value;

			if (!unwind_read(search->symbols, search->pid, at, &tag) || !tag)
				break;
			if (tag == DT_DEBUG &&
				unwind_read(search->symbols, search->pid,
					at + offsetof(ElfW(Dyn), d_un), &value) &&
				value &&
				unwind_read(search->symbols, search->pid, value + DEBUG_MAP,
					&search->map))
				return DWARF_CB_ABORT;
		}
	}
	return DWARF_CB_OK;
}

/* Sorts the modules by number; returns their count. */
static unsigned thread_locals_number_modules(
	struct symbols *symbols, pid_t pid, Dwfl_Module **modules)
{
	struct link_search search = {.symbols = symbols, .pid = pid};
	uint64_t map, section;
	unsigned count = 0;

	/* the return value is not needed */
	(void)dwfl_getmodules(symbols->dwfl, thread_locals_find_list, &search, 0);
	map = search.map;
	for (unsigned i = 0; map && i < MODULES_MAX && count < MODULES_MAX; i++) {
		Dwfl_Module *module;

		if (!unwind_read(symbols, pid, map + offsetof(struct link_map, l_ld), &section))
			break;
		module = symbols_module_at(symbols, section);
		if (thread_locals_block_bytes(module))
			modules[count++] = module;
		if (!unwind_read(symbols, pid, map + offsetof(struct link_map, l_next), &map))
			break;
	}
	return count;
}

bool thread_locals_describe(struct symbols *symbols, pid_t pid, uint64_t thread_base,
	const struct variable_location *access, struct strbuf *out)
{
	struct numbered_modules *numbers = symbols->numbers;
	uint64_t vector, block;

	if (!numbers) {
		numbers = symbols->numbers = array_new(1, sizeof *numbers);
		numbers->count = thread_locals_number_modules(symbols, pid, numbers->modules);
	}
	if (!unwind_read(symbols, pid, thread_base + BASE_VECTOR, &vector))
		return false;
	for (unsigned i = 0; i < numbers->count; i++) {
		Dwfl_Module *module = numbers->modules[i];

		if (!unwind_read(symbols, pid, vector + (i + 1) * VECTOR_ENTRY, &block) ||
			access->location - block >= thread_locals_block_bytes(module))
			continue;
		return variables_describe(symbols, module,
			&(struct variable_location){.location = access->location - block,
				.bytes = access->bytes,
				.is_thread_local = true,
				.is_brief = access->is_brief},
			out);
	}
	return false;
}
