/*
 * Layouts; modules, names and paths. Debug information is from this machine only: Debian's separate
 * files (by build id) and files named by .gnu_debuglink, never from the network.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/bug.h"
#include "base/visible.h"
#include "symbols/symbols_internal.h"

struct kept_text {
	struct kept_text *next;
	char text[];
};

/* Opens the debug file beside the object, if it has the object's build id. Returns a descriptor or
 * -1. */
static int symbols_open_debuglink(Dwfl_Module *module, const char *path)
{
	const unsigned char *wanted;
	GElf_Addr address;
	const int wanted_length = dwfl_module_build_id(module, &wanted, &address);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const void *found;
	bool is_same = false;
	Elf *elf;

	if (fd < 0)
		return -1;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && wanted_length > 0)
		is_same = dwelf_elf_gnu_build_id(elf, &found) == wanted_length &&
			  !memcmp(found, wanted, (size_t)wanted_length);
	(void)elf_end(elf); /* returns a reference count */
	if (is_same)
		return fd;
	(void)close(fd); /* the file was opened for reading */
	return -1;
}

static int symbols_find_debuginfo(Dwfl_Module *module, void **user_data, const char *module_name,
	Dwarf_Addr base, const char *file, const char *link, GElf_Word crc, char **found)
{
	static const char *const formats[] = {"%.*s%s", "%.*s.debug/%s", "/usr/lib/debug%.*s%s"};
	int fd = dwfl_build_id_find_debuginfo(
		module, user_data, module_name, base, file, link, crc, found);
	const char *slash = file ? strrchr(file, '/') : NULL;

	for (size_t i = 0; fd < 0 && link && slash && i < sizeof formats / sizeof *formats; i++) {
		char *path = NULL;

		BUG_ON(asprintf(&path, formats[i], (int)(slash + 1 - file), file, link) < 0);
		fd = symbols_open_debuglink(module, path);
		if (fd >= 0)
			*found = path;
		else
			free(path);
	}
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = symbols_find_debuginfo,
};

/* Assigns zeroed data (.bss) after an object's last file mapping to the object. The kernel shows it
 * as anonymous memory. */
static void symbols_claim_zeroed_data(FILE *maps, struct strbuf *out)
{
	char owner[4200] = "";
	FREE_SCOPED char *line = NULL;
	size_t size = 0;
	uint64_t last_end = 0;

	while (getline(&line, &size, maps) > 0) {
		uint64_t start, end, inode;
		char access[8];
		int file_at = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %" SCNu64 " %n", &start, &end,
			    access, &inode, &file_at) < 4 ||
			!file_at)
			continue;
		if (line[file_at] == '/')
			(void)snprintf(owner, sizeof owner, "%s",
				strstr(line, access)); /* a longer path loses its zeroed data */
		else if (inode || line[file_at] || start != last_end || strcmp(access, "rw-p"))
			*owner = '\0';
		if (*owner)
			strbuf_addf(out, "%" PRIx64 "-%" PRIx64 " %s", start, end, owner);
		last_end = end;
	}
}

static int symbols_report_modules(struct symbols *symbols, pid_t pid)
{
	char path[32];
	STRBUF_SCOPED text = STRBUF_EMPTY;
	FILE *maps, *claimed;
	int status = -1;

	(void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno;
	symbols_claim_zeroed_data(maps, &text);
	(void)fclose(maps); /* the file was opened for reading */
	claimed = text.length ? fmemopen(text.text, text.length, "r") : NULL;
	if (claimed) {
		dwfl_report_begin(symbols->dwfl);
		status = dwfl_linux_proc_maps_report(symbols->dwfl, claimed);
		if (dwfl_report_end(symbols->dwfl, NULL, NULL))
			status = -1;
		(void)fclose(claimed); /* the file was opened for reading */
	}
	return status;
}

int symbols_from_process(struct symbols **out, pid_t pid, struct error *err)
{
	struct symbols *symbols = array_new(1, sizeof *symbols);
	FREE_SCOPED char *folder = getcwd(NULL, 0);
	int status;

	BUG_ON(asprintf(&symbols->working_folder, "%s/", folder ? folder : "") < 0);
	symbols->dwfl = dwfl_begin(&callbacks);
	BUG_ON(!symbols->dwfl);
	status = symbols_report_modules(symbols, pid);
	if (!status) {
		*out = symbols;
		return 0;
	}
	symbols_free(symbols);
	return error_set(err, ERROR_TARGET,
		"cannot read the memory layout of process %d: %s; it has ended or belongs to another user",
		(int)pid, status > 0 ? strerror(status) : "it has none");
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	symbols_forget_lookups(symbols);
	symbols_forget_units(symbols);
	symbols_forget_functions(symbols);
	symbols_forget_variables(symbols);
	symbols_forget_types(symbols);
	symbols_forget_points(symbols);
	symbols_forget_blocks(symbols);
	symbols_forget_source_texts(symbols);
	free(symbols->numbers);
	while (symbols->texts) {
		struct kept_text *next = symbols->texts->next;

		free(symbols->texts);
		symbols->texts = next;
	}
	dwfl_end(symbols->dwfl);
	free(symbols->working_folder);
	free(symbols);
}

const char *symbols_keep(struct symbols *symbols, const char *text)
{
	FREE_SCOPED char *visible = visible_text(text, false);
	const size_t size = visible ? strlen(visible) + 1 : 0;
	struct kept_text *kept;

	if (!visible)
		return NULL;
	kept = array_new(1, sizeof *kept + size);
	memcpy(kept->text, visible, size);
	kept->next = symbols->texts;
	symbols->texts = kept;
	return kept->text;
}

const char *symbols_module_name(Dwfl_Module *module)
{
	const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

	return base_name(name);
}

static uint64_t symbols_module_start(Dwfl_Module *module)
{
	Dwarf_Addr start = 0;

	(void)dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
	return start;
}

/* Returns whether the module is a library whose lines do not help with the user's bug. Compares
 * names up to a dot, dash or digit. */
bool symbols_module_is_system(Dwfl_Module *module)
{
	static const char *const names[] = {"libraddle", "libc", "ld", "ld-linux", "libm", "libdl",
		"librt", "libpthread", "libstdc++", "libgcc_s", "libc++", "libc++abi", "libunwind",
		"libgomp", "libomp", "libasan", "liblsan", "libtsan", "libubsan", "libclang_rt",
		"libatomic"};
	const char *name = symbols_module_name(module);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const size_t length = strlen(names[i]);

		if (!strncmp(name, names[i], length) &&
			(!name[length] || strchr(".-", name[length])))
			return true;
	}
	return false;
}

