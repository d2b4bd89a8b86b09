/* Patches the vDSO, which reads clocks without a system call: libc calls it directly, past
 * interposition. Its entry points are overwritten with jumps to the runtime. Kernels that seal
 * their mappings refuse the write; then nothing has changed. Runs once, at set-up, in the only
 * thread. */
#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

#define PAGE_BYTES 4096

/* Parts of the vDSO's image that locate a function. */
struct vdso {
	char *base; /* first byte of the mapping */
	size_t bytes;
	uintptr_t bias; /* add to an address in the image */
	const Elf64_Sym *symbols;
	size_t symbol_count;
	const char *names;
	size_t names_bytes;
};

static long vdso_clock_gettime(clockid_t clock, struct timespec *time)
{
	uint64_t ns;

	if (!time_read(clock, &ns))
		return -EINVAL;
	*time = time_to_timespec(ns);
	return 0;
}

static long vdso_gettimeofday(struct timeval *time, struct timezone *zone)
{
	return gettimeofday(time, zone);
}

static time_t vdso_time(time_t *out)
{
	return time(out);
}

static long vdso_getcpu(unsigned int *processor, unsigned int *node, void *unused)
{
	(void)unused;
	if (processor)
		*processor = affinity_processor();
	if (node)
		*node = 0;
	return 0;
}

static const struct vdso_entry {
	const char *name;
	uintptr_t function;
} vdso_entries[] = {
	{"__vdso_clock_gettime", (uintptr_t)vdso_clock_gettime},
	{"__vdso_gettimeofday", (uintptr_t)vdso_gettimeofday},
	{"__vdso_time", (uintptr_t)vdso_time},
	{"__vdso_getcpu", (uintptr_t)vdso_getcpu},
};

#define VDSO_ENTRY_COUNT (sizeof vdso_entries / sizeof vdso_entries[0])

static void vdso_read_dynamic(struct vdso *vdso, const Elf64_Dyn *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		uintptr_t address = vdso->bias + dynamic->d_un.d_ptr;

		if (dynamic->d_tag == DT_SYMTAB)
			vdso->symbols = (const Elf64_Sym *)address;
		else if (dynamic->d_tag == DT_STRTAB)
			vdso->names = (const char *)address;
		else if (dynamic->d_tag == DT_STRSZ)
			vdso->names_bytes = dynamic->d_un.d_val;
		else if (dynamic->d_tag == DT_HASH)
			vdso->symbol_count = ((const uint32_t *)address)[1];
	}
	/* If the old hash table is missing, the names follow the symbols. */
	if (!vdso->symbol_count && (const char *)vdso->symbols < vdso->names)
		vdso->symbol_count =
			(size_t)(vdso->names - (const char *)vdso->symbols) / sizeof *vdso->symbols;
}

static bool vdso_open(struct vdso *vdso)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Phdr *segments;
	const Elf64_Dyn *dynamic = NULL;

	if (!header)
		return false;
	*vdso = (struct vdso){.base = (char *)header, .bias = (uintptr_t)header};
	segments = (const Elf64_Phdr *)(vdso->base + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD) {
			vdso->bias = (uintptr_t)header - segments[i].p_vaddr;
			vdso->bytes = segments[i].p_offset + segments[i].p_memsz;
		} else if (segments[i].p_type == PT_DYNAMIC) {
			dynamic = (const Elf64_Dyn *)(vdso->base + segments[i].p_offset);
		}
	}
	if (!dynamic || !vdso->bytes)
		return false;
	vdso_read_dynamic(vdso, dynamic);
	return vdso->symbols && vdso->names && vdso->symbol_count;
}

static char *vdso_find(const struct vdso *vdso, const char *name, size_t least_bytes)
{
	for (size_t i = 1; i < vdso->symbol_count; i++) {
		const Elf64_Sym *symbol = &vdso->symbols[i];

		if (symbol->st_name < vdso->names_bytes && symbol->st_size >= least_bytes &&
			!strcmp(vdso->names + symbol->st_name, name))
			return (char *)(vdso->bias + symbol->st_value);
	}
	return NULL;
}

/* movabs $function, %rax; jmp *%rax */
#define JUMP_BYTES 12

static void vdso_write_jump(char *at, uintptr_t function)
{
	static const char move[] = {0x48, (char)0xb8};
	static const char jump[] = {(char)0xff, (char)0xe0};

	memcpy(at, move, sizeof move);
	memcpy(at + sizeof move, &function, sizeof function);
	memcpy(at + sizeof move + sizeof function, jump, sizeof jump);
}

bool runtime_patch_vdso(void)
{
	struct vdso vdso;
	char *locations[VDSO_ENTRY_COUNT];
	size_t bytes;

	if (!getauxval(AT_SYSINFO_EHDR))
		return true; /* libc asks the kernel */
	if (!vdso_open(&vdso))
		return false;
	for (size_t i = 0; i < VDSO_ENTRY_COUNT; i++) {
		locations[i] = vdso_find(&vdso, vdso_entries[i].name, JUMP_BYTES);
		if (!locations[i] && i == 0)
			return false; /* the essential entry point */
	}
	bytes = (vdso.bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	if (platform_failed(platform_call(
		    SYS_mprotect, vdso.base, bytes, PROT_READ | PROT_WRITE | PROT_EXEC)))
		return false;
	for (size_t i = 0; i < VDSO_ENTRY_COUNT; i++)
		if (locations[i])
			vdso_write_jump(locations[i], vdso_entries[i].function);
	(void)platform_call(SYS_mprotect, vdso.base, bytes, PROT_READ | PROT_EXEC);
	return true;
}
