/* Modules with sites, and the patching of their points (sites.h). Points are patched only between
 * runs or while a single thread moves. */
#include "runtime/sites.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hot_state.h"
#include "base/text.h"
#include "runtime/code_memory.h"
#include "runtime/filter.h"
#include "runtime/interpose.h"
#include "runtime/main_locals.h"
#include "runtime/memory.h"
#include "runtime/quick.h"
#include "runtime/runtime.h"
#include "runtime/sites/sites_internal.h"
#include "runtime/stubs.h"

#define TARGETS_BYTES (STUB_TARGETS * sizeof(void (*)(void)))

struct site_module {
	const struct site_record *first;
	uint32_t count;
	uint32_t site_first;  /* first index in contract_memory.sites */
	bool has_room;	      /* false: contract_memory is full, and the sites stay off */
	uintptr_t start, end; /* bounds of the module's mapping; both 0: unknown */
	/* The memory of the module's stubs: the table of their targets, then room for one stub per site.
	 * It is writable only while sites are switched, so a rewind neither saves nor restores it. */
	unsigned char *stubs;
};

/* Part of a rewind's image: modules that a run loaded disappear with the run. Destructors unload modules at the end of
 * each run: if they do so in the reverse order, that changes only these numbers. */
static HOT_STATE struct {
	uint32_t module_count; /* modules that are loaded */
	/* Those and, behind them, modules that were unloaded. A module that is later loaded at the same address takes
	 * over their stubs' memory. */
	uint32_t known_count;
	/* Also counts modules of a process that is not controlled yet. */
	uint32_t loaded_count;
} sites;
static struct site_module sites_modules[MEMORY_MODULES_MAX];
static const struct instrumented_module *sites_loaded[MEMORY_MODULES_MAX];

/* Module of the latest look-up. */
static HOT_STATE const struct site_module *sites_last;

HOT_STATE uint8_t sites_are_live;
HOT_STATE struct contract_quick *sites_quick;
HOT_STATE const uint8_t *filter_lines = filter_all;
const unsigned char *(*sites_quick_stub)(const struct site_record *record);
const unsigned char sites_left_off[1];
HOT_STATE struct quick_now sites_now;

struct contract_memory *sites_memory(void)
{
	struct contract *contract = runtime.contract;

	return contract ? contract_area(contract, contract->memory_offset) : NULL;
}

