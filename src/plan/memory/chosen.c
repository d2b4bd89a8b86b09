#include "plan/memory/chosen.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/bitset.h"
#include "base/strbuf.h"
#include "plan/memory/chosen_internal.h"
#include "symbols/tables/site_table.h"

static void chosen_add_file(struct chosen_files *files, const char *path)
{
	ARRAY_APPEND(files->paths, files->count, string_copy(path));
}

static void chosen_release_files(struct chosen_files *files)
{
	for (uint32_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
}

static bool chosen_has_sites(const char *path)
{
	struct site_table *table;
	struct error ignored;

	if (site_table_open(&table, path, &ignored))
		return false;
	site_table_free(table);
	return true;
}

/* Returns the path in a line of the form " libfoo.so => /lib/libfoo.so (0x7f...)", or NULL. */
static char *chosen_path_in_line(char *line)
{
	char *start = strstr(line, "=> ");
	char *end = start ? strstr(start, " (0x") : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	return start + 3;
}

/* Adds the libraries that the loader lists, because the loader alone knows their paths. */
static void chosen_add_libraries(
	struct chosen_files *files, const char *program, const char *loader)
{
	FREE_SCOPED char *line = NULL;
	size_t size = 0;
	char command[2 * 4096];
	FILE *list;

	/* A path with a quote cannot be quoted for the shell: no libraries are added. */
	if (!*loader || strchr(program, '\'') || strchr(loader, '\''))
		return;
	if (snprintf(command, sizeof command, "'%s' --list '%s' 2>/dev/null", loader, program) >=
		(int)sizeof command)
		return;
	list = popen(command, "r");
	if (!list)
		return;
	while (getline(&line, &size, list) > 0) {
		const char *path = chosen_path_in_line(line);

		if (path && chosen_has_sites(path))
			chosen_add_file(files, path);
	}
	(void)pclose(list); /* the output alone counts, not the exit status */
}

/* Returns whether the pattern matches the name: "queue" matches "queue.head" and "queue[]"; "que"
 * does not. */
static bool chosen_matches_name(const char *pattern, const char *name)
{
	const size_t length = strlen(pattern);

	if (fnmatch(pattern, name, 0) == 0)
		return true;
	return strncmp(pattern, name, length) == 0 && strchr(".[+", name[length]);
}

static bool chosen_choose_variables(
	const struct points_to *result, const char *pattern, uint64_t *marked)
{
	bool has_any = false;

	for (uint32_t i = 0; i < result->variable_count; i++) {
		if (!chosen_matches_name(pattern, result->variables[i].name))
			continue;
		bitset_add(marked, i);
		has_any = true;
	}
	return has_any;
}

static int chosen_choose_all(
	const struct points_to *result, const char *patterns, uint64_t *marked, struct error *err)
{
	char *copy = string_copy(patterns);
	char *rest = copy, *pattern;
	int status = 0;

	while (!status && (pattern = strsep(&rest, ",")))
		if (*pattern && !chosen_choose_variables(result, pattern, marked))
			status = error_set(err, ERROR_USAGE,
				"no variable %s in the program; raddle cc --points-to PROGRAM lists them",
				pattern);
	free(copy);
	return status;
}

static bool chosen_touches(
	const struct points_to_site *site, const uint64_t *marked, bool is_any_foreign)
{
	if (site->is_unmatched || (site->is_open && is_any_foreign))
		return true;
	for (uint32_t i = 0; i < site->variable_count; i++)
		if (bitset_has(marked, site->variables[i]))
			return true;
	return false;
}

static int chosen_open_module(
	struct chosen_module *module, const char *path, bool is_program, struct error *err)
{
	struct site_table *table;
	const char *name = is_program ? "" : base_name(path);
	int status = site_table_open(&table, path, err);
	const void *records;
	size_t size;

	if (status)
		return status;
	records = site_table_section(table, "raddle_sites", &size);
	*module = (struct chosen_module){
		.name = memory_module_name(name),
		.fingerprint =
			memory_module_fingerprint(records, size / sizeof(struct site_record)),
		.count = site_table_count(table),
		.sites = array_new(BITSET_WORDS(site_table_count(table)) + 1, sizeof(uint64_t)),
	};
	site_table_free(table);
	return 0;
}

static int chosen_open_modules(
	struct chosen *chosen, const struct chosen_files *files, struct error *err)
{
	int status = 0;

	chosen->modules = array_new(files->count, sizeof *chosen->modules);
	for (uint32_t i = 0; i < files->count && !status; i++) {
		status = chosen_open_module(&chosen->modules[i], files->paths[i], i == 0, err);
		chosen->module_count += !status;
	}
	return status;
}

static void chosen_choose_sites(
	struct chosen *chosen, const struct points_to *result, const uint64_t *marked)
{
	bool is_any_foreign = false;

	for (uint32_t i = 0; i < result->foreign_count; i++)
		is_any_foreign |= bitset_has(marked, result->foreign[i]);
	for (uint32_t i = 0; i < result->site_count; i++) {
		const struct points_to_site *site = &result->sites[i];

		if (!chosen_touches(site, marked, is_any_foreign))
			continue;
		bitset_add(chosen->modules[site->file].sites, site->index);
		chosen->site_count++;
	}
	for (uint32_t i = 0; i < result->variable_count; i++)
		chosen->variable_count += bitset_has(marked, i);
}

static int chosen_analyse(struct chosen *chosen, const struct chosen_files *files,
	const char *patterns, struct error *err)
{
	const struct points_to_files analysed = {
		.paths = (const char *const *)files->paths, .count = files->count};
	struct points_to *result;
	FREE_SCOPED uint64_t *marked = NULL;
	int status = points_to_compute(&result, &analysed, err);

	if (status)
		return status;
	marked = array_new(BITSET_WORDS(result->variable_count) + 1, sizeof *marked);
	status = chosen_choose_all(result, patterns, marked, err);
	if (!status)
		status = chosen_open_modules(chosen, files, err);
	if (!status)
		chosen_choose_sites(chosen, result, marked);
	points_to_free(result);
	return status;
}

int chosen_find(struct chosen *chosen, const char *program, const char *loader,
	const char *patterns, struct error *err)
{
	struct chosen_files files = {0};
	int status;

	*chosen = (struct chosen){0};
	chosen_add_file(&files, program);
	chosen_add_libraries(&files, program, loader);
	status = chosen_analyse(chosen, &files, patterns, err);
	chosen_release_files(&files);
	if (status)
		chosen_release(chosen);
	return status;
}

int chosen_group(struct contract_memory *memory, const struct chosen_program *program,
	struct points_to **result, struct error *err)
{
	struct points_to_files analysed = {.seconds_most = program->seconds_most};
	struct chosen chosen = {0};
	struct chosen_files files = {0};
	int status = 0;

	chosen_add_file(&files, program->path);
	chosen_add_libraries(&files, program->path, program->loader);
	analysed.paths = (const char *const *)files.paths;
	analysed.count = files.count;
	if (!*result)
		status = points_to_compute(result, &analysed, err);
	if (!status)
		status = chosen_open_modules(&chosen, &files, err);
	if (!status)
		chosen_write_groups(&chosen, &files, *result, memory);
	chosen_release(&chosen);
	chosen_release_files(&files);
	return status;
}

void chosen_release(struct chosen *chosen)
{
	for (uint32_t i = 0; i < chosen->module_count; i++)
		free(chosen->modules[i].sites);
	free(chosen->modules);
	points_to_free(chosen->points_to);
	*chosen = (struct chosen){0};
}

void chosen_apply(const struct chosen *chosen, struct contract_memory *memory)
{
	memory->mode = MEMORY_CHOSEN;
	for (uint32_t i = 0; i < chosen->module_count; i++) {
		const struct chosen_module *module = &chosen->modules[i];

		memory->modules[memory->module_count++] = (struct memory_module){
			.name = module->name,
			.fingerprint = module->fingerprint,
			.first = memory->site_count,
			.count = module->count,
		};
		bitset_each (site, module->sites, module->count)
			memory->sites[memory->site_count + site] = SITE_CHOSEN;
		memory->site_count += module->count;
	}
	memory->must_switch = memory->has_site_news = true;
}
