/* Names of memory of every kind: see symbols_describe_data(). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbols_internal.h"

/* Stacks that nobody asked to be larger, and main's. */
#define STACK_BYTES UINT64_C(8 << 20)
/* glibc's own block of a thread lies above its base. */
#define THREAD_BLOCK_BYTES 4096
#define PLACE_FRAMES 16

static struct variable_place place_of(const struct symbols_access *access)
{
	return (struct variable_place){
		.place = access->address, .bytes = access->bytes, .is_brief = access->is_brief};
}

/* ---- heap ---- */

/* The block that held the address at that step; else the one that did last. */
static const struct memory_block *block_at(
	const struct symbols_memory *memory, const struct symbols_access *access)
{
	for (uint32_t i = memory->block_count; i--;) {
		const struct memory_block *block = &memory->blocks[i];

		if (block->made_step <= access->step &&
			access->address - block->start < block->bytes)
			return block;
	}
	return NULL;
}

static const char *block_word(const struct memory_block *block)
{
	static const char *const words[BLOCK_KIND_COUNT] = {[BLOCK_MALLOC] = "malloc",
		[BLOCK_CALLOC] = "calloc",
		[BLOCK_REALLOC] = "realloc",
		[BLOCK_ALIGNED] = "aligned_alloc",
		[BLOCK_NEW] = "new",
		[BLOCK_TEXT] = "string",
		[BLOCK_MAPPING] = "mmap"};

	return block->kind < BLOCK_KIND_COUNT ? words[block->kind] : "memory";
}

/* The innermost frame of the user's code with a line; NULL: there is none. */
static const struct symbols_frame *user_frame(
	struct symbols *symbols, uint64_t site, struct symbols_frame frames[PLACE_FRAMES])
{
	const unsigned count = site ? symbols_lookup(symbols, site, true, frames, PLACE_FRAMES) : 0;

	for (unsigned i = 0; i < count; i++)
		if (!frames[i].is_system && frames[i].file)
			return &frames[i];
	return NULL;
}

static void add_block_place(
	struct symbols *symbols, const struct memory_block *block, struct strbuf *out)
{
	struct symbols_frame frames[PLACE_FRAMES];
	const struct symbols_frame *frame = user_frame(symbols, block->site, frames);
	const char *module = NULL, *slash;
	uint64_t offset;

	for (unsigned i = 0; !frame && i < MEMORY_BLOCK_CALLERS; i++)
		frame = user_frame(symbols, block->callers[i], frames);
	if (frame) {
		slash = strrchr(frame->file, '/');
		strbuf_addf(out, " at %s:%u", slash ? slash + 1 : frame->file, frame->line);
		return;
	}
	offset = symbols_module_offset(symbols, block->site, &module);
	if (symbols_lookup(symbols, block->site, true, frames, 1) && frames[0].function)
		strbuf_addf(out, " in %s", frames[0].function);
	else if (module)
		strbuf_addf(out, " at %s+0x%" PRIx64, module, offset);
}

/* "malloc at bank.c:41 by main.0, #3" */
static void add_block(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, uint64_t step, struct strbuf *out)
{
	strbuf_adds(out, block_word(block));
	add_block_place(symbols, block, out);
	for (uint32_t i = 1; i < memory->thread_count; i++)
		if (memory->threads[i].name == block->thread)
			strbuf_addf(out, " by %s", memory->threads[i].path);
	strbuf_addf(out, ", #%" PRIu32, block->ordinal);
	if (step != UINT64_MAX && block->freed_step <= step)
		strbuf_adds(out, ", freed");
}

/* What the place of an access must be like for a type to be that of its block. */
struct type_search {
	const struct memory_block *block;
	Dwarf_Die type;
	char *name; /* of the type, NULL: none yet */
	bool is_ambiguous;
};

static void add_type_name(Dwarf_Die *type, const char *name, struct strbuf *out)
{
	const int tag = dwarf_tag(type);
	Dwarf_Die unit;
	Dwarf_Attribute language;
	Dwarf_Word number = 0;

	/* C says "struct account", C++ "account". */
	if (dwarf_diecu(type, &unit, NULL, NULL) &&
		!dwarf_formudata(dwarf_attr(&unit, DW_AT_language, &language), &number) &&
		(number == DW_LANG_C89 || number == DW_LANG_C || number == DW_LANG_C99 ||
			number == DW_LANG_C11) &&
		strncmp(name, "struct ", 7) && strncmp(name, "union ", 6))
		strbuf_adds(out, tag == DW_TAG_union_type ? "union " : "struct ");
	strbuf_adds(out, name);
}

