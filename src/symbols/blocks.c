/*
 * Describes heap blocks: where they were allocated, and their struct type.
 *
 * The type of a block is that of its allocation (allocations.c). If that is unknown, the accesses
 * of the run give a type. The sources are the site data of raddle-cc, or else a pointer that the
 * line of the access names. Such a type counts only if whole objects fill the block and no access
 * of the run contradicts it. The largest such type is the block's own; the others are parts of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/hash_table.h"
#include "base/search.h"
#include "symbols/tables/site_table.h"
#include "symbols/symbols_internal.h"

#define LOCATION_FRAMES 16
/* Offset of the counters of a shared_ptr in libstdc++, behind the vtable pointer. */
#define USE_COUNT 8

struct seen_access {
	struct {
		uint64_t site;
		uint64_t offset;
		uint64_t block; /* number of the block */
	} key;
	uint32_t bytes;
	struct seen_access *next; /* of the same block, in the order of the run */
	UT_hash_handle hh;
};

struct block_type {
	Dwarf_Die type;
	const char *name; /* name as displayed; NULL if no type is known */
	uint64_t size;
	bool is_asked;	  /* the allocation was examined */
	bool is_declared; /* the allocation gives the type */
	bool is_shared;	  /* the counters of a shared_ptr, then the object */
	Dwarf_Die object;
	uint64_t object_start; /* offset in the block */
	/* a guess was wrong: only types from the site data count from now on */
	bool is_contradicted;
	bool is_guess;
	/* Accesses from which the type is not learnt yet: few blocks of a long run are described. */
	struct seen_access *noted, *noted_last;
};

/* The user's line that allocated a block. */
struct block_line {
	bool is_looked_up;
	const char *file; /* of the symbols; NULL if no line is known */
	unsigned number;
	uint32_t ordinal; /* of the block among those of the line and thread; 0: not counted yet */
};

struct block_index {
	const struct memory_block *blocks; /* the indexed blocks */
	uint32_t count;
	uint32_t *order; /* numbers of blocks, by their start */
	uint64_t *ends;	 /* largest end of this and all earlier blocks in that order */
	struct block_type *types;
	struct block_line *lines;
	struct seen_access *seen;
};

static int blocks_compare_starts(const void *a, const void *b, void *argument)
{
	const struct memory_block *blocks = argument;
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const uint64_t start = blocks[first].start, other = blocks[second].start;

	return start != other ? (start > other) - (start < other)
			      : (first > second) - (first < second);
}

void symbols_forget_blocks(struct symbols *symbols)
{
	struct block_index *index = symbols->blocks;

	symbols->blocks = NULL;
	if (!index)
		return;
	HASH_FREE(index->seen);
	free(index->order);
	free(index->ends);
	free(index->types);
	free(index->lines);
	free(index);
}

static struct block_index *blocks_index_of(
	struct symbols *symbols, const struct symbols_memory *memory)
{
	struct block_index *index = symbols->blocks;

	if (index && index->blocks == memory->blocks && index->count == memory->block_count)
		return index;
	symbols_forget_blocks(symbols);
	index = symbols->blocks = array_new(1, sizeof *index);
	index->blocks = memory->blocks;
	index->count = memory->block_count;
	index->order = array_new(index->count + 1, sizeof *index->order);
	index->ends = array_new(index->count + 1, sizeof *index->ends);
	index->types = array_new(index->count + 1, sizeof *index->types);
	index->lines = array_new(index->count + 1, sizeof *index->lines);
	for (uint32_t i = 0; i < index->count; i++)
		index->order[i] = i;
	if (index->count)
		qsort_r(index->order, index->count, sizeof *index->order, blocks_compare_starts,
			(void *)(uintptr_t)memory->blocks);
	for (uint32_t i = 0; i < index->count; i++) {
		const struct memory_block *block = &memory->blocks[index->order[i]];
		const uint64_t end = block->start + block->bytes;

		index->ends[i] = i && index->ends[i - 1] > end ? index->ends[i - 1] : end;
	}
	return index;
}

const struct memory_block *blocks_at(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access)
{
	const struct block_index *index = blocks_index_of(symbols, memory);
	const struct memory_block *found = NULL;
	/* becomes the first block that starts behind the address */
	uint32_t low;

	SEARCH(low, 0, index->count, memory->blocks[index->order[low]].start <= access->address);
	/* One round for all blocks with the same start, which are ordered by the time of their allocation. */
	while (low && index->ends[low - 1] > access->address) {
		const uint64_t start = memory->blocks[index->order[low - 1]].start;
		const struct memory_block *block;
		uint32_t first, later;

		SEARCH(first, 0, low, memory->blocks[index->order[first]].start < start);
		SEARCH(later, first, low,
			memory->blocks[index->order[later]].made_step <= access->step);
		for (low = first; later > first; later--) {
			block = &memory->blocks[index->order[later - 1]];
			if (access->address - start >= block->bytes)
				continue;
			if (!found || block > found)
				found = block;
			break;
		}
	}
	return found;
}

