#include "branches/decode/image.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "abi/contract_memory.h"
#include "base/strbuf.h"

/* First address for globals that no symbol table contains, above every mapping of a user
 * process. */
#define MADE_UP_START UINT64_C(0x7ffff80000000000)

/* Returns the object with the greatest base below the address. */
static uint32_t image_object_around(const struct run_record *record, uint64_t address)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < record->object_count; i++)
		if (record->objects[i].base <= address &&
			(best == UINT32_MAX ||
				record->objects[i].base > record->objects[best].base))
			best = i;
	return best;
}

static const char *image_object_path(
	const struct image *image, uint32_t object, const char *program)
{
	const char *path = image->record->objects[object].path;

	return *path ? path : program;
}

/* Returns whether the sites in the file equal those of the recorded process. */
static bool image_is_same_build(const struct program_file *file, const struct run_module *module)
{
	size_t size;
	const void *sites = site_table_section(file->sites, "raddle_sites", &size);

	return sites && size == module->count * sizeof(struct site_record) &&
	       memory_module_fingerprint(sites, module->count) == module->fingerprint;
}

/*
 * Optimisation at link time, which Clang marks, inlines functions and merges variables across
 * units.
 */
static int image_check_units(const struct image *image, struct error *err)
{
	static const char mark[] = "EnableSplitLTOUnit";

	for (uint32_t i = 0; i < image->program.unit_count; i++) {
		const struct unit *unit = &image->program.units[i];
		size_t length;

		if (LLVMGetModuleFlag(unit->module, mark, sizeof mark - 1))
			return error_set(err, ERROR_TARGET,
				"%s was optimised at link time (-flto): its run is not that of the bitcode in "
				"%s; build it again without",
				LLVMGetSourceFileName(unit->module, &length),
				image->program.files[unit->file].path);
	}
	return 0;
}

static int image_load_files(struct image *image, const char *program, struct error *err)
{
	const struct run_record *record = image->record;
	int status;

	image->paths = array_new(record->module_count + 1u, sizeof *image->paths);
	for (uint32_t i = 0; i < record->module_count; i++) {
		const uint32_t object = image_object_around(record, record->modules[i].records);

		if (object == UINT32_MAX)
			return error_set(err, ERROR_FORMAT,
				"the record does not say where the program was; record it again");
		image->paths[i] = string_copy(image_object_path(image, object, program));
	}
	status = program_load(
		&image->program, (const char *const *)image->paths, record->module_count, err);
	if (status == 0)
		status = image_check_units(image, err);
	for (uint32_t i = 0; i < record->module_count && status == 0; i++)
		if (!image_is_same_build(&image->program.files[i], &record->modules[i]))
			status = error_set(err, ERROR_VERSION,
				"the record is of another build of %s; record it again",
				image->paths[i]);
	return status;
}

static void image_open_symbols(struct image *image, const char *program)
{
	const struct run_record *record = image->record;

	image->files = array_new(record->object_count + 1u, sizeof *image->files);
	for (uint32_t i = 0; i < record->object_count; i++)
		symbol_file_open(&image->files[i], i ? record->objects[i].path : program,
			record->objects[i].base);
}

/* Tests the first local symbol only. */
static bool image_has_locals_of(
	const struct symbol_file *symbols, uint32_t group, const struct unit *unit)
{
	LLVMValueRef first = LLVMGetFirstGlobal(unit->module);
	size_t length;

	while (first && LLVMGetLinkage(first) != LLVMInternalLinkage)
		first = LLVMGetNextGlobal(first);
	if (!first) {
		first = LLVMGetFirstFunction(unit->module);
		while (first && LLVMGetLinkage(first) != LLVMInternalLinkage)
			first = LLVMGetNextFunction(first);
	}
	return !first || symbol_file_find(symbols, LLVMGetValueName2(first, &length), group);
}

/* Finds the symbols of a unit. Local symbols follow their source file's name; groups of one name
 * have the order of the units. */
static uint32_t image_find_group(const struct symbol_file *symbols, const struct unit *unit,
	const char *name, const bool *is_taken)
{
	for (uint32_t group = 1; group <= symbols->group_count; group++)
		if (!is_taken[group] && strcmp(symbols->groups[group], name) == 0 &&
			image_has_locals_of(symbols, group, unit))
			return group;
	return 0;
}

