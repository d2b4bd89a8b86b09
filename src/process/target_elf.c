#include "process/target.h"

#include <elf.h>
#include <string.h>

#include "abi/instrument_abi.h"

/* An ELF file, read without libelf, which accepts more than the kernel. Files may be damaged: only
 * `elf_at` accesses their bytes. */
struct elf {
	const char *bytes;
	size_t size;
	const char *path;
	Elf64_Ehdr header;
};

/* Returns `count` bytes at `offset`, or NULL if they are not inside the file. */
static const void *target_elf_at(const struct elf *elf, uint64_t offset, uint64_t count)
{
	if (offset > elf->size || count > elf->size - offset)
		return NULL;
	return elf->bytes + offset;
}

static int target_elf_damaged(const struct elf *elf, const char *what, struct error *err)
{
	return error_set(err, ERROR_TARGET,
		"%s is a damaged ELF file (%s); build or install it again", elf->path, what);
}

static int target_elf_check_magic(const struct elf *elf, struct error *err)
{
	if (elf->size == 0)
		return error_set(
			err, ERROR_TARGET, "%s is empty; build or install it again", elf->path);
	if (elf->size >= 2 && memcmp(elf->bytes, "#!", 2) == 0)
		return error_set(err, ERROR_TARGET,
			"%s is a script; give its interpreter and the script, or the program that the script starts",
			elf->path);
	if (elf->size < SELFMAG || memcmp(elf->bytes, ELFMAG, SELFMAG) != 0)
		return error_set(err, ERROR_TARGET,
			"%s is not an ELF executable; give the compiled program", elf->path);
	if (elf->size <= EI_CLASS)
		return target_elf_damaged(elf, "it ends inside its header", err);
	if (elf->bytes[EI_CLASS] == ELFCLASS32)
		return error_set(err, ERROR_TARGET,
			"%s is a 32-bit program and raddle controls 64-bit ones only; build it with -m64",
			elf->path);
	if (elf->bytes[EI_CLASS] != ELFCLASS64)
		return target_elf_damaged(elf, "unknown class", err);
	return 0;
}

static int target_elf_check_header(struct elf *elf, struct error *err)
{
	const void *header = target_elf_at(elf, 0, sizeof elf->header);

	if (!header)
		return target_elf_damaged(elf, "it ends inside its header", err);
	memcpy(&elf->header, header, sizeof elf->header);
	if (elf->header.e_ident[EI_DATA] != ELFDATA2LSB || elf->header.e_machine != EM_X86_64)
		return error_set(err, ERROR_TARGET,
			"%s is for another processor (ELF machine %u); build it for x86-64",
			elf->path, elf->header.e_machine);
	if (elf->header.e_type == ET_REL)
		return error_set(
			err, ERROR_TARGET, "%s is an object file; link it first", elf->path);
	if (elf->header.e_type == ET_CORE)
		return error_set(err, ERROR_TARGET,
			"%s is a core dump; give the program that left it", elf->path);
	if (elf->header.e_type != ET_EXEC && elf->header.e_type != ET_DYN)
		return target_elf_damaged(elf, "unknown type", err);
	if (elf->header.e_phentsize != sizeof(Elf64_Phdr) || elf->header.e_phnum == 0)
		return target_elf_damaged(elf, "no program headers", err);
	return 0;
}

static int target_elf_program_header(
	const struct elf *elf, unsigned index, Elf64_Phdr *out, struct error *err)
{
	const void *at;

	*out = (Elf64_Phdr){0};
	if (elf->header.e_phoff > elf->size)
		return target_elf_damaged(elf, "its program headers lie outside the file", err);
	at = target_elf_at(elf, elf->header.e_phoff + index * sizeof *out, sizeof *out);
	if (!at)
		return target_elf_damaged(elf, "its program headers lie outside the file", err);
	memcpy(out, at, sizeof *out);
	return 0;
}

/* Returns the bytes loaded at a virtual address, and their number; NULL if there are none. */
static const char *target_elf_loaded_at(
	const struct elf *elf, uint64_t address, uint64_t *available)
{
	for (unsigned i = 0; i < elf->header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (target_elf_program_header(elf, i, &segment, NULL) < 0)
			return NULL;
		if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
			address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*available = segment.p_filesz - (address - segment.p_vaddr);
		if (segment.p_offset > elf->size || address - segment.p_vaddr > elf->size)
			return NULL;
		return target_elf_at(
			elf, segment.p_offset + (address - segment.p_vaddr), *available);
	}
	return NULL;
}

