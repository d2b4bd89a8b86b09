#include "runtime/known_modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/hash.h"
#include "base/hot_state.h"
#include "runtime/runtime.h"

/* Hash of all modules; written by known_modules() once. */
static HOT_STATE struct {
	uint64_t hash;
	bool is_complete; /* every module has a build id */
} modules = {.is_complete = true};

static uint64_t known_modules_add(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t word;

	for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
		memcpy(&word, at, sizeof word);
		hash = hash_pair(hash, word);
	}
	return hash;
}

/* Adds the build id among the notes. Returns false if there is none. */
static bool known_modules_add_build_id(const char *note, size_t bytes)
{
	const char *end = note + bytes;

	while ((size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *header = (const ElfW(Nhdr) *)note;
		const size_t name_bytes = (header->n_namesz + 3u) & ~UINT32_C(3);
		const size_t text_bytes = (header->n_descsz + 3u) & ~UINT32_C(3);

		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == sizeof ELF_NOTE_GNU &&
			memcmp(header + 1, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
			modules.hash = known_modules_add(
				modules.hash, (const char *)(header + 1) + name_bytes, text_bytes);
			return true;
		}
		note += sizeof *header + name_bytes + text_bytes;
	}
	return false;
}

static int known_modules_visit(struct dl_phdr_info *info, size_t size, void *unused)
{
	bool has_build_id = false;

	(void)size;
	(void)unused;
	modules.hash = hash_pair(modules.hash, info->dlpi_addr);
	for (unsigned i = 0; i < info->dlpi_phnum && !has_build_id; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		/* Notes of 8 bytes' alignment hold properties of the code. */
		if (header->p_type == PT_NOTE && header->p_align <= 4)
			has_build_id = known_modules_add_build_id(
				(const char *)(info->dlpi_addr + header->p_vaddr), header->p_memsz);
	}
	modules.is_complete &= has_build_id;
	return !modules.is_complete;
}

struct contract_modules *known_modules(void)
{
	struct contract_modules *known;

	if (!runtime.contract)
		return NULL;
	known = &runtime.contract->modules;
	if (!modules.hash && modules.is_complete) {
		(void)dl_iterate_phdr(known_modules_visit, NULL);
		if (known->key != modules.hash) {
			known->facts = 0;
			known->key = modules.hash;
		}
	}
	return modules.is_complete ? known : NULL;
}
