#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "platform/platform.h"
#include "relocate/relocate.h"

static bool relocate_elf_is_usable(const Elf64_Ehdr *header)
{
	return header->e_ident[EI_MAG0] == ELFMAG0 && header->e_ident[EI_MAG1] == ELFMAG1 &&
	       header->e_ident[EI_MAG2] == ELFMAG2 && header->e_ident[EI_MAG3] == ELFMAG3 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= PROGRAM_HEADERS_MAX;
}

bool elf_open(struct elf_file *elf, const char *path)
{
	const size_t entry_bytes = sizeof(Elf64_Phdr);
	long got;

	elf->base = 0;
	elf->file = platform_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (platform_failed(elf->file))
		return false;
	got = platform_call(SYS_pread64, elf->file, &elf->header, sizeof elf->header, 0);
	if (got == (long)sizeof elf->header && relocate_elf_is_usable(&elf->header)) {
		const size_t bytes = elf->header.e_phnum * entry_bytes;

		got = platform_call(
			SYS_pread64, elf->file, elf->segments, bytes, elf->header.e_phoff);
		if (got == (long)bytes)
			return true;
	}
	(void)platform_call(SYS_close, elf->file);
	return false;
}

void elf_span(const struct elf_file *elf, uint64_t *start, uint64_t *end)
{
	*start = UINT64_MAX;
	*end = 0;
	for (unsigned i = 0; i < elf->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type != PT_LOAD)
			continue;
		if (page_down(segment->p_vaddr) < *start)
			*start = page_down(segment->p_vaddr);
		if (page_up(segment->p_vaddr + segment->p_memsz) > *end)
			*end = page_up(segment->p_vaddr + segment->p_memsz);
	}
}

bool elf_read_loader(const struct elf_file *elf, char *path, size_t size)
{
	for (unsigned i = 0; i < elf->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type == PT_INTERP && segment->p_filesz <= size)
			return platform_call(SYS_pread64, elf->file, path, segment->p_filesz,
				       segment->p_offset) == (long)segment->p_filesz;
	}
	return false;
}

uint64_t elf_greatest_alignment(const struct elf_file *elf)
{
	uint64_t greatest = PAGE_BYTES;

	for (unsigned i = 0; i < elf->header.e_phnum; i++)
		if (elf->segments[i].p_type == PT_LOAD && elf->segments[i].p_align > greatest)
			greatest = elf->segments[i].p_align;
	return greatest;
}

uint64_t elf_address_of_headers(const struct elf_file *elf)
{
	const uint64_t offset = elf->header.e_phoff;

	for (unsigned i = 0; i < elf->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type == PT_LOAD && offset - segment->p_offset < segment->p_filesz)
			return elf->base + segment->p_vaddr + (offset - segment->p_offset);
	}
	return 0;
}

bool elf_has_executable_stack(const struct elf_file *elf)
{
	for (unsigned i = 0; i < elf->header.e_phnum; i++)
		if (elf->segments[i].p_type == PT_GNU_STACK)
			return elf->segments[i].p_flags & PF_X;
	return true;
}

static long relocate_elf_map_pages(
	uint64_t start, uint64_t end, int protection, long file, uint64_t offset)
{
	const int flags = MAP_PRIVATE | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0);

	return platform_call(SYS_mmap, start, end - start, protection, flags, file, offset);
}

static bool relocate_elf_map_segment(const struct elf_file *elf, const Elf64_Phdr *segment)
{
	const int protection = (segment->p_flags & PF_R ? PROT_READ : 0) |
			       (segment->p_flags & PF_W ? PROT_WRITE : 0) |
			       (segment->p_flags & PF_X ? PROT_EXEC : 0);
	const uint64_t start = elf->base + segment->p_vaddr;
	const uint64_t file_end = start + segment->p_filesz;
	const uint64_t end = page_up(start + segment->p_memsz);
	uint64_t mapped_end = page_down(start);

	if (segment->p_filesz) {
		mapped_end = page_up(file_end);
		if (platform_failed(relocate_elf_map_pages(page_down(start), mapped_end, protection,
			    elf->file, page_down(segment->p_offset))))
			return false;
		if (segment->p_memsz > segment->p_filesz && segment->p_flags & PF_W)
			platform_clear(
				(void *)(uintptr_t)file_end, (size_t)(mapped_end - file_end));
	}
	return end <= mapped_end ||
	       !platform_failed(relocate_elf_map_pages(mapped_end, end, protection, -1, 0));
}

bool elf_map(struct elf_file *elf)
{
	for (unsigned i = 0; i < elf->header.e_phnum; i++)
		if (elf->segments[i].p_type == PT_LOAD &&
			!relocate_elf_map_segment(elf, &elf->segments[i]))
			return false;
	(void)platform_call(SYS_close, elf->file);
	return true;
}
