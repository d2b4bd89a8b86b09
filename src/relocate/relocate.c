#include "relocate/relocate.h"

#include <fcntl.h>
#include <link.h>
#include <linux/prctl.h>
#include <linux/rseq.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "platform/platform.h"

/* Work area during the relocation, in a range where no kernel places mappings. */
#define WORK_ADDRESS UINT64_C(0x100000000000)
#define WORK_STACK_BYTES (UINT64_C(64) * 1024)
#define MAPS_BYTES (UINT64_C(64) * 1024)
/* Largest finite stack limit. The kernel's search begins below the limit; a greater limit must be
 * unlimited. */
#define STACK_LIMIT_MOST (UINT64_C(32) * 1024 * 1024 * 1024)
/* Room below the strings that the kernel gives a new stack. */
#define STACK_ROOM (UINT64_C(132) * 1024)
#define RSEQ_SIGNATURE 0x53053053
#define RSEQ_BYTES_MOST 512

/* The kernel's downward search begins between start_least and start_most. The relocation fills
 * every gap from start_most down to fixed_end. */
struct search {
	uint64_t start_most, start_least;
	uint64_t fixed_end;
};

static const struct search relocate_searches[] = {
	{0x7ffff7fff000, 0x6ff000000000, FIXED_MAPPINGS_END},
	/* The kernel's search begins at a sixth of the address space if the stack is unlimited. */
	{0x155555556000, 0x050000000000, FIXED_MAPPINGS_END_UNLIMITED},
};

struct relocation {
	struct elf_file program, loader;
	struct initial_stack old, new;
	struct prctl_mm_map memory;
	const struct search *search;
	size_t work_bytes;
	char *image_end;
	char loader_path[4096];
	char maps[MAPS_BYTES];
};

extern void *__libc_stack_end;
extern const unsigned __rseq_size __attribute__((weak));
extern const ptrdiff_t __rseq_offset __attribute__((weak));
/* Defined by the linker: this library's own mapping. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

struct mapping {
	uint64_t start, end;
};

static uint64_t relocate_maps_read_hex(const char **text)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		const char digit = **text;

		if (digit >= '0' && digit <= '9')
			value = value * 16 + (uint64_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			value = value * 16 + (uint64_t)(digit - 'a') + 10;
		else
			return value;
	}
}

static bool relocate_maps_read(struct relocation *relocation)
{
	const long file =
		platform_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	long got = 0;

	if (platform_failed(file))
		return false;
	while (length < MAPS_BYTES - 1 &&
		(got = platform_call(
			 SYS_read, file, relocation->maps + length, MAPS_BYTES - 1 - length)) > 0)
		length += (size_t)got;
	(void)platform_call(SYS_close, file);
	relocation->maps[length] = '\0';
	return got == 0;
}

static bool relocate_maps_next(const char **at, struct mapping *mapping)
{
	if (!**at)
		return false;
	mapping->start = relocate_maps_read_hex(at);
	(*at)++;
	mapping->end = relocate_maps_read_hex(at);
	while (**at && **at != '\n')
		(*at)++;
	*at += **at == '\n';
	return true;
}

/* Fills the gaps. `is_filled` false: empties the same gaps again. */
static bool relocate_fill_gaps(const struct relocation *relocation, bool is_filled)
{
	const char *at = relocation->maps;
	const uint64_t end = relocation->search->start_most;
	uint64_t gap = relocation->search->fixed_end;
	struct mapping mapping;
	bool is_last = false;

	while (!is_last && gap < end) {
		is_last = !relocate_maps_next(&at, &mapping) || mapping.start > end;
		if (is_last)
			mapping = (struct mapping){end, end};
		if (mapping.start > gap && !is_filled)
			(void)platform_call(SYS_munmap, gap, mapping.start - gap);
		else if (mapping.start > gap &&
			 platform_failed(platform_call(SYS_mmap, gap, mapping.start - gap,
				 PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				 -1, 0)))
			return false;
		if (mapping.end > gap)
			gap = mapping.end;
	}
	return true;
}

