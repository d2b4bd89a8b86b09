/* Loads from constant tables: a symbolic index gives a choice among the entries, without a pin. */
#include <string.h>

#include "branches/interpret/walk_internal.h"

/* Each entry becomes a select. The index of a longer table is pinned. */
#define LOCATIONS_MOST 32

#define DEPTH_MOST 16

static uint64_t walk_table_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Returns a number that divides the difference of any two values of the term; 0: one value only. */
static uint64_t walk_table_stride_of(const struct term *term, uint32_t depth)
{
	if (term->op == TERM_CONSTANT)
		return 0;
	if (term->op != CODE_BINARY || depth == DEPTH_MOST)
		return 1;
	if (term->sub == LLVMAdd)
		return walk_table_common_divisor(
			walk_table_stride_of(term_operand(term, 0), depth + 1),
			walk_table_stride_of(term_operand(term, 1), depth + 1));
	if (term->sub == LLVMMul && term_operand(term, 1)->op == TERM_CONSTANT)
		return term_operand(term, 1)->value;
	return 1;
}

/* The entries that the address may select: every `stride` bytes from `first` on. */
struct table {
	const struct constant_block *block;
	uint64_t first, stride, count;
};

/* Returns false if the table is too long, or an entry would extend beyond it. */
static bool walk_table_measure(struct table *table, const struct term *address, uint32_t bytes)
{
	const uint64_t at = address->value - table->block->address;

	table->stride = walk_table_stride_of(address, 0);
	if (!table->stride || at >= table->block->size)
		return false;
	table->first = at % table->stride;
	table->count = (table->block->size - 1 - table->first) / table->stride + 1;
	return table->count <= LOCATIONS_MOST &&
	       bytes <= table->block->size - table->first - (table->count - 1) * table->stride;
}

static uint64_t walk_table_value_in(const struct table *table, uint64_t offset, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, table->block->bytes + offset, bytes);
	return value;
}

/* Adds the event that asks whether the index can leave the table. */
static void walk_table_add_index_event(struct walker *walker, const struct code *code,
	struct term *address, const struct constant_block *block)
{
	struct walk_event *event = walk_add_term_event(walker, EVENT_INDEX, address, code);

	event->address = block->address;
	event->occurrence = block->size;
	event->is_open = true;
	address->is_reported = true;
}

static struct term *walk_table_choose(
	struct term_arena *arena, struct term *address, const struct table *table, uint32_t bytes)
{
	const uint64_t value =
		walk_table_value_in(table, address->value - table->block->address, bytes);
	struct term *result = term_constant(arena, 8 * bytes, value);

	for (uint64_t i = 0; i < table->count; i++) {
		const uint64_t offset = table->first + i * table->stride;
		const uint64_t other = walk_table_value_in(table, offset, bytes);
		struct term *is_there;

		if (other == value)
			continue;
		is_there = term_comparison(arena, LLVMIntEQ, address,
			term_constant(arena, 64, table->block->address + offset));
		result = term_selection(
			arena, is_there, term_constant(arena, 8 * bytes, other), result);
	}
	return result;
}

struct term *walk_table_term(struct walker *walker, const struct code *code)
{
	struct term *address = walk_operand_term(walker, code->a);
	struct table table = {.block = code->constant};

	if (!address || address->op == TERM_CONSTANT || address->is_pinned ||
		code->location != LOCATION_CONSTANT || !walker->walk->has_open_addresses ||
		!walker->is_live || walker->is_before || walker->walk->part.begin ||
		walker->frames[walker->frame_count - 1].function->is_excluded ||
		!walk_table_measure(&table, address, code->bytes))
		return NULL;
	if (!address->is_reported)
		walk_table_add_index_event(walker, code, address, table.block);
	return walk_table_choose(&walker->walk->terms, address, &table, code->bytes);
}