static uint64_t sites_module_name(const struct instrumented_module *module)
{
	struct dl_find_object object;
	const char *name = "";

	/* The executable's own name is empty. */
	if (_dl_find_object((void *)(uintptr_t)module->first, &object) == 0 && object.dlfo_link_map)
		name = object.dlfo_link_map->l_name;
	if (strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	return memory_module_name(name);
}

/* Finds or allocates the module's range of bytes. Returns false if there is no room. */
static bool sites_find_room(
	struct contract_memory *memory, const struct instrumented_module *module, uint32_t *first)
{
	const uint64_t name = sites_module_name(module);
	const uint32_t count = (uint32_t)(module->end - module->first);
	const uint64_t fingerprint = memory_module_fingerprint(module->first, count);
	struct memory_module *known = memory->modules;

	for (; known < memory->modules + memory->module_count; known++)
		if (known->name == name && known->fingerprint == fingerprint &&
			known->count == count)
			break;
	if (known == memory->modules + memory->module_count) {
		if (memory->module_count == MEMORY_MODULES_MAX ||
			count > MEMORY_SITES_MAX - memory->site_count)
			return false;
		*known = (struct memory_module){.name = name,
			.fingerprint = fingerprint,
			.first = memory->site_count,
			.count = count};
		memory->module_count++;
		memory->site_count += count;
		memory->must_switch = memory->has_site_news = true;
	}
	known->records = (uint64_t)(uintptr_t)module->first;
	*first = known->first;
	return true;
}

static void sites_refuse(const char *why)
{
	struct contract_memory *memory = sites_memory();
	struct text text;

	if (memory->refusal[0])
		return;
	text_init(&text, memory->refusal, sizeof memory->refusal);
	text_add(&text, why);
}

static void sites_find_mapping(struct site_module *module)
{
	struct dl_find_object object;

	if (_dl_find_object((void *)(uintptr_t)module->first, &object) != 0)
		return;
	module->start = (uintptr_t)object.dlfo_map_start;
	module->end = (uintptr_t)object.dlfo_map_end;
}

static bool sites_make_stubs(struct site_module *module);
static void sites_watch_main(struct site_module *module);

/* Returns the entry behind the last loaded module. The entry of an unloaded module moves to the end. */
static struct site_module *sites_new_module(void)
{
	struct site_module *module = &sites_modules[sites.module_count];

	if (sites.module_count++ == sites.known_count)
		sites.known_count++;
	else if (sites.known_count < MEMORY_MODULES_MAX)
		sites_modules[sites.known_count++] = *module;
	return module;
}

static void sites_add_module(const struct instrumented_module *module)
{
	struct contract_memory *memory = sites_memory();
	struct site_module *own;

	sites_quick = &memory->quick;
	if (module->magic != INSTRUMENT_MAGIC || module->version != INSTRUMENT_ABI_VERSION)
		runtime_refuse(
			"a part of the program was compiled by the raddle-cc of another version; compile it again");
	for (uint32_t i = 0; i < sites.module_count; i++)
		if (sites_modules[i].first == module->first)
			return; /* several units of one module registered it */
	if (sites.module_count == MEMORY_MODULES_MAX)
		return;
	if (!sites.module_count)
		sites_find_vectors();
	heap_start_recording();
	runtime.contract->has_memory_sites = 1;
	own = sites_new_module();
	*own = (struct site_module){
		.first = module->first, .count = (uint32_t)(module->end - module->first)};
	sites_find_mapping(own);
	own->has_room = sites_find_room(memory, module, &own->site_first);
	if (!own->has_room)
		sites_refuse("the program has more sites than raddle can keep");
	else if (!sites_make_stubs(own))
		sites_refuse("the system gives no memory for code near the program");
	else if (!native_versions_leave(own->first, own->count))
		sites_refuse("the program's code is in a mapping that cannot be written");
	if (!own->stubs)
		own->has_room = false;
	else if (memory->sites_on || runtime.contract->plan.is_recorded)
		/* A new process, or a module loaded during a run. The contract has a failure's
		 * reason. */
		(void)sites_apply();
	/* The recorder does not need the locals of main. */
	if (own->has_room && !runtime.contract->plan.is_recorded)
		sites_watch_main(own);
}

EXPORT void raddle_module_loaded(const struct instrumented_module *module)
{
	ENTER();
	if (sites.loaded_count < MEMORY_MODULES_MAX)
		sites_loaded[sites.loaded_count++] = module;
	if (sites_memory() && !runtime.is_forked_child)
		sites_add_module(module);
}

void sites_report_again(void)
{
	sites.module_count = 0;
	sites_last = NULL;
	for (uint32_t i = 0; i < sites.loaded_count; i++)
		sites_add_module(sites_loaded[i]);
}

static size_t sites_stubs_bytes(const struct site_module *module)
{
	return TARGETS_BYTES + (size_t)module->count * STUB_BYTES;
}

/* Returns the stubs of a module that was unloaded from the same address; NULL: there are none. */
static unsigned char *sites_take_unused_stubs(const struct site_module *module)
{
	for (uint32_t i = sites.module_count; i < sites.known_count; i++) {
		unsigned char *stubs = sites_modules[i].stubs;

		if (!stubs || sites_modules[i].start != module->start ||
			sites_modules[i].count < module->count)
			continue;
		sites_modules[i] = sites_modules[--sites.known_count];
		return stubs;
	}
	return NULL;
}

EXPORT void raddle_module_unloaded(const struct instrumented_module *module)
{
	for (uint32_t i = 0; i < sites.loaded_count; i++) {
		if (sites_loaded[i] != module)
			continue;
		if (i < --sites.loaded_count)
			sites_loaded[i] = sites_loaded[sites.loaded_count];
		break;
	}
	for (uint32_t i = 0; i < sites.module_count; i++) {
		const struct site_module unloaded = sites_modules[i];

		if (unloaded.first != module->first)
			continue;
		if (i < --sites.module_count) {
			sites_modules[i] = sites_modules[sites.module_count];
			sites_modules[sites.module_count] = unloaded;
		}
		sites_last = NULL;
		return;
	}
}

uint8_t *site_state(const struct site_record *record)
{
	const struct site_module *module = sites_last;

	if (!module || record < module->first || record >= module->first + module->count) {
		module = sites_modules;
		while (module < sites_modules + sites.module_count &&
			(record < module->first || record >= module->first + module->count))
			module++;
		if (module == sites_modules + sites.module_count)
			return NULL;
		sites_last = module;
	}
	if (!module->has_room)
		return NULL;
	return &sites_memory()->sites[module->site_first + (uint32_t)(record - module->first)];
}

uint32_t site_index(const struct site_record *record)
{
	const uint8_t *state = site_state(record);

	return state ? (uint32_t)(state - sites_memory()->sites) : UINT32_MAX;
}

/* Called before vector registers are saved: the loader must not be asked. */
bool sites_find_code(uintptr_t code, uintptr_t *start, uintptr_t *end)
{
	for (uint32_t i = 0; i < sites.module_count; i++) {
		const struct site_module *module = &sites_modules[i];

		if (code < module->start || code >= module->end)
			continue;
		*start = module->start;
		*end = module->end;
		return true;
	}
	return false;
}

static unsigned char *sites_site_point(const struct site_record *record)
{
	return (unsigned char *)(uintptr_t)&record->point + record->point;
}

uint32_t site_index_at(uint64_t code)
{
	for (uint32_t i = 0; i < sites.module_count; i++) {
		const struct site_module *module = &sites_modules[i];

		for (uint32_t site = 0; module->has_room && site < module->count; site++)
			if ((uint64_t)(uintptr_t)sites_site_point(&module->first[site]) == code)
				return module->site_first + site;
	}
	return UINT32_MAX;
}

/* test $VALUE, %eax with a value of four bytes changes only the flags, which are dead at a point. */
#define OPCODE_TEST 0xa9

/* Turning a site off leaves the distance, which site_thunk.S reads: sites_turn_off() may interrupt
 * the thunk. */
static void sites_site_turn_off(const struct site_record *record)
{
	*sites_site_point(record) = OPCODE_TEST;
}

/* Needs code and stubs to be writable. */
static void sites_site_turn_on(const struct site_module *module, const struct site_record *record)
{
	const unsigned char *stub = sites_quick_stub ? sites_quick_stub(record) : NULL;

	if (!stub)
		stub = stub_write(module->stubs + TARGETS_BYTES +
					  STUB_BYTES * (size_t)(record - module->first),
			record, (void (*const *)(void))(void *)module->stubs);
	if (stub && stub != sites_left_off)
		code_memory_write_branch(sites_site_point(record), BRANCH_CALL, stub);
	else
		sites_site_turn_off(record);
}

static bool sites_site_is_patched(const struct site_record *record)
{
	return *sites_site_point(record) == BRANCH_CALL;
}

static bool sites_site_has_point(const struct site_record *record)
{
	return record->kind != SITE_OPAQUE;
}

static bool sites_open_stubs(const struct site_module *module, bool is_open)
{
	const uintptr_t start = (uintptr_t)module->stubs;

	return code_memory_open(start, start + sites_stubs_bytes(module), is_open);
}

/* Maps the memory of the module's stubs, which jump to the functions of site_thunk.S. */
static bool sites_make_stubs(struct site_module *module)
{
	static void (*const targets[STUB_TARGETS])(void) = {site_any, site_load1, site_load2,
		site_load4, site_load8, site_load16, site_store1, site_store2, site_store4,
		site_store8, site_store16};
	const uintptr_t known = (uintptr_t)module->first;

	module->stubs = sites_take_unused_stubs(module);
	if (module->stubs)
		return true;
	module->stubs = code_memory_map(module->end ? module->start : known,
		module->end ? module->end : known, sites_stubs_bytes(module),
		PROT_READ | PROT_WRITE | PROT_EXEC);
	if (!module->stubs)
		return false;
	memcpy(module->stubs, targets, sizeof targets);
	return sites_open_stubs(module, false);
}

static bool sites_switch_module(
	struct site_module *module, bool (*is_on)(const struct site_record *record, uint8_t *state))
{
	uint8_t *states = &sites_memory()->sites[module->site_first];
	uintptr_t first = UINTPTR_MAX;
	uintptr_t end = 0;

	for (uint32_t i = 0; i < module->count; i++) {
		const struct site_record *record = &module->first[i];
		const uintptr_t point = (uintptr_t)sites_site_point(record);

		if (!sites_site_has_point(record) ||
			is_on(record, &states[i]) == sites_site_is_patched(record))
			continue;
		first = point < first ? point : first;
		end = point + SITE_POINT_BYTES > end ? point + SITE_POINT_BYTES : end;
	}
	if (!end)
		return true;
	if (!code_memory_open(first, end, true) || !sites_open_stubs(module, true))
		return false;
	for (uint32_t i = 0; i < module->count; i++) {
		const struct site_record *record = &module->first[i];

		if (!sites_site_has_point(record) ||
			is_on(record, &states[i]) == sites_site_is_patched(record))
			continue;
		if (sites_site_is_patched(record))
			sites_site_turn_off(record);
		else
			sites_site_turn_on(module, record);
	}
	return sites_open_stubs(module, false) && code_memory_open(first, end, false);
}

/* True while points are patched, which a signal may interrupt. */
static volatile bool sites_are_open;

bool sites_switch(bool (*is_on)(const struct site_record *record, uint8_t *state))
{
	bool is_done = true;

	sites_are_open = true;
	for (uint32_t i = 0; i < sites.module_count && is_done; i++)
		is_done =
			!sites_modules[i].has_room || sites_switch_module(&sites_modules[i], is_on);
	sites_are_open = false;
	if (!is_done)
		sites_refuse("the program's code is in a mapping that cannot be written");
	return is_done;
}

void site_turn_off(const struct site_record *record)
{
	const uintptr_t point = (uintptr_t)sites_site_point(record);

	sites_are_open = true;
	if (code_memory_open(point, point + SITE_POINT_BYTES, true)) {
		sites_site_turn_off(record);
		(void)code_memory_open(
			point, point + SITE_POINT_BYTES, false); /* cannot fail: it was writable */
	}
	sites_are_open = false;
}

static bool sites_site_is_off(const struct site_record *record, uint8_t *state)
{
	(void)record;
	(void)state;
	return false;
}

bool sites_turn_off(void)
{
	return !sites_are_open && sites_switch(sites_site_is_off);
}

/* Turns on the sites of main's locals, which report before the first run. */
static void sites_watch_main(struct site_module *module)
{
	sites_are_open = true;
	for (uint32_t i = 0; i < module->count; i++) {
		const struct site_record *record = &module->first[i];
		const uintptr_t point = (uintptr_t)sites_site_point(record);

		if (!main_locals_has(record) || !sites_open_stubs(module, true) ||
			!code_memory_open(point, point + SITE_POINT_BYTES, true))
			continue;
		sites_site_turn_on(module, record);
		/* Cannot fail: both were writable. */
		(void)code_memory_open(point, point + SITE_POINT_BYTES, false);
		(void)sites_open_stubs(module, false);
		sites_are_live = SITES_LIVE;
		sites_memory()->must_switch = true; /* the first run turns these sites off */
	}
	sites_are_open = false;
}
