/* Instructions that access memory: loads, stores, allocas and atomic updates. */
#include <string.h>

#include "branches/interpret/walk_internal.h"
#include "abi/instrument_abi.h"

uint8_t *walk_own_memory(struct walker *walker, const struct code *code, uint8_t location,
	uint64_t address, uint64_t bytes)
{
	const uint64_t local = address - (uint64_t)(uintptr_t)walker->locals;
	const struct constant_block *constant = code->constant;

	if (location == LOCATION_LOCAL)
		return local <= walker->local_bytes && bytes <= walker->local_bytes - local
			       ? walker->locals + local
			       : NULL;
	return constant && address >= constant->address &&
			       address - constant->address <= constant->size &&
			       bytes <= constant->size - (address - constant->address)
		       ? constant->bytes + (address - constant->address)
		       : NULL;
}

enum step walk_outside_of_own(struct walker *walker)
{
	return walk_end_at(walker, WALK_CRASHED, "an access outside of the local or constant");
}

/* Notes or counts the access of the current instruction, as the purpose of the walk requires. */
static void walk_access_note(
	struct walker *walker, const struct code *code, uint64_t address, bool is_write)
{
	if (walker->mode & WALK_NOTING)
		walk_note_access(walker, code->site, address, code->bytes, is_write);
	else if (walker->mode & WALK_EVENTS)
		walk_count_step(walker, code->site);
}

static void walk_access_note_write(
	struct walker *walker, const struct code *code, uint64_t address, const uint64_t *parts)
{
	if (walker->is_live)
		walk_access_note(walker, code, address, true);
	for (uint32_t done = 0; !walker->is_live && done < code->bytes; done += 8)
		walk_note_initial(walker, address + done,
			code->bytes - done < 8 ? code->bytes - done : 8, parts[done / 8]);
}

/* Returns the bytes of a lane. The last lane of a long double has two bytes. */
static uint32_t walk_access_lane_bytes(const struct code *code, uint32_t lane)
{
	const uint32_t whole = code->is_vector ? code->width / 8u : code->bytes;
	const uint32_t left = code->bytes - lane * whole;

	return left < whole ? left : whole;
}

/* Makes the terms of the loaded lanes. All lanes form one access: no scheduling point lies between
 * them. */
static void walk_access_set_loaded_term(
	struct walker *walker, const struct code *code, uint64_t address, const uint64_t *parts)
{
	const uint32_t lane = code->is_vector ? code->width / 8u : code->bytes;
	const uint64_t first = walker->out->count;
	struct term *of_table = code->location == LOCATION_CONSTANT && code->count == 1
					? walk_table_term(walker, code)
					: NULL;

	if (of_table) {
		walk_set_term(walker, code->to,
			term_resized(&walker->walk->terms, of_table, code->width));
		return;
	}
	walker->where = walk_open_address(walker, code, code->a, address);
	for (uint32_t i = 0; i < code->count; i++) {
		const uint32_t bytes = walk_access_lane_bytes(code, i);
		uint64_t value = 0;
		struct term *term;

		memcpy(&value, (const uint8_t *)parts + i * lane, bytes);
		term = walk_read_term(walker, code, address + i * lane, bytes, value);
		if (term)
			term = term_resized(&walker->walk->terms, term, code->width);
		walk_set_term(walker, code->to + (int32_t)i, term);
	}
	walker->where = NULL;
	walk_join_events(walker, first);
}

static inline enum step walk_access_read_parts(
	struct walker *walker, const struct code *code, uint64_t address, uint64_t *parts)
{
	const uint8_t *memory;

	if (code->location != LOCATION_SITE) {
		memory = walk_own_memory(walker, code, code->location, address, code->bytes);
		if (!memory)
			return walk_outside_of_own(walker);
		memcpy(parts, memory, code->bytes);
		return STEP_NEXT;
	}
	for (uint32_t done = 0; done < code->bytes; done += 8) {
		const uint32_t part = code->bytes - done < 8 ? code->bytes - done : 8;
		/* The site reports once for all units. */
		const enum step step = walk_read(walker, done ? SITE_NONE : code->site,
			address + done, part, &parts[done / 8]);

		if (step != STEP_NEXT)
			return step;
	}
	if (walker->is_live)
		walk_access_note(walker, code, address, false);
	return STEP_NEXT;
}

