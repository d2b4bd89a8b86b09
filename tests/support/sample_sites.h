/* A whole ELF file with sites, laid out by hand: no compiler is needed, and it is small. */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <zstd.h>

#include "base/bug.h"
#include "abi/instrument_abi.h"

#define SAMPLE_SITE_COUNT 3

struct sample_sites {
	Elf64_Ehdr header;
	Elf64_Shdr sections[5];
	struct site_record records[SAMPLE_SITE_COUNT];
	struct site_unit unit;
	uint8_t flags[SAMPLE_SITE_COUNT];
	uint8_t stored[125];
	uint32_t note[6];
	char names[80];
};

#define SAMPLE_ADDRESS 0x1000
#define SAMPLE_AT(member) (SAMPLE_ADDRESS + offsetof(struct sample_sites, member))
#define SAMPLE_DISTANCE(from, to) ((int32_t)((int64_t)SAMPLE_AT(to) - (int64_t)SAMPLE_AT(from)))

static inline void sample_section(struct sample_sites *file, unsigned number, unsigned name,
	uint32_t type, size_t offset, size_t bytes)
{
	file->sections[number] = (Elf64_Shdr){.sh_name = name,
		.sh_type = type,
		.sh_addr = SAMPLE_ADDRESS + offset,
		.sh_offset = offset,
		.sh_size = bytes};
}

/* Two locations and the sites; the first location is the outer one of the second. */
static inline void sample_unit(struct sample_sites *file)
{
	static const uint8_t plain[] = "\2\4"
				       "\2\2" /* functions main, get */
				       "\6\0" /* file queue.c */
				       "\0\2" /* outer */
				       "\30\0"
				       "\0\0"
				       "\4\0\0" /* locations of the sites */
				       "\10\0\0"
				       "\0\0\0"
				       "\0\0\0"
				       "\0\2\2"
				       "main\0get\0queue.c\0struct queue";
	const size_t stored =
		ZSTD_compress(file->stored, sizeof file->stored, plain, sizeof plain, 3);

	BUG_ON(ZSTD_isError(stored));
	file->unit = (struct site_unit){
		INSTRUMENT_MAGIC, SAMPLE_SITE_COUNT, sizeof plain, (uint32_t)stored};
}

static inline size_t sample_sites(uint8_t *bytes, size_t capacity)
{
	static const char names[] = "\0raddle_sites\0raddle_info\0.note.raddle\0.n";
	struct sample_sites file = {0};

	BUG_ON(sizeof file > capacity);
	memcpy(file.header.e_ident, "\177ELF\2\1\1", 7);
	file.header.e_type = ET_DYN;
	file.header.e_machine = EM_X86_64;
	file.header.e_version = EV_CURRENT;
	file.header.e_shoff = offsetof(struct sample_sites, sections);
	file.header.e_ehsize = sizeof file.header;
	file.header.e_shentsize = sizeof *file.sections;
	file.header.e_shnum = 5;
	file.header.e_shstrndx = 4;
	memcpy(file.names, names, sizeof names);
	sample_section(&file, 1, 1, SHT_PROGBITS, offsetof(struct sample_sites, records),
		sizeof file.records);
	sample_unit(&file);
	sample_section(&file, 2, 14, SHT_PROGBITS, offsetof(struct sample_sites, unit),
		sizeof file.unit + SAMPLE_SITE_COUNT + file.unit.stored_bytes);
	sample_section(
		&file, 3, 26, SHT_NOTE, offsetof(struct sample_sites, note), sizeof file.note);
	sample_section(
		&file, 4, 40, SHT_STRTAB, offsetof(struct sample_sites, names), sizeof file.names);
	memcpy(file.note, (uint32_t[]){7, 4, 1, 0x64646172, 0x0000656c, INSTRUMENT_ABI_VERSION},
		24);
	for (int i = 0; i < SAMPLE_SITE_COUNT; i++)
		file.records[i] = (struct site_record){.point = 0x500 + 16 * i,
			.info = SAMPLE_DISTANCE(records[0].info, flags[0]) + i -
				i * (int32_t)sizeof(struct site_record),
			.kind = SITE_STORE,
			.bytes = 8};
	memcpy(bytes, &file, sizeof file);
	return sizeof file;
}
