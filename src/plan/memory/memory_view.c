#include "plan/memory/memory_view.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bitset.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "base/search.h"

const char *const memory_mode_words[MEMORY_MODE_COUNT] = {
	[MEMORY_LEARN] = "shared",
	[MEMORY_NONE] = "none",
	[MEMORY_ALL] = "all",
	[MEMORY_CHOSEN] = "chosen",
	[MEMORY_RACES] = "races",
	[MEMORY_RACY_SITES] = "racy-sites",
};

bool memory_mode_parse(const char *word, enum memory_mode *out)
{
	const unsigned found = strings_find(memory_mode_words, MEMORY_MODE_COUNT, word);

	if (found < MEMORY_MODE_COUNT)
		*out = (enum memory_mode)found;
	return found < MEMORY_MODE_COUNT;
}

/* Takes a module from memory that the target may change meanwhile, so each field is read once. */
static void memory_view_take_module(struct memory_view_module *to,
	const struct contract_memory *memory, const struct memory_module *from)
{
	const volatile struct memory_module *shared = from;
	const uint32_t first = shared->first % MEMORY_SITES_MAX;
	const uint32_t room = MEMORY_SITES_MAX - first;
	/* Other sites of a watched run only served the detector. */
	const uint8_t needed = memory->mode == MEMORY_RACY_SITES ? SITE_KEPT : SITE_ON;
	const uint32_t failed = *(const volatile uint32_t *)&memory->failed_site - 1 - first;
	uint32_t count = shared->count;

	count = count < room ? count : room;
	*to = (struct memory_view_module){
		.name = shared->name,
		.fingerprint = shared->fingerprint,
		.count = count,
		.is_on = array_new(BITSET_WORDS(count), sizeof *to->is_on),
		.is_chosen = array_new(BITSET_WORDS(count), sizeof *to->is_chosen),
	};
	for (uint32_t i = 0; i < count; i++) {
		if (memory->sites[first + i] & needed)
			bitset_add(to->is_on, i);
		if (memory->sites[first + i] & SITE_CHOSEN)
			bitset_add(to->is_chosen, i);
	}
	if (failed < count)
		bitset_add(to->is_on, failed);
}

static bool memory_view_is_taken(
	const struct contract_memory *memory, const struct memory_variable *variable, uint16_t flag)
{
	return variable->flags & flag &&
	       (!memory->is_filtered || memory_is_focused(memory, variable));
}

/* Returns the names of the variables with a flag, limited to the scheduling points of the run. */
static variable_name *memory_view_take_names(
	struct contract_memory *memory, uint16_t flag, uint32_t *count)
{
	const uint32_t entries = *(const volatile uint32_t *)&memory->variable_count;
	const uint32_t end = entries < MEMORY_VARIABLES_MAX ? entries : MEMORY_VARIABLES_MAX;
	variable_name *names = NULL;

	*count = 0;
	for (uint32_t i = 0; i < end; i++)
		if (memory_view_is_taken(memory, memory_entry(memory, i), flag))
			ARRAY_APPEND(names, *count, memory_entry(memory, i)->name);
	qsort(names, *count, sizeof *names, compare_numbers);
	return names;
}

void memory_view_take(struct memory_view *view, struct contract_memory *memory)
{
	uint32_t module_count = *(const volatile uint32_t *)&memory->module_count;

	*view = (struct memory_view){
		.mode = (enum memory_mode)memory->mode, .is_partial = memory->is_partial};
	if (!module_count && !memory->variable_count)
		return;
	if (module_count > MEMORY_MODULES_MAX)
		module_count = MEMORY_MODULES_MAX;
	view->modules = array_new(module_count, sizeof *view->modules);
	view->module_count = module_count;
	for (uint32_t i = 0; i < module_count; i++)
		memory_view_take_module(&view->modules[i], memory, &memory->modules[i]);
	view->points = memory_view_take_names(memory, VARIABLE_POINT, &view->point_count);
	view->racy = memory_view_take_names(memory, VARIABLE_RACY, &view->racy_count);
}

void memory_view_release(struct memory_view *view)
{
	for (uint32_t i = 0; i < view->module_count; i++) {
		free(view->modules[i].is_on);
		free(view->modules[i].is_chosen);
	}
	free(view->modules);
	free(view->points);
	free(view->racy);
	*view = (struct memory_view){0};
}

