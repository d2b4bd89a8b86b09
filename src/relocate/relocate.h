/*
 * Fixed addresses for a target where personality(ADDR_NO_RANDOMIZE) is refused, as by container
 * engines.
 *
 * The command names libraddle-relocate.so in LD_AUDIT, and the loader calls la_version() before it
 * maps any library. The process then holds the program, the loader and main's stack at random
 * addresses. This library
 *   - maps the program, the loader and a stack again, at the addresses below,
 *   - fills the range in which the kernel would location further mappings above them,
 *   - moves the program's break (PR_SET_MM_MAP needs no privilege),
 *   - unmaps what the kernel had mapped, and enters the loader again, which finds no LD_AUDIT.
 * The process keeps its pid, its descriptors and /proc/self/exe. If a step is not possible, nothing
 * changes and the program runs at random addresses. The code runs in the process's only thread,
 * without libc.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/memory/fixed_addresses.h"

#define PAGE_BYTES UINT64_C(4096)
#define PROGRAM_HEADERS_MAX 64
#define AUXILIARY_MAX 64

static inline uint64_t page_down(uint64_t address)
{
	return address & ~(PAGE_BYTES - 1);
}

static inline uint64_t page_up(uint64_t address)
{
	return page_down(address + PAGE_BYTES - 1);
}

/* Avoids memcpy(): the C library is not loaded yet. */
static inline void relocate_copy(void *to, const void *from, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

/* ---- executables (relocate_elf.c) ---- */

struct elf_file {
	long file;
	uint64_t base; /* added to addresses in the file */
	Elf64_Ehdr header;
	Elf64_Phdr segments[PROGRAM_HEADERS_MAX];
};

/* Opens a file and reads its headers. Returns false if there is no usable executable, and no file
 * is open. */
bool elf_open(struct elf_file *elf, const char *path);
/* Returns the file's lowest address and the end of its highest page, rounded to pages, without the
 * base. */
void elf_span(const struct elf_file *elf, uint64_t *start, uint64_t *end);
bool elf_read_loader(const struct elf_file *elf, char *path, size_t size);
uint64_t elf_greatest_alignment(const struct elf_file *elf);
uint64_t elf_address_of_headers(const struct elf_file *elf);
bool elf_has_executable_stack(const struct elf_file *elf);
/* Maps all segments at the base as the kernel does, and closes the file. */
bool elf_map(struct elf_file *elf);

/* ---- the initial stack (relocate_stack.c) ---- */

/* Layout of the initial stack: the argument count, three vectors, and the strings above them. */
struct initial_stack {
	uint64_t *start;
	uint64_t *argument; /* the vectors, each ended by a null pointer */
	uint64_t *environment;
	Elf64_auxv_t *auxiliary;
	uint64_t argument_count, environment_count, auxiliary_count;
	uint64_t strings;      /* address of the lowest string */
	uint64_t program_name; /* address of the highest string */
	uint64_t end;
};

/* Reads the stack whose argument count lies at `start`. Returns false if the layout is not as
 * expected. */
bool stack_read(struct initial_stack *stack, uint64_t *start);
/* Returns an upper bound for the bytes of an image of the stack. */
size_t stack_image_bytes(const struct initial_stack *stack);
/* Builds an image of the stack that is to end at FIXED_STACK_END, without this library in
 * LD_AUDIT. The image ends at image_end; `built` holds final addresses. The caller sets the
 * auxiliary vector's entries of program and loader. */
void stack_build(const struct initial_stack *stack, char *image_end, struct initial_stack *built);
/* Returns the location in the image for the final address. */
static inline void *stack_in_image(char *image_end, const void *address)
{
	return image_end - (FIXED_STACK_END - (uint64_t)(uintptr_t)address);
}

/* ---- jumps (relocate_jump.S) ---- */

/* The function must not return. */
void relocate_switch_stack(void *stack_end, void (*function)(void *), void *argument)
	__attribute__((noreturn));
/* Unmaps memory and enters a loader, with the registers that the kernel would set. */
void relocate_enter(uint64_t stack, uint64_t entry, void *unmapped, size_t bytes)
	__attribute__((noreturn));
