/* The book of all functions with sites, found by LLVM value or by address. */
#include <fnmatch.h>
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "branches/decode/code.h"
#include "symbols/symbols.h"

static void code_book_add_function(struct code_book *book, uint32_t unit, LLVMValueRef value)
{
	struct function *function = &book->functions[book->function_count];
	uint32_t known;

	*function = (struct function){.value = value,
		.unit = unit,
		.entry = value_map_get(&book->image->first_of_function, value),
		.address = image_address(book->image, unit, value)};
	value_map_set(&book->by_value, value, book->function_count);
	known = number_map_get(&book->by_address, function->address);
	/* The linker keeps one of an inline function's copies, whose sites are in the record. */
	if (function->address &&
		(known == NUMBER_MAP_NONE || book->functions[known].entry == NUMBER_MAP_NONE))
		number_map_set(&book->by_address, function->address, book->function_count);
	book->function_count++;
}

void code_book_open(struct code_book *book, struct image *image)
{
	const struct program *program = &image->program;
	uint32_t count = 0;

	*book = (struct code_book){.image = image};
	for (uint32_t i = 0; i < program->unit_count; i++)
		count += program->units[i].function_count;
	book->functions = array_new(count + 1u, sizeof *book->functions);
	for (uint32_t i = 0; i < program->unit_count; i++)
		for (uint32_t j = 0; j < program->units[i].function_count; j++)
			code_book_add_function(book, i, program->units[i].functions[j]);
}

bool code_book_matches(const char *pattern, const char *path)
{
	const char *last = strrchr(path, '/');

	return fnmatch(pattern, path, 0) == 0 || (last && fnmatch(pattern, last + 1, 0) == 0);
}

static bool code_book_is_in_file(LLVMValueRef function, const char *pattern)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	LLVMMetadataRef file = subprogram ? LLVMDIScopeGetFile(subprogram) : NULL;
	unsigned length = 0;
	const char *text = file ? LLVMDIFileGetFilename(file, &length) : NULL;
	char path[4096];

	if (!text || length >= sizeof path)
		return false;
	memcpy(path, text, length);
	path[length] = '\0';
	return code_book_matches(pattern, path);
}

bool code_book_exclude(struct code_book *book, const char *pattern)
{
	bool is_any = false;

	for (uint32_t i = 0; i < book->function_count; i++) {
		struct function *function = &book->functions[i];
		const struct unit *unit = &book->image->program.units[function->unit];
		size_t length;
		const char *name = LLVMGetValueName2(function->value, &length);
		FREE_SCOPED char *readable = symbols_readable_name(name);

		if (fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, readable, 0) == 0 ||
			code_book_matches(pattern, book->image->paths[unit->file]) ||
			code_book_is_in_file(function->value, pattern))
			function->is_excluded = is_any = true;
	}
	return is_any;
}

static void code_book_release_function(struct function *function)
{
	for (uint32_t i = 0; i < function->code_count; i++) {
		struct code *code = &function->codes[i];
		const uint32_t edges =
			code->op == CODE_GO || code->op == CODE_BRANCH || code->op == CODE_SWITCH
				? code->count
				: 0;

		for (uint32_t j = 0; j < edges; j++)
			free(code->edges[j].moves);
		if (code->normal) {
			free(code->normal->moves);
			free(code->unwind->moves);
		}
		free(code->reads);
		free(code->normal);
		free(code->unwind);
		if (edges || code->op == CODE_CALL || code->op == CODE_VALUE)
			free(code->edges);
		else if (code->op == CODE_ADDRESS)
			free(code->terms);
	}
	free(function->codes);
	free(function->ops);
	free(function->constants);
	free(function->argument_sites);
	free(function->address_registers);
}

void code_book_close(struct code_book *book)
{
	for (uint32_t i = 0; i < book->function_count; i++)
		code_book_release_function(&book->functions[i]);
	for (uint32_t i = 0; i < book->constant_count; i++) {
		free(book->constants[i]->bytes);
		free(book->constants[i]);
	}
	free(book->constants);
	number_map_release(&book->by_value);
	free(book->functions);
	number_map_release(&book->by_address);
	free(book->branches);
	*book = (struct code_book){0};
}

struct function *code_book_at(const struct code_book *book, uint64_t address)
{
	const uint32_t number =
		address ? number_map_get(&book->by_address, address) : NUMBER_MAP_NONE;
	struct function *function = number != NUMBER_MAP_NONE ? &book->functions[number] : NULL;

	return function && function->entry != NUMBER_MAP_NONE ? function : NULL;
}

struct function *code_book_of_site(const struct code_book *book, uint32_t site)
{
	const struct image_site *of = &book->image->sites[site];
	uint32_t number;

	if (site >= book->image->site_count || of->unit == UINT32_MAX)
		return NULL;
	number = value_map_get(&book->by_value,
		book->image->program.units[of->unit].functions[of->function_number]);
	return number == NUMBER_MAP_NONE ? NULL : &book->functions[number];
}