uint32_t symbols_block_number(struct symbols *symbols, const struct symbols_memory *memory,
	uint64_t address, uint64_t step)
{
	const struct symbols_access access = {.address = address, .step = step};
	const struct memory_block *block = blocks_at(symbols, memory, &access);

	return block ? (uint32_t)(block - memory->blocks) + 1 : 0;
}

struct type_search {
	const struct memory_block *block;
	const char *text;	/* source at the access */
	uint64_t offset, bytes; /* location of an access; bytes 0: none */
	Dwarf_Die type;
	const char *name; /* name of the type, NULL: none yet */
	bool is_ambiguous;
};

static bool blocks_could_be(const struct memory_block *block, Dwarf_Die *type)
{
	const uint64_t size = types_size(type);

	return types_is_struct(type) && size > 1 && block->bytes && block->bytes % size == 0;
}

/* Returns the size of the block's objects if they are of this type, or 0 if they cannot be. A block that whole objects do
 * not fill may be one object with a longer array at its end. */
static uint64_t blocks_object_size(const struct memory_block *block, Dwarf_Die *type)
{
	uint64_t start;

	if (blocks_could_be(block, type))
		return types_size(type);
	return types_extends_from(type, &start) && block->bytes > start ? block->bytes : 0;
}

static bool blocks_may_hold(const struct memory_block *block, Dwarf_Die *type)
{
	return blocks_object_size(block, type) != 0;
}

static bool blocks_visit_pointer(struct symbols *symbols, struct local *local, void *argument)
{
	struct type_search *search = argument;
	Dwarf_Die type, target;
	const char *name;
	int tag;

	if (!types_of(&local->variable, &type))
		return false;
	tag = dwarf_tag(&type);
	if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type) ||
		!types_of(&type, &target) || !blocks_could_be(search->block, &target))
		return false;
	if (search->bytes &&
		!types_fits(&target, search->offset % types_size(&target), search->bytes))
		return false;
	name = dwarf_diename(&local->variable);
	/* A library's member function may call the program's code. `this` of the member function is then not the
	 * object that the program's code accesses. */
	if (!name || (strcmp(name, "this") ? !source_find_word(search->text, name, search->text)
					   : local->is_around_program))
		return false;
	name = types_name(symbols, &target);
	if (!name)
		return false;
	search->is_ambiguous |= search->name && strcmp(search->name, name);
	search->name = name;
	search->type = target;
	return search->is_ambiguous;
}

static void blocks_learn(struct block_type *known, const struct memory_block *block,
	Dwarf_Die *type, const char *name, bool is_guess)
{
	const uint64_t size = blocks_object_size(block, type);

	if (known->is_declared || (known->name && known->size >= size) ||
		(is_guess && known->is_contradicted))
		return;
	known->type = *type;
	known->name = name;
	known->size = size;
	known->is_guess = is_guess;
}

/* `code`: a code address in the scope, not a return address. */
static void blocks_learn_from_scope(struct symbols *symbols, struct block_type *known,
	struct type_search *search, uint64_t code)
{
	search->text = code ? source_statement_at(symbols, code) : NULL;
	if (search->text)
		(void)locals_each(symbols, code, blocks_visit_pointer, search);
	if (search->name && !search->is_ambiguous)
		blocks_learn(known, search->block, &search->type, search->name, true);
}

static void blocks_learn_from_point(struct symbols *symbols, struct block_type *known,
	const struct memory_block *block, const struct seen_access *seen, const struct site *point)
{
	Dwarf_Die type;

	if (types_named(symbols, symbols_module_at(symbols, seen->key.site), point->type, &type) &&
		blocks_may_hold(block, &type) &&
		types_is_field(&type, seen->key.offset % blocks_object_size(block, &type),
			seen->bytes, point->field))
		blocks_learn(known, block, &type, types_name(symbols, &type), false);
}

/* Distinguishes the blocks of a shared_ptr. make_shared()'s block holds the object, which names the
 * block; that of shared_ptr(new T) holds only counters. */
