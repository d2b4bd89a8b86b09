/*
 * Programs that contain ThreadSanitizer's runtime (clang; gcc -static-libtsan). The executable's
 * definitions precede those of preloaded libraries, so the beginning of each such function is
 * overwritten by a jump: calls of the compiler lead to compiler/tsan, interceptors to the definition
 * that the loader would otherwise choose. ThreadSanitizer is never initialised: it maps no shadow
 * and does not start the program again.
 *
 * The code runs while the loader relocates this library, as the resolver of an indirect function:
 * later than libc's relocation, and before .preinit_array, where the program calls __tsan_init().
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "compiler/tsan/hook.h"
#include "platform/platform.h"
#include "runtime/interpose.h"

#define JUMP_BYTES 14u
#define PAGE_BYTES 4096u
#define TRAMPOLINE "__interceptor_trampoline_"

/* The program's file; mapped while its symbols are read. */
struct linked_file {
	const char *bytes;
	size_t size;
	uintptr_t base; /* load address */
	bool has_runtime;
	/* Some of the program's allocation operators are weak */
	bool has_weak_operators;
};

/* Returns the rest of the name behind the prefix; NULL if the name has another beginning. Calls no
 * function of libc, because the program's interceptors of strcmp() and others are not replaced yet. */
static const char *linked_behind(const char *name, const char *prefix)
{
	while (*prefix && *name == *prefix) {
		name++;
		prefix++;
	}
	return *prefix ? NULL : name;
}

/* Returns the intercepted function's name; NULL if the symbol is no interceptor. */
static const char *linked_intercepted(const char *name)
{
	static const char *const prefixes[] = {TRAMPOLINE, "___interceptor_", "__interceptor_"};
	static const char *const direct[] = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp",
		"__cxa_guard_acquire", "__cxa_guard_release", "__cxa_guard_abort"};

	const char *rest = NULL;

	for (size_t i = 0; !rest && i < sizeof prefixes / sizeof *prefixes; i++)
		rest = linked_behind(name, prefixes[i]);
	for (size_t i = 0; !rest && i < sizeof direct / sizeof *direct; i++) {
		const char *end = linked_behind(name, direct[i]);

		rest = end && !*end ? name : NULL;
	}
	return rest;
}

static bool linked_is_weak(const Elf64_Sym *symbol)
{
	return ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
}

static bool linked_is_operator(const char *name)
{
	return linked_behind(name, "_Zn") || linked_behind(name, "_Zd");
}

/* Returns the function that replaces the symbol; NULL if the symbol stays. ThreadSanitizer's
 * allocation operators are weak in newer releases, where a program may define its own. In older
 * ones they are not, and a program that defines its own cannot be linked. */
static void *linked_replacement(
	const struct linked_file *file, const char *name, const Elf64_Sym *symbol)
{
	const char *intercepted = linked_intercepted(name);
	void *own;

	if (linked_behind(name, "__tsan_") || linked_behind(name, "Annotate") ||
		linked_behind(name, "WTFAnnotate") || linked_behind(name, "RunningOnValgrind") ||
		linked_behind(name, "__sanitizer_unaligned_"))
		return runtime_own_symbol(name);
	/* Hooks around a program's own system calls read the state that is never initialised. */
	if (linked_behind(name, "__sanitizer_syscall_"))
		return runtime_own_symbol("__tsan_func_exit"); /* does nothing */
	if (linked_behind(name, "__sanitizer_"))
		return runtime_symbol_behind(name);
	if (!intercepted && linked_is_operator(name) &&
		linked_is_weak(symbol) == file->has_weak_operators)
		intercepted = name;
	if (!intercepted)
		return NULL;
	own = runtime_own_symbol(intercepted);
	return own ? own : runtime_symbol_behind(intercepted);
}

