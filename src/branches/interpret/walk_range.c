/*
 * Copies and fills of memory. Contents that the record does not report are computed, if the walk
 * itself stores the source or the destination. A range becomes events, one for each piece of shared
 * memory, and all pieces form one access.
 *
 * A long copy between other memory writes unknown contents; it is counted in walk.unknowns.
 */
#include <string.h>

#include "branches/interpret/walk_internal.h"
#include "abi/instrument_abi.h"

/* Longer ranges are not modelled piece by piece. */
#define RANGE_MOST SITE_COPIED_MOST

/* The accesses of longer ranges are not recorded: each word needs an entry. */
#define NOTED_MOST (UINT32_C(1) << 27)

struct side {
	struct code code;
	uint64_t address;
};

struct range {
	struct side from, to; /* `from` is used for copies only */
	uint64_t bytes;
	uint8_t contents[RANGE_MOST];
	struct term *terms[RANGE_MOST]; /* terms[i]: of the piece that begins at byte i */
	/* May be shorter under another schedule: walk_range_open_length() */
	bool is_open;
};

/*
 * Lengths that depend on shared memory. Another schedule may only make the length smaller, as later
 * bytes are unknown. Shared memory is written byte by byte, each under the condition that the length
 * reaches it. Memory of one thread is written under the condition that the whole range is written.
 */

/* Each byte becomes a conditional write: longer ranges keep their length. */
#define OPEN_BYTES_MOST 64

/* Returns the condition that the byte at `location` is written. */
static struct term *walk_range_is_within(
	struct walker *walker, const struct code *code, uint64_t location)
{
	struct term *length = walk_operand_term(walker, code->c);

	return term_comparison(&walker->walk->terms, LLVMIntULT,
		term_constant(&walker->walk->terms, length->width, location), length);
}

/* Returns the condition that all bytes are written; NULL if there are none. */
static struct term *walk_range_is_whole(struct walker *walker, const struct code *code)
{
	const struct term *length = walk_operand_term(walker, code->c);

	return length->value ? walk_range_is_within(walker, code, length->value - 1) : NULL;
}

/* Returns whether the length depends on shared memory. */
static bool walk_range_has_length(const struct walker *walker, const struct code *code)
{
	const struct term *length = walk_operand_term(walker, code->c);

	return length && length->op != TERM_CONSTANT && !length->is_pinned;
}

/* Leaves the length open towards smaller values, or pins it. Returns whether the length stays open. */
static bool walk_range_open_length(struct walker *walker, const struct code *code)
{
	struct term *length = walk_operand_term(walker, code->c);
	struct term *most;

	if (!walk_range_has_length(walker, code))
		return false;
	if (length->value > OPEN_BYTES_MOST ||
		walker->frames[walker->frame_count - 1].function->is_excluded) {
		(void)walk_pin(walker, EVENT_VALUE, length, code);
		return false;
	}
	most = term_constant(&walker->walk->terms, length->width, length->value + 1);
	(void)walk_pin(walker, EVENT_VALUE,
		term_comparison(&walker->walk->terms, LLVMIntULT, length, most), code);
	return true;
}

/* Returns the size of the next piece: at most a word, and the smallest size of other accesses. */
static uint32_t walk_range_piece_at(const struct walker *walker, const struct side *side,
	uint64_t done, uint64_t left, uint32_t most)
{
	const uint64_t address = side->address + done;
	uint32_t bytes =
		side->code.location == LOCATION_SITE ? walk_piece(walker->walk, address) : 8;

	while (bytes > most || bytes > left || address & (bytes - 1))
		bytes /= 2;
	return bytes;
}

static uint32_t walk_range_next_piece(
	const struct walker *walker, const struct range *range, bool is_copy, uint64_t done)
{
	const uint32_t bytes =
		walk_range_piece_at(walker, &range->to, done, range->bytes - done, 8);

	return is_copy ? walk_range_piece_at(walker, &range->from, done, range->bytes - done, bytes)
		       : bytes;
}

static uint64_t walk_range_contents_at(const struct range *range, uint64_t done, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, range->contents + done, bytes);
	return value;
}

static void walk_range_read_pieces(struct walker *walker, struct range *range)
{
	const uint64_t first = walker->out->count;
	uint32_t bytes;

	for (uint64_t done = 0; done < range->bytes; done += bytes) {
		bytes = walk_range_next_piece(walker, range, true, done);
		range->terms[done] =
			walk_read_term(walker, &range->from.code, range->from.address + done, bytes,
				walk_range_contents_at(range, done, bytes));
	}
	walk_join_events(walker, first);
}

static bool walk_range_is_any_shared(
	const struct walker *walker, const struct side *side, uint64_t bytes)
{
	return side->code.location == LOCATION_SITE && bytes &&
	       (bytes > NOTED_MOST || walk_is_shared(walker->walk, side->address, (uint32_t)bytes));
}