static void blocks_look_into_shared(struct symbols *symbols, struct block_type *known)
{
	const char *name = dwarf_diename(&known->type);
	const bool is_inplace = name && !strncmp(name, "_Sp_counted_ptr_inplace<", 24);
	Dwarf_Die inner, storage, object;
	uint64_t start, distance;

	if (!name || (!is_inplace && strncmp(name, "_Sp_counted_", 12) != 0) ||
		!types_argument(&known->type, &object))
		return;
	if (dwarf_tag(&object) == DW_TAG_pointer_type && !types_of(&object, &object))
		return;
	start = known->size;
	if (is_inplace && types_member(&known->type, "_M_impl", &inner, &start) &&
		types_member(&inner, "_M_storage", &storage, &distance))
		start += distance;
	name = types_is_struct(&object) ? types_name(symbols, &object) : dwarf_diename(&object);
	if (!name)
		return;
	known->name = name;
	known->object = object;
	known->object_start = start;
	known->is_shared = true;
}

static void blocks_ask_allocation(
	struct symbols *symbols, struct block_type *known, const struct memory_block *block)
{
	Dwarf_Die type;
	const char *name;

	if (known->is_asked)
		return;
	known->is_asked = true;
	name = allocation_type(symbols, block, blocks_may_hold, &type);
	if (!name)
		return;
	blocks_learn(known, block, &type, name, false);
	known->is_declared = true;
	blocks_look_into_shared(symbols, known);
}

void symbols_note_access(struct symbols *symbols, const struct symbols_memory *memory,
	const struct symbols_access *access)
{
	struct block_index *index = blocks_index_of(symbols, memory);
	const struct memory_block *block = blocks_at(symbols, memory, access);
	struct seen_access key = {.key.site = access->site, .bytes = access->bytes};
	struct block_type *known;
	struct seen_access *seen;

	if (!block)
		return;
	key.key.offset = access->address - block->start;
	key.key.block = (uint64_t)(block - index->blocks);
	HASH_FIND(hh, index->seen, &key.key, sizeof key.key, seen);
	if (seen)
		return;
	seen = array_new(1, sizeof *seen);
	*seen = key;
	HASH_ADD(hh, index->seen, key, sizeof seen->key, seen);
	known = &index->types[key.key.block];
	*(known->noted ? &known->noted_last->next : &known->noted) = seen;
	known->noted_last = seen;
}

static void blocks_learn_from_access(struct symbols *symbols, struct block_type *known,
	const struct memory_block *block, const struct seen_access *seen)
{
	const uint64_t site = seen->key.site;
	const struct site *point = points_at(symbols, site);
	struct type_search search = {
		.block = block, .offset = seen->key.offset, .bytes = seen->bytes};

	if (point && point->type)
		blocks_learn_from_point(symbols, known, block, seen, point);
	else
		blocks_learn_from_scope(symbols, known, &search, point ? site : site - 1);
	if (known->name && known->is_guess && seen->bytes &&
		!types_fits(&known->type, search.offset % known->size, seen->bytes)) {
		known->name = NULL;
		known->is_contradicted = true;
	}
}

/* The block's type as far as the noted accesses show it. */
static struct block_type *blocks_type_of(struct symbols *symbols,
	const struct symbols_memory *memory, const struct memory_block *block)
{
	struct block_type *known = &blocks_index_of(symbols, memory)->types[block - memory->blocks];

	blocks_ask_allocation(symbols, known, block);
	for (; known->noted; known->noted = known->noted->next)
		blocks_learn_from_access(symbols, known, block, known->noted);
	return known;
}

static const char *blocks_block_word(const struct memory_block *block)
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

/* Finds the innermost line of the user's code at the site. */
static void blocks_look_up_line(struct symbols *symbols, uint64_t site, struct block_line *line)
{
	struct symbols_frame frames[LOCATION_FRAMES];
	const unsigned count =
		site ? symbols_lookup(symbols, site, true, frames, LOCATION_FRAMES) : 0;

	for (unsigned i = 0; i < count && !line->file; i++) {
		if (frames[i].is_system)
			continue;
		line->file = frames[i].file;
		line->number = frames[i].line;
	}
}

static struct block_line *blocks_line_of(struct symbols *symbols,
	const struct symbols_memory *memory, const struct memory_block *block)
{
	struct block_line *line = &blocks_index_of(symbols, memory)->lines[block - memory->blocks];

	if (line->is_looked_up)
		return line;
	line->is_looked_up = true;
	blocks_look_up_line(symbols, block->site, line);
	for (unsigned i = 0; !line->file && i < MEMORY_BLOCK_CALLERS; i++)
		blocks_look_up_line(symbols, block->callers[i], line);
	return line;
}

