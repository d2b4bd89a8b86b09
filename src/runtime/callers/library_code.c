/* Finds the code of the C++ library: the library itself, and functions of its headers that other
 * modules contain, if compiled without optimisation. A step inside such code belongs to the user's
 * call. Optimised header functions may contain the user's inlined code, so a site inside them
 * stays. */
#include "runtime/callers.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/hot_state.h"
#include "platform/platform.h"
#include "runtime/callers/frames.h"
#include "runtime/known_modules.h"
#include "runtime/runtime.h"

/* Maximum number of known modules with such code; later ones are ignored. */
#define MODULES_MOST 32
/* Maximum depth inside the library. Only the library's own threads have deeper stacks. */
#define FRAMES_MOST 16
/* Distance from a function's start to the store of its first argument. */
#define PROLOGUE_MOST 48

struct library_module {
	uint64_t start, end;
	uint8_t *
		functions; /* one bit per byte of code, set in library functions; NULL: all is library */
};

static struct {
	struct library_module modules[MODULES_MOST];
	unsigned count;
} library;

HOT_STATE bool library_code_is_there;
static HOT_STATE bool library_code_is_set_up;

/*
 * Returns whether the name is the mangled name of a function in namespace std or __gnu_cxx, of a
 * lambda in them, or of libstdc++'s pthread layer. Itanium C++ ABI: <nested-name> begins with N and
 * qualifiers, a local name with Z and the name of its function. St, Sa, Sb, Ss, Si, So and Sd stand
 * for std and names in it.
 */
static bool library_code_is_name(const char *name)
{
	if (strncmp(name, "_Z", 2) != 0)
		return false;
	name += 2;
	while (*name == 'Z')
		name++;
	name += *name == 'L';
	if (*name == 'N')
		name += 1 + strspn(name + 1, "rVKRO");
	if (*name == 'S')
		return name[1] && strchr("tabsiod", name[1]);
	name += strspn(name, "0123456789");
	return strncmp(name, "__gthread_", 10) == 0 || strncmp(name, "__gnu_cxx", 9) == 0;
}

struct library_file {
	const uint8_t *start;
	size_t bytes;
};

static const void *library_code_part(
	const struct library_file *file, uint64_t offset, uint64_t bytes)
{
	return offset <= file->bytes && bytes <= file->bytes - offset ? file->start + offset : NULL;
}

/* Returns true for unoptimised code: push %rbp; mov %rsp, %rbp; ... mov %rdi, -n(%rbp). */
static bool library_code_is_unoptimised(const uint8_t *code, uint64_t bytes)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t frame[] = {0x55, 0x48, 0x89, 0xe5};
	const uint8_t *end = code + (bytes < PROLOGUE_MOST ? bytes : PROLOGUE_MOST);

	if (bytes > sizeof endbr64 && memcmp(code, endbr64, sizeof endbr64) == 0)
		code += sizeof endbr64;
	if (end - code < (ptrdiff_t)sizeof frame || memcmp(code, frame, sizeof frame) != 0)
		return false;
	for (code += sizeof frame; end - code > 2; code++)
		if (code[0] == 0x89 && (code[1] == 0x7d || code[1] == 0xbd))
			return true;
	return false;
}

static void library_code_mark(struct library_module *module, uint64_t start, uint64_t bytes)
{
	for (uint64_t at = start - module->start; bytes--; at++)
		module->functions[at / 8] |= (uint8_t)(1u << at % 8);
}

static void library_code_mark_symbols(struct library_module *module, uint64_t base,
	const struct library_file *file, const ElfW(Shdr) * table, const ElfW(Shdr) * strings)
{
	const ElfW(Sym) *symbols = library_code_part(file, table->sh_offset, table->sh_size);
	const char *names = library_code_part(file, strings->sh_offset, strings->sh_size);

	if (!symbols || !names || !strings->sh_size || names[strings->sh_size - 1])
		return;
	for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
		const uint64_t start = base + symbols[i].st_value;

		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || start < module->start ||
			start >= module->end || symbols[i].st_size > module->end - start ||
			symbols[i].st_name >= strings->sh_size ||
			!library_code_is_name(names + symbols[i].st_name) ||
			!library_code_is_unoptimised(
				(const uint8_t *)(uintptr_t)start, symbols[i].st_size))
			continue;
		if (!module->functions)
			module->functions =
				platform_map((module->end - module->start) / 8 + 1, false);
		if (module->functions)
			library_code_mark(module, start, symbols[i].st_size);
	}
}