enum step walk_load(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const uint64_t address = registers[code->a];
	uint64_t parts[ACCESS_BYTES_MOST / 8] = {0};
	const enum step step = walk_access_read_parts(walker, code, address, parts);

	if (step != STEP_NEXT)
		return step;
	if (!code->is_vector)
		registers[code->to] = compute_mask(parts[0], code->width);
	for (uint32_t i = 0; code->is_vector && i < code->count; i++) {
		registers[code->to + (int32_t)i] = 0;
		memcpy(&registers[code->to + (int32_t)i], (uint8_t *)parts + i * (code->width / 8u),
			code->width / 8u);
	}
	if (walker->mode & WALK_EVENTS)
		walk_access_set_loaded_term(walker, code, address, parts);
	return STEP_NEXT;
}

static void walk_access_set_stored_term(
	struct walker *walker, const struct code *code, uint64_t address, const uint64_t *parts)
{
	const uint32_t lane = code->is_vector ? code->width / 8u : code->bytes;
	const uint64_t first = walker->out->count;

	walker->where = walk_open_address(walker, code, code->b, address);
	for (uint32_t i = 0; i < code->count; i++) {
		const uint32_t bytes = walk_access_lane_bytes(code, i);
		uint64_t value = 0;

		memcpy(&value, (const uint8_t *)parts + i * lane, bytes);
		walk_write_term(walker, code, address + i * lane, bytes, value,
			walk_operand_term(walker, decode_lane(code->a, i)));
	}
	walker->where = NULL;
	walk_join_events(walker, first);
}

static inline enum step walk_access_write_parts(
	struct walker *walker, const struct code *code, uint64_t address, const uint64_t *parts)
{
	uint8_t *memory;
	enum step step;

	if (code->location != LOCATION_SITE) {
		memory = walk_own_memory(walker, code, code->location, address, code->bytes);
		if (!memory || code->location != LOCATION_LOCAL)
			return walk_outside_of_own(walker);
		memcpy(memory, parts, code->bytes);
		return STEP_NEXT;
	}
	step = walk_pass(walker, code->site, address);
	if (step != STEP_NEXT)
		return step;
	walk_settle(walker);
	walk_written(walker, address, code->bytes, parts);
	walk_access_note_write(walker, code, address, parts);
	return STEP_NEXT;
}

enum step walk_store(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const uint64_t address = registers[code->b];
	uint64_t parts[ACCESS_BYTES_MOST / 8] = {0};
	enum step step;

	if (!code->is_vector)
		parts[0] = registers[code->a];
	for (uint32_t i = 0; code->is_vector && i < code->count; i++) {
		const uint64_t value = registers[decode_lane(code->a, i)];

		memcpy((uint8_t *)parts + i * (code->width / 8u), &value, code->width / 8u);
	}
	step = walk_access_write_parts(walker, code, address, parts);
	if (step != STEP_NEXT)
		return step;
	if (walker->mode & WALK_EVENTS)
		walk_access_set_stored_term(walker, code, address, parts);
	return STEP_NEXT;
}

enum step walk_local(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const uint64_t bytes = (uint64_t)code->immediate * registers[code->a];
	const uint64_t room = (bytes + 31) & ~UINT64_C(15);

	if (code->site != SITE_NONE) {
		const enum step step = walk_value(walker, code->site, 0, &registers[code->to]);

		if (step == STEP_NEXT)
			walk_note_object(walker, registers[code->to], bytes);
		return step;
	}
	if (bytes > LOCALS_MOST / 2 || walker->local_bytes + room > LOCALS_MOST)
		return walk_end_at(walker, WALK_UNKNOWN, "locals of many megabytes");
	registers[code->to] = (uint64_t)(uintptr_t)walker->locals + walker->local_bytes;
	walker->local_bytes += room;
	if (walker->local_most < walker->local_bytes)
		walker->local_most = walker->local_bytes;
	return STEP_NEXT;
}

static enum step walk_access_read_old(
	struct walker *walker, const struct code *code, uint64_t address, uint64_t *old)
{
	uint8_t *memory;

	*old = 0;
	if (code->location == LOCATION_SITE)
		return walk_read(walker, code->site, address, code->bytes, old);
	memory = walk_own_memory(walker, code, code->location, address, code->bytes);
	if (!memory)
		return walk_outside_of_own(walker);
	memcpy(old, memory, code->bytes);
	return STEP_NEXT;
}

static void walk_access_write_new(
	struct walker *walker, const struct code *code, uint64_t address, uint64_t value)
{
	if (code->location == LOCATION_SITE) {
		walk_written(walker, address, code->bytes, &value);
		/* One site reports both the read and the write. */
		if (walker->is_live && walker->mode & WALK_SHARING)
			walk_note_sharing(walker, address, code->bytes, false);
		walk_access_note_write(walker, code, address, &value);
		return;
	}
	memcpy(walk_own_memory(walker, code, code->location, address, code->bytes), &value,
		code->bytes);
}