void memory_view_apply(const struct memory_view *view, struct contract_memory *memory)
{
	memory->mode = view->mode;
	memory->is_frozen = true;
	memory->is_partial = view->is_partial;
	memory->must_switch = true;
	for (uint32_t i = 0; i < view->module_count; i++) {
		const struct memory_view_module *module = &view->modules[i];

		memory->modules[i] = (struct memory_module){
			.name = module->name,
			.fingerprint = module->fingerprint,
			.first = memory->site_count,
			.count = module->count,
		};
		bitset_each (site, module->is_on, module->count) {
			memory->sites[memory->site_count + site] = SITE_ON;
			memory->sites_on++;
		}
		bitset_each (site, module->is_chosen, module->count)
			memory->sites[memory->site_count + site] |= SITE_CHOSEN;
		memory->site_count += module->count;
	}
	memory->module_count = view->module_count;
	for (uint32_t i = 0; i < view->point_count; i++)
		memory_make_point(memory, memory_restore_variable(memory, view->points[i]));
	for (uint32_t i = 0; i < view->racy_count; i++)
		memory_restore_variable(memory, view->racy[i])->flags |= VARIABLE_RACY;
}

static void memory_view_add_ranges(struct strbuf *out, const uint64_t *set, uint32_t count)
{
	const char *separator = "";

	for (uint32_t first = bitset_next(set, count, 0); first < count;) {
		uint32_t last = first;

		while (last + 1 < count && bitset_has(set, last + 1))
			last++;
		strbuf_addf(out, last > first ? "%s%u-%u" : "%s%u", separator, first, last);
		separator = ",";
		first = bitset_next(set, count, last + 1);
	}
}

static json_t *memory_view_module_to_json(const struct memory_view_module *module)
{
	char name[20];
	char fingerprint[20];
	STRBUF_SCOPED sites = STRBUF_EMPTY, chosen = STRBUF_EMPTY;
	json_t *object;

	(void)snprintf(name, sizeof name, "%016" PRIx64, module->name);
	(void)snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, module->fingerprint);
	memory_view_add_ranges(&sites, module->is_on, module->count);
	memory_view_add_ranges(&chosen, module->is_chosen, module->count);
	object = json_pack("{s:s, s:s, s:I, s:s, s:s*}", "name", name, "fingerprint", fingerprint,
		"count", (json_int_t)module->count, "on", sites.text, "chosen",
		chosen.length ? chosen.text : NULL);
	BUG_ON(!object);
	return object;
}

/* Neighbouring granules of a heap block have names with this distance (memory_group_name()). */
#define NAME_STEP 2

/* Adds ascending names as ranges: "2c71f629a191+7,ea47" has eight names from 2c71f629a191 on, and ea47. */
static void memory_view_add_names(struct strbuf *text, const variable_name *names, uint32_t count)
{
	for (uint32_t first = 0, last; first < count; first = last + 1) {
		last = first;
		while (last + 1 < count && names[last + 1] == names[last] + NAME_STEP)
			last++;
		strbuf_addf(text, first ? ",%" PRIx64 : "%" PRIx64, names[first]);
		if (last > first)
			strbuf_addf(text, "+%" PRIu32, last - first);
	}
}

char *memory_view_to_json(const struct memory_view *view)
{
	json_t *modules = json_array();
	STRBUF_SCOPED points = STRBUF_EMPTY, racy = STRBUF_EMPTY;
	json_auto_t *object = NULL;
	char *text;

	if (!view->module_count && !view->point_count && view->mode == MEMORY_LEARN) {
		json_decref(modules);
		return NULL;
	}
	for (uint32_t i = 0; i < view->module_count; i++)
		(void)json_array_append_new(/* fails only without memory: json_pack fails then, too */
			modules, memory_view_module_to_json(&view->modules[i]));
	memory_view_add_names(&points, view->points, view->point_count);
	memory_view_add_names(&racy, view->racy, view->racy_count);
	object = json_pack("{s:s, s:o, s:s, s:s*, s:b}", "mode", memory_mode_words[view->mode],
		"modules", modules, "points", points.text, "racy",
		view->racy_count ? racy.text : NULL, "partial", view->is_partial);
	BUG_ON(!object);
	text = json_dumps(object, JSON_COMPACT);
	BUG_ON(!text);
	return text;
}

#define NAME_DIGITS 16

static int memory_view_damaged(struct error *err, const char *what)
{
	return error_set(err, ERROR_FORMAT,
		"the finding's view of memory is damaged (%s); find it again with raddle run",
		what);
}

/* Reads up to 16 hexadecimal digits, and advances `text` past them. Returns false if there is none. */
static bool memory_view_read_hex(const char **text, uint64_t *out)
{
	const char *alphabet = "0123456789abcdef";
	const char *start = *text, *at;

	*out = 0;
	for (; *text < start + NAME_DIGITS && **text && (at = strchr(alphabet, **text)); ++*text)
		*out = *out << 4 | (uint64_t)(at - alphabet);
	return *text > start;
}

static bool memory_view_read_identity(const char *text, uint64_t *out)
{
	return memory_view_read_hex(&text, out) && !*text;
}

