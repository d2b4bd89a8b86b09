/* Loads libgcc_s before main, if the program references pthread_exit, cancellation or backtrace.
 * glibc loads it at the first use: in a rewound run again and again, at a cost above that of the
 * rest of the run. */
#include <execinfo.h>
#include <link.h>
#include <string.h>

#include "runtime/known_modules.h"
#include "runtime/callers.h"
#include "runtime/runtime.h"

/* Tables of a module that list the symbols it imports. */
struct unwinder_module {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * relocations[2]; /* relocations of calls, and all other relocations */
	size_t bytes[2];
};

static const void *unwinder_address(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	/* The loader has added the base, unless the dynamic section is read-only. */
	return (const void *)(entry->d_un.d_ptr < info->dlpi_addr
				      ? entry->d_un.d_ptr + info->dlpi_addr
				      : entry->d_un.d_ptr);
}

static void unwinder_read(
	struct unwinder_module *module, const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_SYMTAB:
			module->symbols = unwinder_address(info, entry);
			break;
		case DT_STRTAB:
			module->names = unwinder_address(info, entry);
			break;
		case DT_JMPREL:
			module->relocations[0] = unwinder_address(info, entry);
			break;
		case DT_PLTRELSZ:
			module->bytes[0] = entry->d_un.d_val;
			break;
		case DT_RELA:
			module->relocations[1] = unwinder_address(info, entry);
			break;
		case DT_RELASZ:
			module->bytes[1] = entry->d_un.d_val;
			break;
		default:
			break;
		}
}

static bool unwinder_is_wanted_as(const char *name)
{
	return strcmp(name, "pthread_exit") == 0 || strcmp(name, "pthread_cancel") == 0 ||
	       strcmp(name, "thrd_exit") == 0 || strcmp(name, "backtrace") == 0;
}

static bool unwinder_is_wanted(const struct unwinder_module *module, int kind)
{
	const ElfW(Rela) *relocations = module->relocations[kind];
	size_t count = relocations ? module->bytes[kind] / sizeof *relocations : 0;

	for (size_t i = 0; i < count; i++) {
		size_t symbol = ELF64_R_SYM(relocations[i].r_info);

		if (symbol &&
			unwinder_is_wanted_as(module->names + module->symbols[symbol].st_name))
			return true;
	}
	return false;
}

static int unwinder_look(struct dl_phdr_info *info, size_t size, void *is_wanted)
{
	struct unwinder_module module = {0};

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			unwinder_read(&module, info,
				(const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
	/* The runtime itself references all of these functions. */
	if (module.symbols && module.names &&
		!runtime_is_own_code((uint64_t)(uintptr_t)module.symbols))
		*(bool *)is_wanted =
			unwinder_is_wanted(&module, 0) || unwinder_is_wanted(&module, 1);
	return *(bool *)is_wanted;
}

static bool unwinder_search(void)
{
	bool is_wanted = false;

	(void)dl_iterate_phdr(unwinder_look, &is_wanted);
	return is_wanted;
}

void runtime_load_unwinder(void)
{
	struct contract_modules *known = known_modules();
	const bool is_wanted = known_modules_have(known, FACT_UNWINDER) ? known->wants_unwinder
									: unwinder_search();
	void *frame;

	if (known) {
		known->wants_unwinder = is_wanted;
		known->facts |= FACT_UNWINDER;
	}
	if (is_wanted)
		(void)backtrace(&frame, 1); /* loads libgcc_s, as ending a thread would */
}