/* Returns a symbolic term for the value that an atomic update reads from memory. The recorded run has read `old`. If every
 * schedule reads this value, no term is needed, and the function returns NULL. */
static struct term *walk_access_read_updated(
	struct walker *walker, const struct code *code, uint64_t address, uint64_t old)
{
	struct term *read;

	walker->where = walk_open_address(walker, code, code->a, address);
	read = walk_read_term(walker, code, address, code->bytes, old);
	return read ? term_resized(&walker->walk->terms, read, code->width) : NULL;
}

/* Writes the result of an atomic update, which is one access with its read. */
static void walk_access_write_updated(struct walker *walker, const struct code *code,
	uint64_t address, uint64_t value, struct term *written, const struct term *read)
{
	walk_write_term(walker, code, address, code->bytes, value, written);
	walker->where = NULL;
	if (walker->out->count && walker->out->events[walker->out->count - 1].kind == EVENT_WRITE)
		walker->out->events[walker->out->count - 1].is_atomic = read != NULL;
}

static void walk_access_update_terms(struct walker *walker, const struct code *code,
	uint64_t address, uint64_t old, uint64_t value)
{
	struct term_arena *arena = &walker->walk->terms;
	struct term *operand = walk_term_of(walker, code->b, code->width);
	struct term *read = walk_access_read_updated(walker, code, address, old), *written = NULL;

	walk_set_term(walker, code->to, read);
	if (read || operand->op != TERM_CONSTANT) {
		struct term_like like = {.op = CODE_UPDATE,
			.sub = code->sub,
			.width = code->width,
			.value = value,
			.a = read ? read : term_constant(arena, code->width, old),
			.b = operand};

		written = term_make(arena, &like);
	}
	walk_access_write_updated(walker, code, address, value, written, read);
}

/* Pins the constant result of an update in an excluded function after the write. */
static void walk_access_forget_old(struct walker *walker, const struct code *code)
{
	if (!walker->frames[walker->frame_count - 1].function->is_excluded)
		return;
	(void)walk_pin(walker, EVENT_VALUE, walk_operand_term(walker, code->to), code);
	walk_set_term(walker, code->to, NULL);
	if (code->op == CODE_EXCHANGE)
		walk_set_term(walker, code->to + 1, NULL);
}

/* Makes the terms of a compare-exchange. A failed comparison is a write of the old value: no thread
 * can distinguish it from no write. */
static void walk_access_exchange_terms(struct walker *walker, const struct code *code,
	uint64_t address, uint64_t old, uint64_t value)
{
	struct term_arena *arena = &walker->walk->terms;
	struct term *expected = walk_term_of(walker, code->b, code->width);
	struct term *wanted = walk_term_of(walker, code->c, code->width);
	struct term *read = walk_access_read_updated(walker, code, address, old);
	struct term *written = NULL, *equal = NULL;

	if (read || expected->op != TERM_CONSTANT || wanted->op != TERM_CONSTANT) {
		struct term *before = read ? read : term_constant(arena, code->width, old);

		equal = term_comparison(arena, LLVMIntEQ, before, expected);
		written = term_selection(arena, equal, wanted, before);
	}
	walk_set_term(walker, code->to, read);
	walk_set_term(walker, code->to + 1, equal);
	walk_access_write_updated(walker, code, address, value, written, read);
}

enum step walk_update(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const bool is_exchange = code->op == CODE_EXCHANGE;
	const uint64_t address = registers[code->a];
	uint64_t old, value;
	const enum step step = walk_access_read_old(walker, code, address, &old);

	if (step != STEP_NEXT)
		return step;
	old = compute_mask(old, code->width);
	value = !is_exchange ? compute_update(code->sub, code->width, old, registers[code->b])
		: old == registers[code->b] ? registers[code->c]
					    : old;
	walk_access_write_new(walker, code, address, value);
	if (walker->mode & WALK_EVENTS) {
		if (is_exchange)
			walk_access_exchange_terms(walker, code, address, old, value);
		else
			walk_access_update_terms(walker, code, address, old, value);
		walk_access_forget_old(walker, code);
	}
	if (is_exchange)
		registers[code->to + 1] = old == registers[code->b];
	registers[code->to] = old;
	return STEP_NEXT;
}
