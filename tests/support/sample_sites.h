/* A whole ELF file with sites, laid out by hand: no compiler is needed, and it is small. */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bug.h"
#include "abi/instrument_abi.h"

#define SAMPLE_SITE_COUNT 3

struct sample_sites {
	Elf64_Ehdr header;
	Elf64_Shdr sections[6];
	struct site_record records[SAMPLE_SITE_COUNT];
	struct site_info places[SAMPLE_SITE_COUNT];
	struct site_place outer;
	char strings[32];
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

static inline size_t sample_sites(uint8_t *bytes, size_t capacity)
{
	static const char names[] = "\0raddle_sites\0raddle_info\0raddle_strings\0.note.raddle\0.n";
	struct sample_sites file = {0};

	BUG_ON(sizeof file > capacity);
	memcpy(file.header.e_ident, "\177ELF\2\1\1", 7);
	file.header.e_type = ET_DYN;
	file.header.e_machine = EM_X86_64;
	file.header.e_version = EV_CURRENT;
	file.header.e_shoff = offsetof(struct sample_sites, sections);
	file.header.e_ehsize = sizeof file.header;
	file.header.e_shentsize = sizeof *file.sections;
	file.header.e_shnum = 6;
	file.header.e_shstrndx = 5;
	memcpy(file.names, names, sizeof names);
	sample_section(&file, 1, 1, SHT_PROGBITS, offsetof(struct sample_sites, records),
		sizeof file.records);
	sample_section(&file, 2, 14, SHT_PROGBITS, offsetof(struct sample_sites, places),
		sizeof file.places + sizeof file.outer);
	sample_section(&file, 3, 26, SHT_PROGBITS, offsetof(struct sample_sites, strings),
		sizeof file.strings);
	sample_section(
		&file, 4, 41, SHT_NOTE, offsetof(struct sample_sites, note), sizeof file.note);
	sample_section(
		&file, 5, 55, SHT_STRTAB, offsetof(struct sample_sites, names), sizeof file.names);
	memcpy(file.strings, "\0main\0get\0queue.c\0struct queue", 31);
	memcpy(file.note, (uint32_t[]){7, 4, 1, 0x64646172, 0x0000656c, INSTRUMENT_ABI_VERSION},
		24);
	for (int i = 0; i < SAMPLE_SITE_COUNT; i++) {
		const int32_t back = i * (int32_t)sizeof(struct site_info);

		file.records[i] = (struct site_record){.point = 0x500 + 16 * i,
			.stub = 0x700,
			.info = SAMPLE_DISTANCE(records[0].info, places[0]) + back -
				i * (int32_t)sizeof(struct site_record),
			.kind = SITE_STORE,
			.bytes = 8};
		file.places[i].place.function =
			SAMPLE_DISTANCE(places[0].place.function, strings[6]) - back;
		file.places[i].place.file =
			SAMPLE_DISTANCE(places[0].place.file, strings[10]) - back;
		file.places[i].place.line = 12;
		file.places[i].type = SAMPLE_DISTANCE(places[0].type, strings[18]) - back;
	}
	file.places[0].place.inlined_at = SAMPLE_DISTANCE(places[0].place.inlined_at, outer);
	file.outer.function = SAMPLE_DISTANCE(outer.function, strings[1]);
	memcpy(bytes, &file, sizeof file);
	return sizeof file;
}