/* A pointer to a struct, of which whole ones fit into the block. */
static bool visit_pointer(struct symbols *symbols, struct local *local, void *argument)
{
	struct type_search *search = argument;
	Dwarf_Die type, target;
	const char *name;
	uint64_t size;
	int tag;

	(void)symbols;
	if (!types_of(&local->variable, &type))
		return false;
	tag = dwarf_tag(&type);
	if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type) ||
		!types_of(&type, &target))
		return false;
	tag = dwarf_tag(&target);
	name = dwarf_diename(&target);
	size = types_size(&target);
	if ((tag != DW_TAG_structure_type && tag != DW_TAG_class_type &&
		    tag != DW_TAG_union_type) ||
		!name || !size || search->block->bytes % size)
		return false;
	if (search->name && strcmp(search->name, name))
		search->is_ambiguous = true;
	if (search->name)
		return search->is_ambiguous;
	search->name = strdup(name);
	search->type = target;
	return false;
}

/*
 * Without a word from the compiler: what the pointers at the access point to, or those where the
 * block was made, if only one kind of struct among them fills the block.
 */
static bool guess_type(struct symbols *symbols, const struct memory_block *block, uint64_t site,
	Dwarf_Die *type, char **name)
{
	const uint64_t places[] = {site, block->site - 1};

	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		struct type_search search = {.block = block};

		if (places[i])
			(void)locals_each(symbols, places[i], visit_pointer, &search);
		if (search.name && !search.is_ambiguous) {
			*type = search.type;
			*name = search.name;
			return true;
		}
		free(search.name);
	}
	return false;
}

/* The text of a place in a type, and whether it is the field that the compiler named. */
static bool is_field(
	Dwarf_Die *type, uint64_t offset, uint64_t bytes, const char *field, struct strbuf *inside)
{
	const size_t length = field ? strlen(field) : 0;

	strbuf_clear(inside);
	types_describe_inside(type, offset, bytes, inside);
	/* ".pos.x" for "pos.x", ".balance+4" for "balance" */
	return !field || (inside->length > length && !strncmp(inside->text + 1, field, length));
}

struct typed_place {
	Dwarf_Die type;
	const char *type_name;
	uint64_t index; /* of the struct in the block */
	struct strbuf inside;
};

static bool find_typed_place(struct symbols *symbols, const struct memory_block *block,
	const struct symbols_access *access, struct typed_place *place)
{
	const struct point *point = points_at(symbols, access->site);
	Dwfl_Module *module = dwfl_addrmodule(symbols->dwfl, access->site);
	const uint64_t offset = access->address - block->start;
	char *name = NULL;
	uint64_t size;

	if (point && point->type && types_named(symbols, module, point->type, &place->type))
		name = strdup(point->type);
	else if (!guess_type(symbols, block, point ? access->site : access->site - 1, &place->type,
			 &name))
		return false;
	place->type_name = symbols_keep(symbols, name);
	free(name);
	size = types_size(&place->type);
	if (!size || size > block->bytes)
		return false;
	place->index = offset / size;
	return is_field(&place->type, offset % size, access->bytes, point ? point->field : NULL,
		&place->inside);
}

static void describe_block(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, const struct symbols_access *access, struct strbuf *out)
{
	struct typed_place place = {.index = 0};
	const uint64_t offset = access->address - block->start;

	strbuf_init(&place.inside);
	if (find_typed_place(symbols, block, access, &place)) {
		strbuf_adds(out, "((");
		add_type_name(&place.type, place.type_name, out);
		strbuf_adds(out, " *)");
		add_block(symbols, memory, block, access->step, out);
		strbuf_adds(out, ")");
		if (block->bytes >= 2 * types_size(&place.type))
			strbuf_addf(out, "[%" PRIu64 "]", place.index);
		strbuf_adds(out, place.inside.text);
	} else {
		strbuf_adds(out, "(");
		add_block(symbols, memory, block, access->step, out);
		strbuf_adds(out, ")");
		if (offset)
			strbuf_addf(out, "+%" PRIu64, offset);
	}
	strbuf_release(&place.inside);
}