/* Writes bytes one by one, each under the condition that the length reaches it. */
static void walk_range_write_bytes(struct walker *walker, const struct range *range, bool is_copy,
	uint64_t done, uint32_t bytes)
{
	struct term *term = is_copy ? range->terms[done] : NULL;

	for (uint32_t i = 0; i < bytes; i++) {
		walker->when = walk_range_is_within(walker, &range->to.code, done + i);
		walk_write_term(walker, &range->to.code, range->to.address + done + i, 1,
			range->contents[done + i],
			term ? term_bytes(&walker->walk->terms, term, i, 1) : NULL);
	}
}

static void walk_range_write_pieces(struct walker *walker, const struct range *range, bool is_copy)
{
	const uint64_t first = walker->out->count;
	uint32_t bytes;

	for (uint64_t done = 0; done < range->bytes; done += bytes) {
		bytes = walk_range_next_piece(walker, range, is_copy, done);
		if (range->is_open && walk_range_is_any_shared(walker, &range->to, range->bytes)) {
			walk_range_write_bytes(walker, range, is_copy, done, bytes);
			continue;
		}
		walker->when = range->is_open ? walk_range_is_whole(walker, &range->to.code) : NULL;
		walk_write_term(walker, &range->to.code, range->to.address + done, bytes,
			walk_range_contents_at(range, done, bytes),
			is_copy ? range->terms[done] : NULL);
	}
	walker->when = NULL;
	walk_join_events(walker, first);
}

static void walk_range_note_initials(struct walker *walker, const struct range *range)
{
	uint32_t bytes;

	for (uint64_t done = 0; done < range->bytes; done += bytes) {
		bytes = walk_range_next_piece(walker, range, false, done);
		walk_note_initial(walker, range->to.address + done, bytes,
			walk_range_contents_at(range, done, bytes));
	}
}

static void walk_range_note_side(
	struct walker *walker, const struct side *side, uint64_t bytes, bool is_write)
{
	if (side->code.location != LOCATION_SITE || !walker->is_live)
		return;
	if (walker->mode & WALK_NOTING && bytes && bytes <= NOTED_MOST)
		walk_note_access(walker, side->code.site, side->address, (uint32_t)bytes, is_write);
	else if (walker->mode & WALK_EVENTS)
		walk_count_step(walker, side->code.site);
	if (walker->mode & WALK_SHARING && is_write && bytes > NOTED_MOST)
		walker->walk->shared.is_ordered = false;
}

/* Returns true if the length stays open towards smaller values. */
static bool walk_range_pin_operands(struct walker *walker, const struct code *code)
{
	bool has_any =
		walk_pin(walker, EVENT_ADDRESS, walk_operand_term(walker, code->a), code) != NULL;

	has_any |= walk_pin(walker, code->op == CODE_COPY ? EVENT_ADDRESS : EVENT_VALUE,
			   walk_operand_term(walker, code->b), code) != NULL;
	has_any |= walk_range_has_length(walker, code);
	if (has_any)
		walk_note_unknown(walker, code, true);
	return walk_range_open_length(walker, code);
}

/* Contents are unknown for long copies between memory that the walk does not store. */
static void walk_range_note_range(
	struct walker *walker, struct range *range, bool is_copy, bool is_known)
{
	const bool is_followed = is_copy && range->from.code.location == LOCATION_SITE &&
				 range->to.code.location == LOCATION_SITE;
	const uint64_t first = walker->out->count;

	if (is_copy)
		walk_range_note_side(walker, &range->from, range->bytes, false);
	if (is_followed && walker->mode & WALK_SHARING && walker->is_live && is_known)
		walk_note_copy(walker->walk, range->from.address, range->to.address, range->bytes);
	/* A copied range is read after the scheduling point of the write. */
	if (is_followed)
		walk_range_note_side(walker, &range->to, range->bytes, true);
	if (walker->mode & WALK_EVENTS && is_known)
		range->is_open = walk_range_pin_operands(walker, &range->to.code);
	if (walker->mode & WALK_EVENTS && is_known && is_copy)
		walk_range_read_pieces(walker, range);
	if (!is_followed)
		walk_range_note_side(walker, &range->to, range->bytes, true);
	if (!(walker->mode & WALK_EVENTS))
		return;
	if (is_known) {
		walk_range_write_pieces(walker, range, is_copy);
		if (is_followed)
			walk_join_events(walker, first);
		if (!walker->is_live && range->to.code.location == LOCATION_SITE)
			walk_range_note_initials(walker, range);
	} else if (walk_range_is_any_shared(walker, &range->from, range->bytes) ||
		   walk_range_is_any_shared(walker, &range->to, range->bytes)) {
		walk_note_unknown(walker, &range->to.code, false);
	}
}

