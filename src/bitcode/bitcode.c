/* The command's side of bitcode.h: loads libraddle-bitcode.so and prints results. */
#include "bitcode/bitcode.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/installed.h"
#include "abi/instrument_abi.h"

int points_to_compute(
	struct points_to **out, const struct points_to_files *files, struct error *err)
{
	static const struct installed_library library = {
		"libraddle-bitcode.so", "the package libllvm19", BITCODE_ENTRY, RTLD_LOCAL};
	/* The library stays loaded, because LLVM does not support unloading. */
	static points_to_entry *entry;

	*out = NULL;
	if (!entry && installed_load(&library, &entry, err) < 0)
		return err->code;
	return entry(out, files, bug_report, err);
}

void points_to_free(struct points_to *result)
{
	if (!result)
		return;
	for (uint32_t i = 0; i < result->variable_count; i++)
		free(result->variables[i].name);
	for (uint32_t i = 0; i < result->site_count; i++) {
		free(result->sites[i].location);
		free(result->sites[i].variables);
	}
	for (uint32_t i = 0; i < result->object_count; i++)
		free(result->objects[i].symbol);
	free(result->variables);
	free(result->objects);
	free(result->sites);
	free(result->foreign);
	free(result);
}

struct row {
	const char *variable, *location;
	uint8_t kind;
};

static const char *const kind_words[SITE_KIND_COUNT] = {
	[SITE_LOAD] = "read",
	[SITE_STORE] = "write",
	[SITE_ATOMIC_LOAD] = "atomic read",
	[SITE_ATOMIC_STORE] = "atomic write",
	[SITE_ATOMIC_UPDATE] = "atomic update",
	[SITE_COMPARE_EXCHANGE] = "compare-exchange",
	[SITE_RANGE_READ] = "read",
	[SITE_RANGE_WRITE] = "write",
	[SITE_STRING_READ] = "read",
	[SITE_STRING_WRITE] = "write",
};

static int bitcode_compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = strcmp(a->variable, b->variable);

	if (!order)
		order = strcmp(a->location, b->location);
	return order ? order : (int)a->kind - (int)b->kind;
}

static struct row *bitcode_rows_of(const struct points_to *result, size_t *count)
{
	struct row *rows;

	*count = 0;
	for (uint32_t i = 0; i < result->site_count; i++)
		*count += result->sites[i].variable_count;
	rows = array_new(*count + 1, sizeof *rows);
	*count = 0;
	for (uint32_t i = 0; i < result->site_count; i++) {
		const struct points_to_site *site = &result->sites[i];

		for (uint32_t j = 0; j < site->variable_count; j++)
			rows[(*count)++] = (struct row){
				.variable = result->variables[site->variables[j]].name,
				.location = site->location,
				.kind = site->kind,
			};
	}
	qsort(rows, *count, sizeof *rows, bitcode_compare_rows);
	return rows;
}

static uint32_t bitcode_count_open(const struct points_to *result)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < result->site_count; i++)
		count += result->sites[i].is_open;
	return count;
}

static uint32_t bitcode_count_unmatched(const struct points_to *result)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < result->site_count; i++)
		count += result->sites[i].is_unmatched;
	return count;
}

static int bitcode_compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static void bitcode_print_foreign(const struct points_to *result, FILE *out)
{
	FREE_SCOPED const char **names = array_new(result->foreign_count + 1, sizeof *names);
	for (uint32_t i = 0; i < result->foreign_count; i++)
		names[i] = result->variables[result->foreign[i]].name;
	qsort(names, result->foreign_count, sizeof *names, bitcode_compare_names);
	for (uint32_t i = 0; i < result->foreign_count; i++)
		fprintf(out, "%s%s", i ? ", " : "any that code without bitcode knows: ", names[i]);
	fputc('\n', out);
	for (uint32_t i = 0; i < result->site_count; i++)
		if (result->sites[i].is_open)
			fprintf(out, "    %-16s  %s\n", kind_words[result->sites[i].kind],
				result->sites[i].location);
}

void points_to_print(const struct points_to *result, FILE *out)
{
	size_t count;
	FREE_SCOPED struct row *rows = bitcode_rows_of(result, &count);

	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i], *last = i ? &rows[i - 1] : NULL;

		if (last && bitcode_compare_rows(last, row) == 0)
			continue;
		if (!last || strcmp(last->variable, row->variable) != 0)
			fprintf(out, "%s\n", row->variable);
		fprintf(out, "    %-16s  %s\n", kind_words[row->kind], row->location);
	}
	if (result->foreign_count && bitcode_count_open(result))
		bitcode_print_foreign(result, out);
	fprintf(out, "%s%u variables, %u sites", count ? "\n" : "", result->variable_count,
		result->site_count);
	if (result->foreign_count)
		fprintf(out,
			"; %u variables are known to code without bitcode, and %u sites may touch "
			"any of those",
			result->foreign_count, bitcode_count_open(result));
	if (bitcode_count_unmatched(result))
		fprintf(out, "; %u sites are not in the bitcode: they may touch anything",
			bitcode_count_unmatched(result));
	fputc('\n', out);
}