static void library_code_read_file(
	struct library_module *module, uint64_t base, const struct library_file *file)
{
	const ElfW(Ehdr) *header = library_code_part(file, 0, sizeof *header);
	const ElfW(Shdr) *sections = header ? library_code_part(file, header->e_shoff,
						      (uint64_t)header->e_shnum * sizeof *sections)
					    : NULL;

	for (unsigned i = 0; sections && i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum)
			library_code_mark_symbols(
				module, base, file, &sections[i], &sections[sections[i].sh_link]);
}

static void library_code_read(struct library_module *module, uint64_t base, const char *path)
{
	const long fd = platform_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	const long bytes = fd < 0 ? 0 : platform_call(SYS_lseek, fd, 0L, SEEK_END);
	struct library_file file = {.bytes = bytes > 0 ? (size_t)bytes : 0};
	long start;

	if (file.bytes) {
		start = platform_call(SYS_mmap, NULL, file.bytes, PROT_READ, MAP_PRIVATE, fd, 0L);
		if (!platform_failed(start)) {
			file.start = (const uint8_t *)start;
			library_code_read_file(module, base, &file);
			(void)platform_call(SYS_munmap, start, file.bytes);
		}
	}
	if (fd >= 0)
		(void)platform_call(SYS_close, fd);
}

/* Returns true for a library in the system's folders, for the vDSO, which has no path, and for the runtime, if it
 * is a library: their symbols are not read. */
static bool library_code_is_system(const char *path, uint64_t code)
{
	return strncmp(path, "/lib", 4) == 0 || strncmp(path, "/usr/lib", 8) == 0 ||
	       (*path && (!strchr(path, '/') || runtime_is_own_code(code)));
}

static bool library_code_is_library(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	return strncmp(name, "libstdc++.so", 12) == 0 || strncmp(name, "libc++.so", 9) == 0;
}

static int library_code_add(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct library_module module = {.start = UINT64_MAX};

	(void)size;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const uint64_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
			continue;
		module.start = start < module.start ? start : module.start;
		module.end = start + header->p_memsz;
	}
	if (!module.end || library.count == MODULES_MOST)
		return 0;
	if (library_code_is_library(info->dlpi_name)) {
		library.modules[library.count++] = module;
	} else if (!library_code_is_system(info->dlpi_name, module.start)) {
		library_code_read(&module, info->dlpi_addr,
			*info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
		if (module.functions)
			library.modules[library.count++] = module;
	}
	return 0;
}

/* Modules with a bit for each byte of their code are not kept: these are too large. */
static void library_code_keep(struct contract_modules *known)
{
	if (library.count > CONTRACT_LIBRARY_MOST)
		return;
	for (unsigned i = 0; i < library.count; i++) {
		if (library.modules[i].functions)
			return;
		known->library[i].start = library.modules[i].start;
		known->library[i].end = library.modules[i].end;
	}
	known->library_count = library.count;
	known->facts |= FACT_LIBRARY;
}

void library_code_set_up(bool walks_stacks)
{
	struct contract_modules *known = known_modules();

	if (library_code_is_set_up)
		return;
	library_code_is_set_up = true;
	if (known_modules_have(known, FACT_LIBRARY) &&
		known->library_count <= CONTRACT_LIBRARY_MOST) {
		for (unsigned i = 0; i < known->library_count; i++)
			library.modules[library.count++] = (struct library_module){
				.start = known->library[i].start, .end = known->library[i].end};
	} else {
		(void)dl_iterate_phdr(library_code_add, NULL);
		if (known)
			library_code_keep(known);
	}
	library_code_is_there = library.count;
	if (walks_stacks || library_code_is_there)
		frames_set_up();
}

static bool library_code_has(uint64_t return_address)
{
	const uint64_t code = return_address - 1;

	for (unsigned i = 0; i < library.count; i++) {
		const struct library_module *module = &library.modules[i];
		const uint64_t at = code - module->start;

		if (at < module->end - module->start)
			return !module->functions || module->functions[at / 8] >> at % 8 & 1;
	}
	return false;
}

static bool library_code_read_stack(uint64_t address, uint64_t *word, void *unused)
{
	(void)unused;
	*word = *(const uint64_t *)(uintptr_t)address;
	return true;
}

uint64_t library_code_caller(uint64_t site, const void *own_frame)
{
	const uint64_t *words = own_frame;
	struct frame frame = {.return_address = site,
		.stack_pointer = (uint64_t)(uintptr_t)(words + 2),
		.base_pointer = words[0]};

	for (unsigned i = 0; i < FRAMES_MOST; i++) {
		if (!library_code_has(frame.return_address))
			return runtime_is_own_code(frame.return_address) ? site
									 : frame.return_address;
		if (!frame_leave(&frame, library_code_read_stack, NULL))
			break;
	}
	return site;
}