static struct side walk_range_side_of(
	const struct code *code, uint8_t location, uint32_t site, uint64_t address)
{
	struct side side = {.code = *code, .address = address};

	side.code.location = location;
	side.code.site = site;
	return side;
}

static enum step walk_range_read_recorded(
	struct walker *walker, uint64_t from, uint64_t bytes, uint8_t *target)
{
	for (uint64_t done = 0; done < bytes; done += 8) {
		const uint32_t part = bytes - done < 8 ? (uint32_t)(bytes - done) : 8;
		uint64_t value;
		const enum step step = walk_read(walker, SITE_NONE, from + done, part, &value);

		if (step != STEP_NEXT)
			return step;
		memcpy(target + done, &value, part);
	}
	return STEP_NEXT;
}

/* Returns whether the record reports the bytes of a copy. Mirrors the recorder. */
static bool walk_range_is_recorded(
	const struct walker *walker, const struct code *code, uint64_t bytes)
{
	const uint16_t flags = code->location_from == LOCATION_SITE && code->site != SITE_NONE
				       ? walker->book->image->sites[code->site].bytes
				       : 0;

	return (flags & SITE_COPIED && bytes <= SITE_COPIED_MOST) ||
	       (flags & SITE_FOLLOWED && bytes <= SITE_FOLLOWED_MOST);
}

static void walk_range_settle_or_drop(struct walker *walker, uint32_t site)
{
	if (walk_is_point(walker, site))
		walk_settle(walker);
	else
		walk_drop(walker);
}

static void walk_range_settle_source(struct walker *walker, const struct code *code)
{
	const uint16_t flags =
		code->site != SITE_NONE ? walker->book->image->sites[code->site].bytes : 0;

	if (code->location_from == LOCATION_SITE && flags & (SITE_COPIED | SITE_FOLLOWED))
		walk_settle(walker);
	else if (code->location != LOCATION_LOCAL)
		walk_range_settle_or_drop(walker, code->site_to);
}

enum step walk_copy(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const uint64_t bytes = registers[code->c];
	const bool is_read = walk_range_is_recorded(walker, code, bytes);
	const uint8_t *source = NULL; /* NULL: the walk does not store it */
	uint8_t *target = NULL;
	struct range range; /* `contents` is initialised only where it is read */

	range.bytes = bytes;
	range.is_open = false;
	range.from = walk_range_side_of(code, code->location_from, code->site, registers[code->b]);
	range.to = walk_range_side_of(code, code->location, code->site_to, registers[code->a]);
	if (code->location == LOCATION_LOCAL)
		target = walk_own_memory(walker, code, LOCATION_LOCAL, range.to.address, bytes);
	if (code->location_from != LOCATION_SITE)
		source = walk_own_memory(
			walker, code, code->location_from, range.from.address, bytes);
	if ((code->location == LOCATION_LOCAL && !target) ||
		(code->location_from != LOCATION_SITE && !source))
		return walk_outside_of_own(walker);
	if (target && !source && !is_read)
		return walk_end_at(walker, WALK_UNKNOWN, "a copy of more than 4096 bytes");
	walk_range_settle_source(walker, code);
	if (is_read) {
		const enum step step =
			walk_range_read_recorded(walker, range.from.address, bytes, range.contents);

		if (step != STEP_NEXT)
			return step;
		source = range.contents;
		if (!target) {
			walk_touch(walker, range.to.address, bytes);
			record_copy_known(
				walker->memory, range.from.address, range.to.address, bytes);
		}
	} else if (source && bytes <= RANGE_MOST) {
		memcpy(range.contents, source, bytes);
	}
	if (target)
		memmove(target, source, bytes);
	walk_range_note_range(walker, &range, true, source && bytes <= RANGE_MOST);
	return STEP_NEXT;
}

enum step walk_fill(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const uint64_t to = registers[code->a], bytes = registers[code->c];
	struct range range;

	if (code->location == LOCATION_LOCAL) {
		uint8_t *target = walk_own_memory(walker, code, LOCATION_LOCAL, to, bytes);

		if (!target)
			return walk_outside_of_own(walker);
		memset(target, (int)registers[code->b], bytes);
	} else {
		walk_range_settle_or_drop(walker, code->site_to);
	}
	range.to = walk_range_side_of(code, code->location, code->site_to, to);
	range.bytes = bytes;
	range.is_open = false;
	if (bytes <= RANGE_MOST)
		memset(range.contents, (int)registers[code->b], bytes);
	walk_range_note_range(walker, &range, false, bytes <= RANGE_MOST);
	return STEP_NEXT;
}