static void linked_write_jump(uintptr_t from, const void *to)
{
	/* jmp *0(%rip) */
	static const unsigned char code[JUMP_BYTES] = {0xff, 0x25};
	const uintptr_t start = from & -(uintptr_t)PAGE_BYTES;
	const size_t bytes = from + JUMP_BYTES - start;

	if (platform_failed(
		    platform_call(SYS_mprotect, start, bytes, PROT_READ | PROT_WRITE | PROT_EXEC)))
		return;
	memcpy((void *)from, code, JUMP_BYTES);
	memcpy((void *)(from + JUMP_BYTES - sizeof to), &to, sizeof to);
	(void)platform_call(SYS_mprotect, start, bytes, PROT_READ | PROT_EXEC);
}

typedef void linked_visit(struct linked_file *file, const char *name, const Elf64_Sym *symbol);

static void linked_survey(struct linked_file *file, const char *name, const Elf64_Sym *symbol)
{
	const char *end = linked_behind(name, "__tsan_init");

	file->has_runtime |= end && !*end;
	file->has_weak_operators |= linked_is_operator(name) && linked_is_weak(symbol);
}

static void linked_replace(struct linked_file *file, const char *name, const Elf64_Sym *symbol)
{
	const void *to = linked_replacement(file, name, symbol);
	const char *end = linked_behind(name, "__tsan_default_suppressions");

	/* clang does not export this function of a program. */
	if (end && !*end)
		tsan_default_suppressions = (const char *(*)(void))(file->base + symbol->st_value);
	/* Functions begin at multiples of 16, except for short ones in assembly. The trampolines of newer
	 * releases are jumps of five bytes, one behind the other, to interceptors that are replaced. */
	if (to && (symbol->st_size >= JUMP_BYTES ||
			  (symbol->st_value % 16 == 0 && !linked_behind(name, TRAMPOLINE))))
		linked_write_jump(file->base + symbol->st_value, to);
}

static void linked_each_of(struct linked_file *file, const Elf64_Shdr *table, linked_visit *visit)
{
	const Elf64_Shdr *sections =
		(const Elf64_Shdr *)(file->bytes + ((const Elf64_Ehdr *)file->bytes)->e_shoff);
	const Elf64_Sym *symbols = (const Elf64_Sym *)(file->bytes + table->sh_offset);
	const char *names = file->bytes + sections[table->sh_link].sh_offset;

	for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
			symbols[i].st_shndx != SHN_UNDEF)
			visit(file, names + symbols[i].st_name, &symbols[i]);
}

static void linked_each(struct linked_file *file, linked_visit *visit)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(file->bytes + header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM)
			linked_each_of(file, &sections[i], visit);
}

static void linked_replace_runtime(void)
{
	const struct link_map *program = _r_debug.r_map;
	struct linked_file file = {.base = program->l_addr};
	struct stat status;
	long opened, start = -1;

	/* The launcher preloads that library into programs with ThreadSanitizer's calls only. */
	if (!runtime_symbol_behind("raddle_libtsan_is_loaded"))
		return;
	opened = platform_call(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (platform_failed(opened))
		return;
	if (!platform_failed(platform_call(SYS_fstat, opened, &status)))
		start = platform_call(
			SYS_mmap, NULL, status.st_size, PROT_READ, MAP_PRIVATE, opened, 0);
	(void)platform_call(SYS_close, opened);
	if (platform_failed(start))
		return;
	file.bytes = (const char *)start;
	file.size = (size_t)status.st_size;
	linked_each(&file, linked_survey);
	if (file.has_runtime)
		linked_each(&file, linked_replace);
	(void)platform_call(SYS_munmap, file.bytes, file.size);
}

static void linked_nothing(void)
{
}

/* The type of an indirect function's resolver. */
typedef void linked_function(void);
__attribute__((used)) static linked_function *linked_resolve(void)
{
	linked_replace_runtime();
	return linked_nothing;
}

static void linked_at_relocation(void) __attribute__((ifunc("linked_resolve")));

/* linked_resolve() must run before all constructors. The loader calls it to find the value of this pointer, because the
 * pointer holds the address of an ifunc. No code reads the pointer: "retain" keeps the linker (--gc-sections) from
 * removing it. */
__attribute__((used, retain)) static linked_function *const linked_reference = linked_at_relocation;