static bool memory_view_read_index(const char **text, uint32_t limit, uint32_t *out)
{
	const char *start = *text;

	for (*out = 0; **text >= '0' && **text <= '9'; ++*text) {
		*out = *out * 10 + (uint32_t)(**text - '0');
		if (*out >= limit)
			return false;
	}
	return *text > start;
}

static bool memory_view_read_ranges(
	const char *text, const struct memory_view_module *module, uint64_t *set)
{
	while (*text) {
		uint32_t first, last;

		if (!memory_view_read_index(&text, module->count, &first))
			return false;
		last = first;
		if (*text == '-' && (text++, !memory_view_read_index(&text, module->count, &last)))
			return false;
		for (uint32_t site = first; site <= last; site++)
			bitset_add(set, site);
		if (last < first || (*text && *text++ != ','))
			return false;
	}
	return true;
}

static int memory_view_read_module(
	const json_t *object, uint32_t sites_before, struct memory_view *view, struct error *err)
{
	struct memory_view_module *module = &view->modules[view->module_count];
	const char *name, *fingerprint, *on, *chosen = "";
	json_int_t count;

	if (json_unpack((json_t *)(uintptr_t)object, "{s:s, s:s, s:I, s:s, s?s}", "name", &name,
		    "fingerprint", &fingerprint, "count", &count, "on", &on, "chosen",
		    &chosen) != 0)
		return memory_view_damaged(err, "a module lacks a field");
	if (!memory_view_read_identity(name, &module->name) ||
		!memory_view_read_identity(fingerprint, &module->fingerprint))
		return memory_view_damaged(err, "the identity of a module");
	if (count < 0 || count > MEMORY_SITES_MAX - sites_before)
		return memory_view_damaged(err, "a module has too many sites");
	module->count = (uint32_t)count;
	module->is_on = array_new(BITSET_WORDS(module->count), sizeof *module->is_on);
	module->is_chosen = array_new(BITSET_WORDS(module->count), sizeof *module->is_chosen);
	view->module_count++;
	return memory_view_read_ranges(on, module, module->is_on) &&
			       memory_view_read_ranges(chosen, module, module->is_chosen)
		       ? 0
		       : memory_view_damaged(err, "the sites of a module");
}

static int memory_view_read_modules(
	const json_t *modules, struct memory_view *view, struct error *err)
{
	const size_t count = json_array_size(modules);
	uint32_t sites = 0;

	if (!json_is_array(modules) || count > MEMORY_MODULES_MAX)
		return memory_view_damaged(err, "modules");
	view->modules = array_new(count, sizeof *view->modules);
	for (size_t i = 0; i < count; i++) {
		int result = memory_view_read_module(json_array_get(modules, i), sites, view, err);

		if (result < 0)
			return result;
		sites += view->modules[i].count;
	}
	return 0;
}

/* Commas are optional: older findings have names of 16 digits without them. */
static int memory_view_read_names(
	const char *text, uint32_t most, variable_name **names, uint32_t *count, struct error *err)
{
	while (*text) {
		variable_name first;
		uint32_t more = 0;

		if (!memory_view_read_hex(&text, &first) || !first)
			return memory_view_damaged(err, "a point");
		if (*text == '+' && (text++, !memory_view_read_index(&text, most, &more)))
			return memory_view_damaged(err, "a range of points");
		if (more >= most - *count || first > UINT64_MAX - (uint64_t)more * NAME_STEP)
			return memory_view_damaged(err, "too many points");
		for (uint32_t i = 0; i <= more; i++)
			ARRAY_APPEND(*names, *count, first + (uint64_t)i * NAME_STEP);
		text += *text == ',';
	}
	return 0;
}

int memory_view_from_json(const char *text, struct memory_view *out, struct error *err)
{
	json_auto_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct memory_view view = {0};
	const char *mode, *points, *racy = "";
	json_t *modules;
	int result = 0, is_partial = 0;

	if (!root ||
		json_unpack(root, "{s:s, s:o, s:s, s?s, s?b}", "mode", &mode, "modules", &modules,
			"points", &points, "racy", &racy, "partial", &is_partial) != 0)
		result = memory_view_damaged(err, "not the expected fields");
	else if (!memory_mode_parse(mode, &view.mode))
		result = memory_view_damaged(err, "mode");
	if (result == 0)
		result = memory_view_read_modules(modules, &view, err);
	if (result == 0)
		result = memory_view_read_names(
			points, MEMORY_VARIABLES_ROOM, &view.points, &view.point_count, err);
	/* The hash table must have a free slot. */
	if (result == 0)
		result = memory_view_read_names(racy, MEMORY_VARIABLES_MAX - 1 - view.point_count,
			&view.racy, &view.racy_count, err);
	view.is_partial = is_partial;
	if (result < 0)
		memory_view_release(&view);
	else
		*out = view;
	return result;
}
