/* Libraries of the target whose accesses to memory raddle does not see, in the order in which they concern a user. */
#include <string.h>

#include "base/starts_with.h"
#include "symbols/symbols_internal.h"

/* The user can build the first, and has chosen the second. */
enum opaque_rank { OPAQUE_OWN, OPAQUE_LINKED, OPAQUE_OTHER };

struct opaque_search {
	struct symbols *symbols;
	Elf *program;	    /* NULL if unknown */
	const char **names; /* of libraries of one rank */
	enum opaque_rank rank;
	unsigned names_most, named, count;
};

/* libc.so.6 also has an interpreter. */
static bool opaque_is_program(Dwfl_Module *module, Elf *elf)
{
	GElf_Phdr header;
	size_t count;

	if (symbols_module_is_system(module) || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP)
			return true;
	return false;
}

static int opaque_find_program(
	Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *argument)
{
	struct opaque_search *search = argument;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);

	(void)user;
	(void)name;
	(void)start;
	if (!elf || !opaque_is_program(module, elf))
		return DWARF_CB_OK;
	search->program = elf;
	return DWARF_CB_ABORT;
}

/* The program needs libuv.so.1, and the library's file is libuv.so.1.0.0. */
static bool opaque_is_linked(Elf *program, const char *library)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Dyn entry;

	while (program && (section = elf_nextscn(program, section))) {
		Elf_Data *data = elf_getdata(section, NULL);

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC || !data)
			continue;
		for (int i = 0; gelf_getdyn(data, i, &entry); i++) {
			const char *needed =
				entry.d_tag == DT_NEEDED
					? elf_strptr(program, header.sh_link, entry.d_un.d_val)
					: NULL;

			if (needed && starts_with(library, needed))
				return true;
		}
	}
	return false;
}

static enum opaque_rank opaque_rank_of(
	const struct opaque_search *search, const char *path, const char *library)
{
	static const char *const system_folders[] = {"/lib", "/usr/lib"};

	if (!STARTS_WITH_ANY(path, system_folders))
		return OPAQUE_OWN;
	return opaque_is_linked(search->program, library) ? OPAQUE_LINKED : OPAQUE_OTHER;
}

static int opaque_visit(
	Dwfl_Module *module, void **user, const char *path, Dwarf_Addr start, void *argument)
{
	struct opaque_search *search = argument;
	const char *library = symbols_module_name(module);
	GElf_Addr bias;
	Elf *elf;

	(void)user;
	(void)start;
	/* The name of the vDSO is in brackets. */
	if (*library == '[' || symbols_module_is_system(module))
		return DWARF_CB_OK;
	elf = dwfl_module_getelf(module, &bias);
	if (!elf || elf == search->program || points_has_sites(search->symbols, module) ||
		opaque_rank_of(search, path, library) != search->rank)
		return DWARF_CB_OK;
	search->count++;
	if (search->named < search->names_most)
		search->names[search->named++] = library;
	return DWARF_CB_OK;
}

unsigned symbols_opaque_libraries(struct symbols *symbols, const char **names, unsigned names_most)
{
	struct opaque_search search = {
		.symbols = symbols, .names = names, .names_most = names_most};

	(void)dwfl_getmodules(symbols->dwfl, opaque_find_program, &search, 0);
	for (search.rank = OPAQUE_OWN; search.rank <= OPAQUE_OTHER; search.rank++)
		(void)dwfl_getmodules(symbols->dwfl, opaque_visit, &search, 0);
	return search.count;
}