/* An inlined function allocates at several sites of one line. */
#define SITES_OF_LINE 8

/*
 * Returns the block's number among those of its line and thread. The runtime counts the blocks of
 * each site; here the counts of the line's other sites, as of the block's allocation, are added.
 */
static uint32_t blocks_ordinal_at_line(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block)
{
	struct block_line *line = blocks_line_of(symbols, memory, block);
	uint64_t sites[SITES_OF_LINE] = {block->site};
	uint32_t count = 1, known;

	if (line->ordinal)
		return line->ordinal;
	line->ordinal = block->ordinal;
	for (const struct memory_block *other = block; line->file && other-- > memory->blocks;) {
		const struct block_line *at;

		for (known = 0; known < count && sites[known] != other->site;)
			known++;
		if (known < count || other->thread != block->thread || count == SITES_OF_LINE)
			continue;
		at = blocks_line_of(symbols, memory, other);
		if (!at->file || at->number != line->number || strcmp(at->file, line->file) != 0)
			continue;
		sites[count++] = other->site;
		line->ordinal += other->ordinal;
	}
	return line->ordinal;
}

static void blocks_add_block_location(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, struct strbuf *out)
{
	const struct block_line *line = blocks_line_of(symbols, memory, block);
	struct symbols_frame frame;
	const char *module = NULL;
	uint64_t offset;

	if (line->file) {
		strbuf_addf(out, " at %s:%u", base_name(line->file), line->number);
		return;
	}
	offset = symbols_module_offset(symbols, block->site, &module);
	if (symbols_lookup(symbols, block->site, true, &frame, 1) && frame.function)
		strbuf_addf(out, " in %s", frame.function);
	else if (module)
		strbuf_addf(out, " at %s+0x%" PRIx64, module, offset);
}

/* Adds " at bank.c:41 by main.0, #3". */
static void blocks_add_block(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, uint64_t step, struct strbuf *out)
{
	blocks_add_block_location(symbols, memory, block, out);
	for (uint32_t i = 1; i < memory->thread_count; i++)
		if (memory->threads[i].name == block->thread)
			strbuf_addf(out, " by %s", memory->threads[i].path);
	strbuf_addf(out, ", #%" PRIu32, blocks_ordinal_at_line(symbols, memory, block));
	if (step != UINT64_MAX && block->freed_step <= step)
		strbuf_adds(out, ", freed");
}

/* Adds "((struct account *)malloc at bank.c:41, #3)[2].balance". */
static void blocks_describe_typed(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, const struct symbols_access *access,
	struct block_type *known, struct strbuf *out)
{
	const uint64_t offset = access->address - block->start;
	FREE_SCOPED char *name = symbols_short_name(known->name);

	strbuf_addf(
		out, "((%s *)%s", name, known->is_shared ? "shared_ptr" : blocks_block_word(block));
	blocks_add_block(symbols, memory, block, access->step, out);
	strbuf_adds(out, ")");
	if (known->is_shared) {
		if (offset >= known->object_start)
			types_describe_inside(
				&known->object, offset - known->object_start, access->bytes, out);
		else if (offset >= USE_COUNT)
			strbuf_adds(out, ".use_count");
		return;
	}
	if (block->bytes > known->size)
		strbuf_addf(out, "[%" PRIu64 "]", offset / known->size);
	types_describe_inside(&known->type, offset % known->size, access->bytes, out);
}

bool blocks_type(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, Dwarf_Die *type)
{
	const struct block_type *known = blocks_type_of(symbols, memory, block);

	if (known->name)
		*type = known->type;
	return known->name;
}

void blocks_describe(struct symbols *symbols, const struct symbols_memory *memory,
	const struct memory_block *block, const struct symbols_access *access, struct strbuf *out)
{
	const uint64_t offset = access->address - block->start;
	struct block_type *known;

	symbols_note_access(symbols, memory, access);
	known = blocks_type_of(symbols, memory, block);
	if (known->name) {
		blocks_describe_typed(symbols, memory, block, access, known, out);
		return;
	}
	strbuf_adds(out, "(");
	if (block->kind != BLOCK_MAPPING && block->kind != BLOCK_TEXT)
		strbuf_addf(out, "block of %" PRIu64 " bytes allocated", block->bytes);
	else
		strbuf_adds(out, blocks_block_word(block));
	blocks_add_block(symbols, memory, block, access->step, out);
	strbuf_adds(out, ")");
	if (offset)
		strbuf_addf(out, "+%" PRIu64, offset);
}