static bool target_elf_bytes_contain(const char *bytes, uint64_t size, const char *text)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* Reads the sections. They are optional, so damaged ones are treated as missing. */

static bool target_elf_section(const struct elf *elf, unsigned index, Elf64_Shdr *out)
{
	const void *at = NULL;

	if (elf->header.e_shentsize == sizeof *out && elf->header.e_shoff <= elf->size)
		at = target_elf_at(elf, elf->header.e_shoff + index * sizeof *out, sizeof *out);
	if (at)
		memcpy(out, at, sizeof *out);
	return at;
}

/* A runtime that is linked in calls __tsan_init() from .preinit_array, which few other programs have.
 * Returns which symbols the file has for it. */
static enum target_tsan target_elf_linked_tsan(const struct elf *elf)
{
	for (unsigned i = 0; i < elf->header.e_shnum; i++) {
		Elf64_Shdr section, names;
		const char *text = NULL;

		if (!target_elf_section(elf, i, &section))
			break;
		if (section.sh_type == SHT_SYMTAB &&
			target_elf_section(elf, section.sh_link, &names) &&
			names.sh_offset <= elf->size)
			text = target_elf_at(elf, names.sh_offset, names.sh_size);
		if (text && target_elf_bytes_contain(text, names.sh_size, "__tsan_init"))
			return TSAN_SERVED;
	}
	/* A message that all versions of the runtime contain. */
	return target_elf_bytes_contain(
		       elf->bytes, elf->size, "ThreadSanitizer: incorrect value for io_sync")
		       ? TSAN_NO_NAMES
		       : TSAN_NONE;
}

/* Reads traits from the dynamic string table: needed libraries, and symbols of a static sanitizer.
 * A wrong result only affects settings. */
static void target_elf_read_dynamic(
	const struct elf *elf, const Elf64_Phdr *dynamic, struct target_traits *traits)
{
	uint64_t strings = 0;
	uint64_t size = 0;
	uint64_t available;
	const char *table;
	bool has_preinit = false;

	for (uint64_t used = 0; used + sizeof(Elf64_Dyn) <= dynamic->p_filesz;
		used += sizeof(Elf64_Dyn)) {
		const void *at = NULL;
		Elf64_Dyn entry;

		if (dynamic->p_offset <= elf->size)
			at = target_elf_at(elf, dynamic->p_offset + used, sizeof entry);
		if (!at)
			return;
		memcpy(&entry, at, sizeof entry);
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_STRTAB)
			strings = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRSZ)
			size = entry.d_un.d_val;
		else if (entry.d_tag == DT_PREINIT_ARRAY)
			has_preinit = true;
	}
	table = target_elf_loaded_at(elf, strings, &available);
	if (!table)
		return;
	if (size > available)
		size = available;
	traits->has_address_sanitizer = target_elf_bytes_contain(table, size, "libasan.so") ||
					target_elf_bytes_contain(table, size, "__asan_init");
	traits->has_gnu_openmp = target_elf_bytes_contain(table, size, "libgomp.so");
	if (target_elf_bytes_contain(table, size, "libclang_rt.tsan") ||
		(target_elf_bytes_contain(table, size, "libtsan.so") &&
			!target_elf_bytes_contain(table, size, "libtsan.so.2")))
		traits->tsan = TSAN_OTHER;
	else if (target_elf_bytes_contain(table, size, "__tsan_init"))
		traits->tsan = TSAN_SERVED;
	else if (has_preinit && !traits->has_address_sanitizer) /* they exclude each other */
		traits->tsan = target_elf_linked_tsan(elf);
}

static int target_elf_read_loader(const struct elf *elf, const Elf64_Phdr *segment,
	struct target_traits *traits, struct error *err)
{
	const char *text = target_elf_at(elf, segment->p_offset, segment->p_filesz);

	if (!text || segment->p_filesz < 2 || segment->p_filesz > sizeof traits->loader ||
		text[segment->p_filesz - 1] != '\0')
		return target_elf_damaged(elf, "the name of its loader is not readable", err);
	memcpy(traits->loader, text, segment->p_filesz);
	return 0;
}