static bool relocate_is_wanted(void)
{
	const long persona = platform_call(SYS_personality, 0xffffffff);
	uint32_t bytes;

	return (platform_failed(persona) || !(persona & ADDR_NO_RANDOMIZE)) &&
	       !platform_failed(platform_call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP_SIZE, &bytes)) &&
	       bytes == sizeof(struct prctl_mm_map);
}

static const struct search *relocate_find_search(uint64_t own)
{
	const struct search *search = relocate_searches;
	struct rlimit limit;

	if (platform_failed(platform_call(SYS_getrlimit, RLIMIT_STACK, &limit)))
		return NULL;
	if (limit.rlim_cur == RLIM_INFINITY)
		search++;
	else if (limit.rlim_cur > STACK_LIMIT_MOST)
		return NULL;
	return own >= search->start_least && own < search->start_most ? search : NULL;
}

static bool relocate_open_files(struct relocation *relocation)
{
	uint64_t start, end;

	if (!elf_open(&relocation->program, "/proc/self/exe"))
		return false;
	if (!elf_read_loader(&relocation->program, relocation->loader_path,
		    sizeof relocation->loader_path) ||
		!elf_open(&relocation->loader, relocation->loader_path)) {
		(void)platform_call(SYS_close, relocation->program.file);
		return false;
	}
	if (relocation->program.header.e_type == ET_DYN)
		relocation->program.base =
			FIXED_PROGRAM & ~(elf_greatest_alignment(&relocation->program) - 1);
	elf_span(&relocation->loader, &start, &end);
	relocation->loader.base = relocation->search->fixed_end - end;
	return true;
}

static void relocate_set_auxiliary(struct relocation *relocation)
{
	Elf64_auxv_t *entry = stack_in_image(relocation->image_end, relocation->new.auxiliary);

	for (; entry->a_type != AT_NULL; entry++) {
		if (entry->a_type == AT_PHDR)
			entry->a_un.a_val = elf_address_of_headers(&relocation->program);
		else if (entry->a_type == AT_ENTRY)
			entry->a_un.a_val =
				relocation->program.base + relocation->program.header.e_entry;
		else if (entry->a_type == AT_BASE)
			entry->a_un.a_val = relocation->loader.base;
	}
}

static bool relocate_describe(struct relocation *relocation)
{
	struct prctl_mm_map *memory = &relocation->memory;
	const struct elf_file *program = &relocation->program;
	const uint64_t shift = FIXED_STACK_END - relocation->old.end;
	const uint64_t *environment = relocation->old.environment;
	uint64_t start, end;

	elf_span(program, &start, &end);
	*memory = (struct prctl_mm_map){
		.start_brk = program->base + end,
		.brk = program->base + end,
		.start_stack = (uint64_t)(uintptr_t)relocation->new.start,
		.arg_start = relocation->new.strings,
		.arg_end = environment[0] ? environment[0] + shift : relocation->new.strings,
		.env_end = relocation->old.program_name + shift,
		.auxv = stack_in_image(relocation->image_end, relocation->new.auxiliary),
		.auxv_size = (uint32_t)(relocation->new.auxiliary_count * sizeof(Elf64_auxv_t)),
		.exe_fd = UINT32_MAX,
	};
	memory->env_start = memory->arg_end;
	for (unsigned i = 0; i < program->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &program->segments[i];
		const uint64_t first = program->base + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
			memory->start_code = first;
			memory->end_code = first + segment->p_filesz;
		} else if (segment->p_type == PT_LOAD) {
			memory->start_data = first;
			memory->end_data = first + segment->p_filesz;
		}
	}
	return !platform_failed(
		platform_call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, memory, sizeof *memory));
}

/* Unregisters the first loader's rseq area, to which the kernel would write at every preemption. */
static bool relocate_end_rseq(void)
{
	char *area;

	if (!&__rseq_size || !&__rseq_offset || !__rseq_size)
		return true;
	area = (char *)__builtin_thread_pointer() + __rseq_offset;
	for (long bytes = 32; bytes <= RSEQ_BYTES_MOST; bytes += 32)
		if (!platform_failed(platform_call(
			    SYS_rseq, area, bytes, RSEQ_FLAG_UNREGISTER, RSEQ_SIGNATURE)))
			return true;
	return false;
}