static void image_match_groups(struct image *image)
{
	const struct program *program = &image->program;
	uint32_t file = UINT32_MAX;
	bool *is_taken = NULL;

	image->unit_group = array_new(program->unit_count + 1u, sizeof *image->unit_group);
	image->unit_object = array_new(program->unit_count + 1u, sizeof *image->unit_object);
	for (uint32_t i = 0; i < program->unit_count; i++) {
		const struct unit *unit = &program->units[i];
		const uint32_t object = image_object_around(
			image->record, image->record->modules[unit->file].records);
		const struct symbol_file *symbols = &image->files[object];
		size_t length;
		FREE_SCOPED char *name = string_copy(LLVMGetSourceFileName(unit->module, &length));
		if (unit->file != file) {
			free(is_taken);
			is_taken = array_new(symbols->group_count + 1u, sizeof *is_taken);
		}
		file = unit->file;
		image->unit_object[i] = object;
		image->unit_group[i] = image_find_group(symbols, unit, basename(name), is_taken);
		is_taken[image->unit_group[i]] = true;
	}
	free(is_taken);
}

static uint64_t image_find_global(const struct image *image, uint32_t unit, const char *name)
{
	uint64_t address = symbol_file_find(&image->files[image->unit_object[unit]], name, 0);

	/* The executable is searched first, as the dynamic loader does. */
	for (uint32_t i = 0; i < image->record->object_count && !address; i++)
		address = symbol_file_find(&image->files[i], name, 0);
	return address;
}

/* Finds a hidden symbol, which is local in the file: the linker may location it after any group. */
static uint64_t image_find_anywhere(const struct image *image, uint32_t unit, const char *name)
{
	const struct symbol_file *file = &image->files[image->unit_object[unit]];
	uint64_t address = 0;

	for (uint32_t group = 1; group <= file->group_count && !address; group++)
		address = symbol_file_find(file, name, group);
	return address;
}

/* Does another unit of the file define the name for other units? A static function of that name is another function. */
static bool image_is_defined_nearby(const struct image *image, uint32_t unit, const char *name)
{
	for (uint32_t i = 0; i < image->program.unit_count; i++) {
		LLVMModuleRef module = image->program.units[i].module;
		LLVMValueRef global = LLVMGetNamedFunction(module, name);

		if (!global)
			global = LLVMGetNamedGlobal(module, name);
		if (image->unit_object[i] == image->unit_object[unit] && global &&
			!LLVMIsDeclaration(global) &&
			LLVMGetLinkage(global) != LLVMInternalLinkage &&
			LLVMGetLinkage(global) != LLVMPrivateLinkage)
			return true;
	}
	return false;
}

static uint64_t image_bytes_of(const struct unit *unit, LLVMValueRef global)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(global);

	return LLVMIsAFunction(global) || !LLVMTypeIsSized(type)
		       ? 16
		       : LLVMABISizeOfType(unit->layout, type);
}

static uint64_t image_find_address(struct image *image, uint32_t unit, LLVMValueRef global)
{
	const LLVMLinkage linkage = LLVMGetLinkage(global);
	size_t length;
	const char *name = LLVMGetValueName2(global, &length);
	uint64_t address = 0;

	if (length && linkage == LLVMInternalLinkage && image->unit_group[unit])
		address = symbol_file_find(
			&image->files[image->unit_object[unit]], name, image->unit_group[unit]);
	else if (length && linkage != LLVMPrivateLinkage)
		address = image_find_global(image, unit, name);
	if (!address && length && linkage != LLVMPrivateLinkage &&
		(!LLVMIsDeclaration(global) || image_is_defined_nearby(image, unit, name)))
		address = image_find_anywhere(image, unit, name);
	if (address)
		return address;
	address = image->next_made_up;
	image->next_made_up +=
		(image_bytes_of(&image->program.units[unit], global) + 63) & ~UINT64_C(31);
	return address;
}

struct global_address {
	uint64_t global; /* LLVMValueRef */
	uint64_t address;
};

uint64_t image_address(struct image *image, uint32_t unit, LLVMValueRef global)
{
	struct global_address *known =
		slots_get(&image->addresses, sizeof *known, (uintptr_t)global);

	if (!known) {
		known = slots_add(&image->addresses, sizeof *known, (uintptr_t)global);
		known->address = image_find_address(image, unit, global);
	}
	return known->address;
}