/* Reads the notes, which name the raddle that instrumented the file. */

static uint64_t target_elf_note_padded(uint64_t bytes)
{
	return (bytes + 3) & ~UINT64_C(3);
}

/* Looks for the note that each unit compiled by raddle-cc contains. Libraries are checked when they
 * are loaded. */
static int target_elf_read_notes(const struct elf *elf, const Elf64_Phdr *segment,
	struct target_traits *traits, struct error *err)
{
	static const char owner[] = "raddle";
	const char *notes = NULL;

	if (segment->p_offset <= elf->size)
		notes = target_elf_at(elf, segment->p_offset, segment->p_filesz);
	if (!notes)
		return target_elf_damaged(elf, "its notes lie outside the file", err);
	for (uint64_t used = 0; used + sizeof(Elf64_Nhdr) <= segment->p_filesz;) {
		uint64_t name = used + sizeof(Elf64_Nhdr);
		uint64_t content;
		Elf64_Nhdr note;
		uint32_t version;

		memcpy(&note, notes + used, sizeof note);
		content = name + target_elf_note_padded(note.n_namesz);
		used = content + target_elf_note_padded(note.n_descsz);
		if (used > segment->p_filesz)
			return 0; /* different padding: not a note of raddle */
		if (note.n_namesz != sizeof owner ||
			memcmp(notes + name, owner, sizeof owner) != 0 ||
			note.n_descsz < sizeof version)
			continue;
		memcpy(&version, notes + content, sizeof version);
		if (version != INSTRUMENT_ABI_VERSION)
			return error_set(err, ERROR_TARGET,
				"%s was compiled by the raddle-cc of another raddle (its sites are of version %u, not %u); compile it again",
				elf->path, version, INSTRUMENT_ABI_VERSION);
		traits->has_sites = true;
	}
	return 0;
}

/* Returns whether the file contains debug information, or names a separate file with it. */
static bool target_elf_has_debug(const struct elf *elf)
{
	Elf64_Shdr names;
	const char *text;

	if (!target_elf_section(elf, elf->header.e_shstrndx, &names) || names.sh_offset > elf->size)
		return false;
	text = target_elf_at(elf, names.sh_offset, names.sh_size);
	return text && (target_elf_bytes_contain(text, names.sh_size, "debug_info") ||
			       target_elf_bytes_contain(text, names.sh_size, ".gnu_debuglink"));
}

int target_read_elf(const void *bytes, size_t size, const char *path, struct target_traits *traits,
	struct error *err)
{
	struct elf elf = {.bytes = bytes, .size = size, .path = path};
	int status = target_elf_check_magic(&elf, err);

	if (status == 0)
		status = target_elf_check_header(&elf, err);
	if (status < 0)
		return status;
	memset(traits, 0, sizeof *traits);
	for (unsigned i = 0; i < elf.header.e_phnum && status == 0; i++) {
		Elf64_Phdr segment;

		status = target_elf_program_header(&elf, i, &segment, err);
		if (status == 0 && segment.p_type == PT_INTERP)
			status = target_elf_read_loader(&elf, &segment, traits, err);
		else if (status == 0 && segment.p_type == PT_DYNAMIC)
			target_elf_read_dynamic(&elf, &segment, traits);
		else if (status == 0 && segment.p_type == PT_NOTE)
			status = target_elf_read_notes(&elf, &segment, traits, err);
		else if (status == 0 && segment.p_type == PT_LOAD &&
			 (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
			status = target_elf_damaged(&elf, "it ends inside a segment", err);
	}
	if (status < 0)
		return status;
	traits->has_debug = target_elf_has_debug(&elf);
	traits->has_fixed_address = elf.header.e_type == ET_EXEC;
	if (!traits->loader[0] && elf.header.e_type == ET_DYN && elf.header.e_entry == 0)
		return error_set(err, ERROR_TARGET,
			"%s is a shared library; give a program that uses it", path);
	if (!traits->loader[0])
		return error_set(err, ERROR_TARGET,
			"%s is statically linked, so nothing can be loaded into it; link it dynamically (without -static)",
			path);
	return 0;
}