static bool relocate_is_kept(const struct mapping *mapping)
{
	const uint64_t own = page_down((uint64_t)(uintptr_t)__ehdr_start);
	const uint64_t own_end = page_up((uint64_t)(uintptr_t)_end);

	return (mapping->start < own_end && mapping->end > own) || mapping->start == WORK_ADDRESS ||
	       mapping->start > FIXED_STACK_END;
}

static void relocate_unmap_all(const struct relocation *relocation)
{
	const char *at = relocation->maps;
	struct mapping mapping;

	while (relocate_maps_next(&at, &mapping))
		if (!relocate_is_kept(&mapping))
			(void)platform_call(SYS_munmap, mapping.start, mapping.end - mapping.start);
}

static bool relocate_map_stack(const struct relocation *relocation)
{
	const uint64_t used = (uint64_t)(uintptr_t)relocation->new.start;
	const uint64_t start = page_down(used - STACK_ROOM);
	const int protection = PROT_READ | PROT_WRITE |
			       (elf_has_executable_stack(&relocation->program) ? PROT_EXEC : 0);

	if (platform_failed(platform_call(SYS_mmap, start, FIXED_STACK_END - start, protection,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN | MAP_STACK, -1, 0)))
		return false;
	relocate_copy(relocation->new.start,
		stack_in_image(relocation->image_end, relocation->new.start),
		FIXED_STACK_END - used);
	return true;
}

/* Runs on the stack in the work area: removes everything else of the old process. */
static void relocate_finish(void *argument)
{
	struct relocation *relocation = argument;

	relocate_unmap_all(relocation);
	if (!elf_map(&relocation->program) || !elf_map(&relocation->loader) ||
		!relocate_map_stack(relocation) || !relocate_maps_read(relocation) ||
		!relocate_fill_gaps(relocation, true))
		for (;;)
			(void)platform_call(SYS_exit_group, 127); /* memory is exhausted */
	relocate_enter((uint64_t)(uintptr_t)relocation->new.start,
		relocation->loader.base + relocation->loader.header.e_entry, relocation,
		relocation->work_bytes);
}

static bool relocate_prepare(struct relocation *relocation)
{
	if (!relocate_maps_read(relocation) || !relocate_open_files(relocation))
		return false;
	relocation->image_end = (char *)relocation + relocation->work_bytes - WORK_STACK_BYTES;
	stack_build(&relocation->old, relocation->image_end, &relocation->new);
	relocate_set_auxiliary(relocation);
	if (relocate_fill_gaps(relocation, true) && relocate_end_rseq() &&
		relocate_describe(relocation))
		return true;
	(void)relocate_fill_gaps(relocation, false);
	(void)platform_call(SYS_close, relocation->program.file);
	(void)platform_call(SYS_close, relocation->loader.file);
	return false;
}

static void relocate(void)
{
	struct relocation *relocation = (struct relocation *)WORK_ADDRESS;
	const uint64_t own = (uint64_t)(uintptr_t)__ehdr_start;
	const struct search *search = relocate_find_search(own);
	struct initial_stack stack;
	size_t bytes;

	if (!search || !relocate_is_wanted() || !stack_read(&stack, __libc_stack_end))
		return;
	if (own < search->fixed_end) {
		/* The random start was too low: another execve() gets another start. */
		(void)platform_call(
			SYS_execve, stack.program_name, stack.argument, stack.environment);
		return;
	}
	bytes = page_up(sizeof *relocation) + page_up(stack_image_bytes(&stack)) + WORK_STACK_BYTES;
	if (platform_failed(platform_call(SYS_mmap, WORK_ADDRESS, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)))
		return;
	relocation->old = stack;
	relocation->search = search;
	relocation->work_bytes = bytes;
	if (relocate_prepare(relocation))
		relocate_switch_stack((char *)relocation + bytes, relocate_finish, relocation);
	(void)platform_call(SYS_munmap, WORK_ADDRESS, bytes);
}

/* The loader asks each library of LD_AUDIT for its version; 0 unloads this library. */
__attribute__((visibility("default"))) unsigned la_version(unsigned version)
{
	(void)version;
	relocate();
	return 0;
}