/* ---- stacks and thread-local memory ---- */

/*
 * The thread on whose stack the address is: the nearest stack pointer below it; of those that have
 * ended, the nearest base above.
 */
static const struct symbols_thread *stack_owner(
	const struct symbols_memory *memory, uint64_t address)
{
	const struct symbols_thread *owner = NULL;
	uint64_t nearest = STACK_BYTES;

	for (uint32_t i = 0; i < memory->thread_count; i++) {
		const struct symbols_thread *thread = &memory->threads[i];
		const uint64_t low = thread->stack_pointer - 128;

		if (!thread->stack_pointer || address - low >= nearest ||
			(i && address >= thread->thread_base))
			continue;
		nearest = address - low;
		owner = thread;
	}
	for (uint32_t i = 1; !owner && i < memory->thread_count; i++)
		if (memory->threads[i].thread_base - address - 1 < STACK_BYTES)
			owner = &memory->threads[i];
	return owner;
}

static bool describe_thread_local(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct strbuf *out)
{
	const struct variable_place place = place_of(access);
	struct strbuf name;
	bool is_found = false;

	if (!memory->pid)
		return false;
	strbuf_init(&name);
	for (uint32_t i = 0; i < memory->thread_count && !is_found; i++) {
		const struct symbols_thread *thread = &memory->threads[i];
		const char *file;

		if (!thread->thread_base || !thread_locals_describe(symbols, memory->pid,
						    thread->thread_base, &place, &name))
			continue;
		file = strstr(name.text, " (");
		strbuf_addf(out, "thread-local %.*s of %s%s",
			file ? (int)(file - name.text) : (int)name.length, name.text, thread->path,
			file ? file : "");
		is_found = true;
	}
	strbuf_release(&name);
	return is_found;
}

static bool describe_local(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_thread *owner, const struct symbols_access *access, struct strbuf *out)
{
	if (!owner || !owner->stack_pointer || !memory->pid ||
		!locals_describe(symbols, memory->pid, owner->stack_pointer, access->address,
			access->bytes, out))
		return false;
	if (owner != memory->threads)
		strbuf_addf(out, " in %s", owner->path);
	return true;
}

static bool describe_stack(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct strbuf *out)
{
	const struct symbols_thread *owner = stack_owner(memory, access->address);

	if (describe_local(symbols, memory, owner, access, out))
		return true;
	if (owner)
		strbuf_addf(out, "the stack of %s", owner->path);
	for (uint32_t i = 0; !owner && i < memory->thread_count; i++)
		if (memory->threads[i].thread_base &&
			access->address - memory->threads[i].thread_base + THREAD_BLOCK_BYTES <
				2 * THREAD_BLOCK_BYTES) {
			strbuf_addf(out, "thread-local memory of %s", memory->threads[i].path);
			return true;
		}
	return owner;
}

/* ---- all ---- */

bool symbols_describe_data(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access, struct strbuf *out)
{
	const struct symbols_thread *owner;
	const struct memory_block *block;
	const char *module = NULL;
	const struct variable_place place = place_of(access);
	uint64_t offset;

	if (static_data_describe(symbols, &place, out))
		return true;
	offset = symbols_module_offset(symbols, access->address, &module);
	if (module) {
		strbuf_addf(out, "%s+0x%" PRIx64, module, offset);
		return true;
	}
	block = block_at(memory, access);
	owner = block ? stack_owner(memory, access->address) : NULL;
	/* The program's own memory may serve as a stack. */
	if (owner && owner->stack_pointer - block->start < block->bytes &&
		describe_local(symbols, memory, owner, access, out))
		return true;
	if (block && block->kind != BLOCK_MAPPING) {
		describe_block(symbols, memory, block, access, out);
		return true;
	}
	if (describe_thread_local(symbols, memory, access, out))
		return true;
	if (block) {
		describe_block(symbols, memory, block, access, out);
		return true;
	}
	return describe_stack(symbols, memory, access, out);
}