/* Returns whether the names match. Optimisers append a suffix to specialised functions:
 * "find.specialized.1". */
static bool image_is_named(LLVMValueRef function, const char *name)
{
	size_t length;
	const char *own = LLVMGetValueName2(function, &length);
	const size_t plain = name ? strlen(name) : 0;

	return name && strncmp(own, name, plain) == 0 && (own[plain] == '\0' || own[plain] == '.');
}

/* Units of which the linker kept another unit's copy of inline functions are skipped. */
static uint32_t image_unit_of_site(
	const struct image *image, uint32_t file, const struct site *site, uint32_t from)
{
	const struct program *program = &image->program;
	const char *name = site_table_function(program->files[file].sites, site);

	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = round ? 0 : from; i < program->unit_count; i++) {
			const struct unit *unit = &program->units[i];

			if (unit->file == file && site->function_number < unit->function_count &&
				image_is_named(unit->functions[site->function_number], name))
				return i;
		}
	}
	return UINT32_MAX;
}

static void image_attach(struct image *image, uint32_t number)
{
	struct image_site *site = &image->sites[number];
	const struct unit *unit = &image->program.units[site->unit];
	LLVMValueRef function = unit->functions[site->function_number];
	LLVMValueRef instruction =
		program_instruction(unit, site->function_number, site->instruction_number);
	uint32_t *at;
	uint32_t first;

	if (site->kind == SITE_FUNCTION_ENTRY) {
		value_map_set(&image->first_of_function, function, number);
		return;
	}
	if (!instruction || site->kind == SITE_FUNCTION_EXIT || site->kind == SITE_OPAQUE)
		return;
	first = value_map_get(&image->first_site, instruction);
	if (first == NUMBER_MAP_NONE) {
		value_map_set(&image->first_site, instruction, number);
		return;
	}
	for (at = &image->sites[first].next; *at != SITE_NONE; at = &image->sites[*at].next)
		;
	*at = number;
}

static void image_map_sites(struct image *image)
{
	const struct run_record *record = image->record;

	for (uint32_t i = 0; i < record->module_count; i++)
		image->site_count += record->modules[i].count;
	image->sites = array_new(image->site_count + 1u, sizeof *image->sites);
	for (uint32_t file = 0; file < record->module_count; file++) {
		const struct run_module *module = &record->modules[file];
		uint32_t unit = 0, function = 0;

		for (uint32_t i = 0; i < module->count; i++) {
			const struct site *from =
				site_table_at(image->program.files[file].sites, i);
			struct image_site *site = &image->sites[module->first + i];

			if (unit != UINT32_MAX && from->function_number < function)
				unit++;
			function = from->function_number;
			unit = image_unit_of_site(image, file, from, unit == UINT32_MAX ? 0 : unit);
			*site = (struct image_site){.kind = from->kind,
				.order = from->order,
				.bytes = from->bytes,
				.unit = unit,
				.function_number = from->function_number,
				.instruction_number = from->instruction_number,
				.next = SITE_NONE,
				.source = from,
				.file = file};
			if (unit != UINT32_MAX)
				image_attach(image, module->first + i);
		}
	}
}

int image_open(struct image *image, const struct run_record *record, const char *program,
	struct error *err)
{
	int status;

	*image = (struct image){.record = record, .next_made_up = MADE_UP_START};
	status = image_load_files(image, program, err);
	if (status == 0) {
		image_open_symbols(image, program);
		image_match_groups(image);
		image_map_sites(image);
	} else {
		image_close(image);
	}
	return status;
}

void image_close(struct image *image)
{
	for (uint32_t i = 0; image->files && i < image->record->object_count; i++)
		symbol_file_close(&image->files[i]);
	for (uint32_t i = 0; image->paths && image->paths[i]; i++)
		free(image->paths[i]);
	if (image->program.context)
		program_release(&image->program);
	number_map_release(&image->first_site);
	number_map_release(&image->first_of_function);
	free(image->paths);
	free(image->files);
	free(image->sites);
	free(image->unit_group);
	free(image->unit_object);
	slots_release(&image->addresses);
	*image = (struct image){0};
}