Dwfl_Module *symbols_module_at(const struct symbols *symbols, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, address);
	Dwarf_Addr end = 0;

	if (module)
		(void)dwfl_module_info(module, NULL, NULL, &end, NULL, NULL, NULL, NULL);
	return address < end ? module : NULL;
}

/* Returns the module. symbols_claim_zeroed_data() has assigned the anonymous memory after a module's data
 * to the module. */
Dwfl_Module *symbols_data_module(struct symbols *symbols, uint64_t address)
{
	Dwfl_Module *module = symbols_module_at(symbols, address);
	GElf_Addr bias;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	GElf_Phdr header;
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
			address - bias - header.p_vaddr < header.p_memsz)
			return module;
	return NULL;
}

static bool symbols_has_symbol_table(Dwfl_Module *module)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

uint64_t symbols_module_offset(struct symbols *symbols, uint64_t address, const char **module)
{
	Dwfl_Module *found = symbols_module_at(symbols, address);

	if (!found)
		return 0;
	*module = symbols_module_name(found);
	return address - symbols_module_start(found);
}

const char *symbols_lacks_debug_information(
	struct symbols *symbols, uint64_t address, bool *has_symbols)
{
	Dwfl_Module *module = symbols_data_module(symbols, address);
	Dwarf_Addr bias;

	if (!module || symbols_module_is_system(module) || dwfl_module_nextcu(module, NULL, &bias))
		return NULL;
	*has_symbols = symbols_has_symbol_table(module);
	return symbols_module_name(module);
}

const char *symbols_die_linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
		dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return dwarf_formstring(&attribute);
	return NULL;
}

const char *symbols_shown_path(struct symbols *symbols, const char *folder, const char *path)
{
	const size_t prefix = strlen(symbols->working_folder);
	FREE_SCOPED char *full = NULL;

	if (!path)
		return NULL;
	if (*path != '/' && (!folder || *folder != '/'))
		return symbols_keep(symbols, path);
	BUG_ON(asprintf(&full, "%s/%s", *path == '/' ? "" : folder, path) < 0);
	symbols_simplify_path(full);
	return symbols_keep(
		symbols, strncmp(full, symbols->working_folder, prefix) ? full : full + prefix);
}

/* Reads an attribute of a DIE. Returns false if the DIE has no such attribute. File numbers of
 * DWARF 5 start at 0, so 0 is valid. */
static bool die_number(Dwarf_Die *die, int attribute, Dwarf_Word *number)
{
	Dwarf_Attribute value;

	return !dwarf_formudata(dwarf_attr_integrate(die, (unsigned)attribute, &value), number);
}

const char *symbols_die_path(Dwarf_Die *die, int attribute, Dwarf_Die *unit)
{
	Dwarf_Attribute value;
	Dwarf_Files *files;
	Dwarf_Word number;
	const char *path;
	size_t count;

	/* With link-time optimisation, another unit declares the variable and numbers its files. */
	if (!dwarf_attr_integrate(die, (unsigned)attribute, &value) ||
		dwarf_formudata(&value, &number) ||
		!dwarf_cu_die(value.cu, unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
		dwarf_getsrcfiles(unit, &files, &count) || number >= count)
		return NULL;
	path = dwarf_filesrc(files, number, NULL, NULL);
	/* libdw's name for the invalid file 0 before DWARF 5 */
	return path && strcmp(path, "???") ? path : NULL;
}

const char *symbols_die_file(struct symbols *symbols, Dwarf_Die *die, int attribute)
{
	Dwarf_Attribute value;
	Dwarf_Die unit;
	const char *path = symbols_die_path(die, attribute, &unit);

	if (!path)
		return NULL;
	return symbols_shown_path(
		symbols, dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &value)), path);
}

unsigned symbols_die_number(Dwarf_Die *die, int attribute)
{
	Dwarf_Word number;

	return die_number(die, attribute, &number) ? (unsigned)number : 0;
}
