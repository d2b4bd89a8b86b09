#include "rewalk/walk_library.h"

#include <string.h>

/* ---- what is read ---- */

static void put(
	struct library_bytes *out, uint64_t address, uint64_t word, uint64_t value, uint64_t most)
{
	for (uint32_t i = 0; i < 8; i++)
		if (word + i >= address && word + i < address + most)
			out->bytes[out->count++] = (uint8_t)(value >> 8 * i);
}

static bool has_zero(uint64_t value, uint64_t byte)
{
	for (; byte < 8; byte++)
		if (!(uint8_t)(value >> 8 * byte))
			return true;
	return false;
}

/* As the recorder does: record_told(). */
static enum step read_told(struct walker *walker, uint64_t length, const struct library_read *read,
	struct library_bytes *out)
{
	const uint64_t address = out->address;
	const uint64_t most = length < SITE_TOLD_MOST ? length : SITE_TOLD_MOST;
	bool has_ended = false;

	walk_settle(walker);
	for (uint64_t word = address & ~UINT64_C(7); word < address + most; word += 8) {
		uint64_t value;
		enum step step;

		if (has_ended && (word >= address + SITE_TOLD_LEAST || !(word & 4095)))
			break;
		if (read->is_near && word > address && !(word & 4095))
			break;
		step = walk_read(walker, SITE_NONE, word, 8, &value);
		if (step != STEP_NEXT)
			return step;
		put(out, address, word, value, most);
		if (!has_ended)
			out->extent = out->count;
		has_ended |= read->is_string && has_zero(value, word < address ? address & 7 : 0);
	}
	return STEP_NEXT;
}

static void read_own(struct walker *walker, const struct code *call,
	const struct library_operand *operand, uint64_t length, bool is_string,
	struct library_bytes *out)
{
	struct code access = *call;

	access.constant = operand->constant;
	out->is_exact = true;
	while (operand->is_known && out->count < length && out->count < SITE_TOLD_MOST) {
		const uint8_t *byte = walk_own_memory(
			walker, &access, operand->place, out->address + out->count, 1);

		if (!byte)
			break;
		out->bytes[out->count++] = *byte;
		if (is_string && !*byte)
			break;
	}
	out->extent = out->count;
}

/* A string that has an end goes no further than the other; of two that may be others each may be longer. */
static uint32_t count_of(const struct library_read *read, const struct library_walk *walk)
{
	const struct library_bytes *a = &walk->arguments[0], *b = &walk->arguments[1];
	uint32_t count = a->extent;

	if (read->count == 1)
		return count;
	if (a->is_exact || b->is_exact)
		return a->count < b->count ? a->count : b->count;
	if (b->extent > count)
		count = b->extent;
	if (a->count < count)
		count = a->count;
	return b->count < count ? b->count : count;
}

/* ---- accesses ---- */

/* The next bytes of an argument that lie in one word. */
static uint32_t piece_of(const struct library_bytes *of, uint32_t done, uint32_t count)
{
	const uint32_t left = 8 - (uint32_t)((of->address + done) & 7);

	return count - done < left ? count - done : left;
}

static void note_argument(struct walker *walker, const struct library_operand *operand,
	const struct library_bytes *of, uint32_t count)
{
	uint32_t bytes;

	for (uint32_t done = 0; done < count; done += bytes) {
		bytes = piece_of(of, done, count);
		walk_note_access(walker, operand->site, of->address + done, bytes, false);
	}
}

static uint64_t value_of(const struct library_bytes *of, uint32_t done, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, of->bytes + done, bytes);
	return value;
}

/* Shared memory is read word by word, the thread's own byte by byte: each may have its term. */
static void read_terms(struct walker *walker, const struct code *call, uint32_t number,
	struct library_bytes *of, uint32_t count)
{
	const struct library_operand *operand = &call->reads->operands[number];
	struct code access = *call;
	uint32_t bytes;

	access.place = operand->place;
	access.site = operand->site;
	memset(of->whens, 0, count * sizeof *of->whens);
	for (uint32_t done = 0; done < count; done += bytes) {
		const uint64_t address = of->address + done;
		struct term *term;

		bytes = piece_of(of, done, count);
		if (operand->place == PLACE_CONSTANT ||
			!(operand->place == PLACE_SITE && walker->is_live &&
				walk_is_shared(walker->walk, address, bytes)))
			bytes = 1;
		walker->left_open = call->reads->kind < LIBRARY_COPY ? &of->whens[done] : NULL;
		term = operand->place == PLACE_CONSTANT ? NULL
							: walk_read_term(walker, &access, address,
								  bytes, value_of(of, done, bytes));
		walker->left_open = NULL;
		if (term && bytes > 1)
			walker->out->events[walker->out->count - 1].argument = (uint8_t)number;
		for (uint32_t i = 0; i < bytes; i++)
			of->terms[done + i] =
				!term ? term_constant(&walker->walk->terms, 8, of->bytes[done + i])
				: bytes > 1 ? walk_byte_of(walker, term, i)
					    : term;
	}
}

static void join_events(struct walker *walker, uint64_t first)
{
	bool has_begun = false;

	for (uint64_t i = first; i < walker->out->count; i++) {
		struct walk_event *event = &walker->out->events[i];

		if (event->kind != EVENT_READ && event->kind != EVENT_WRITE)
			continue;
		event->is_atomic = has_begun;
		has_begun = true;
	}
}

static bool is_pointer(const struct library_read *read, uint32_t argument)
{
	return argument < (uint32_t)(read->first + read->count);
}

/* The others' limit is as it was. */
static bool is_limit_open(const struct library_read *read)
{
	return read->kind != LIBRARY_LENGTH && read->kind < LIBRARY_COPY;
}

/* All of it is one access, behind the points of both arguments. */
static void read_all(struct walker *walker, const struct code *call, const uint64_t *registers,
	struct library_walk *of)
{
	const struct library_read *read = call->reads;
	const uint64_t first = walker->out->count;

	of->first = first;
	of->limit_term = NULL;
	for (uint32_t i = 0; i < call->count; i++) {
		struct term *term = walk_operand_term(walker, call->operands[i]);

		if (read->limit == (int8_t)i && is_limit_open(read) && term &&
			term->op != TERM_CONSTANT && !term->is_pinned) {
			of->limit_term = term;
			continue;
		}
		if (walk_pin(walker, is_pointer(read, i) ? EVENT_ADDRESS : EVENT_VALUE, term,
			    call) &&
			!is_pointer(read, i))
			walk_note_unknown(walker, call, true);
	}
	(void)registers;
	for (uint32_t i = 0; i < read->count; i++)
		if (read->operands[i].place == PLACE_SITE && walker->is_live)
			walk_count_step(walker, read->operands[i].site);
	if (read->kind >= LIBRARY_COPY && walker->is_live)
		walk_count_step(walker, read->site_to);
	for (uint32_t i = 0; i < read->count; i++)
		read_terms(walker, call, i, &of->arguments[i], of->arguments[i].looked);
	join_events(walker, first);
}

enum step walk_library_read(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *out)
{
	const struct library_read *read = call->reads;

	out->is_unknown = false;
	out->limit = read->limit < 0 ? UINT64_MAX : registers[call->operands[read->limit]];
	for (uint32_t i = 0; i < read->count; i++) {
		const struct library_operand *operand = &read->operands[i];
		struct library_bytes *of = &out->arguments[i];
		enum step step;

		of->address = registers[call->operands[read->first + i]];
		of->count = of->extent = 0;
		of->is_exact = false;
		if (operand->site == SITE_NONE) {
			read_own(walker, call, operand, out->limit, read->is_string, of);
			continue;
		}
		step = read_told(walker, out->limit, read, of);
		if (step != STEP_NEXT)
			return step;
	}
	out->count = out->arguments[0].looked = out->arguments[1].looked = count_of(read, out);
	out->is_unknown = read->kind >= LIBRARY_COPY && !walk_string_measure(call, registers, out);
	if (!read->is_used || out->is_unknown)
		return STEP_NEXT;
	for (uint32_t i = 0; i < read->count; i++)
		if (walker->is_live && walker->mode & WALK_NOTING &&
			read->operands[i].place == PLACE_SITE)
			note_argument(walker, &read->operands[i], &out->arguments[i],
				out->arguments[i].looked);
	if (walker->is_live && walker->mode & WALK_NOTING && read->kind >= LIBRARY_COPY)
		walk_note_access(walker, read->site_to, out->to, out->written, true);
	if (walker->mode & WALK_EVENTS)
		read_all(walker, call, registers, out);
	return STEP_NEXT;
}

/* ---- the result ---- */

static bool is_constant(const struct term *term, uint64_t value)
{
	return term->op == TERM_CONSTANT && term->value == value;
}

struct term *library_compare(
	const struct builder *builder, uint8_t predicate, struct term *a, struct term *b)
{
	struct term like = {.op = CODE_COMPARE, .sub = predicate, .width = 1, .a = a, .b = b};

	like.value = predicate == LLVMIntEQ ? a->value == b->value : a->value < b->value;
	if (a->op == TERM_CONSTANT && b->op == TERM_CONSTANT)
		return term_constant(builder->arena, 1, like.value);
	return term_make(builder->arena, &like);
}

struct term *library_choose(
	const struct builder *builder, struct term *condition, struct term *yes, struct term *no)
{
	const struct term like = {.op = CODE_SELECT,
		.width = yes->width,
		.value = condition->value ? yes->value : no->value,
		.a = condition,
		.b = yes,
		.c = no};

	if (condition->op == TERM_CONSTANT)
		return condition->value ? yes : no;
	if (yes->op == TERM_CONSTANT && is_constant(no, yes->value))
		return yes;
	return term_make(builder->arena, &like);
}

struct term *library_number(const struct builder *builder, uint64_t value)
{
	return term_constant(builder->arena, builder->width, compute_mask(value, builder->width));
}

/* The result, and whether it is known from the bytes that were looked at. */
struct answer {
	struct term *value, *is_known;
};

/* What is looked for, which is as it was. */
static struct term *sought(
	const struct builder *builder, const struct code *call, const uint64_t *registers)
{
	return term_constant(builder->arena, 8, (uint8_t)registers[call->operands[1]]);
}

/* Of each byte: where what is sought was last, up to there. They take the place of a second argument. */
static void note_last(const struct builder *builder, const struct code *call,
	const uint64_t *registers, struct library_walk *of)
{
	struct term *last = library_number(builder, 0);

	for (uint32_t i = 0; i < of->count; i++) {
		struct term *is_here = library_compare(builder, LLVMIntEQ,
			of->arguments[0].terms[i], sought(builder, call, registers));

		last = library_choose(builder, is_here,
			library_number(builder, of->arguments[0].address + i), last);
		of->arguments[1].terms[i] = last;
	}
}

/* Functions of one argument. */
static void look_at_byte(const struct builder *builder, const struct code *call,
	const uint64_t *registers, struct library_walk *of, uint32_t i, struct answer *answer)
{
	const struct library_read *read = call->reads;
	struct term *a = of->arguments[0].terms[i], *found = library_number(builder, i);
	struct term *zero = term_constant(builder->arena, 8, 0);
	struct term *always = term_constant(builder->arena, 1, 1), *stop;

	if (read->kind == LIBRARY_FIND)
		found = library_number(builder, 0);
	if (read->kind == LIBRARY_FIND_LAST)
		found = of->arguments[1].terms[i];
	if (read->is_string) {
		stop = library_compare(builder, LLVMIntEQ, a, zero);
		answer->value = library_choose(builder, stop, found, answer->value);
		answer->is_known = library_choose(builder, stop, always, answer->is_known);
	}
	if (read->kind != LIBRARY_FIND)
		return;
	stop = library_compare(builder, LLVMIntEQ, a, sought(builder, call, registers));
	answer->value = library_choose(builder, stop,
		library_number(builder, of->arguments[0].address + i), answer->value);
	answer->is_known = library_choose(builder, stop, always, answer->is_known);
}

/* A small letter for a capital one. */
static struct term *fold(const struct builder *builder, struct term *byte)
{
	const struct term from_a = {.op = CODE_BINARY,
		.sub = LLVMSub,
		.width = 8,
		.value = (uint8_t)(byte->value - 'A'),
		.a = byte,
		.b = term_constant(builder->arena, 8, 'A')};
	const struct term small = {.op = CODE_BINARY,
		.sub = LLVMAdd,
		.width = 8,
		.value = (uint8_t)(byte->value + ('a' - 'A')),
		.a = byte,
		.b = term_constant(builder->arena, 8, 'a' - 'A')};

	if (byte->op == TERM_CONSTANT)
		return term_constant(
			builder->arena, 8, from_a.value < 26 ? small.value : byte->value);
	return library_choose(builder,
		library_compare(builder, LLVMIntULT, term_make(builder->arena, &from_a),
			term_constant(builder->arena, 8, 26)),
		term_make(builder->arena, &small), byte);
}

/* What comes of it at this byte, if it is not decided before. */
static void add_byte_within(const struct builder *builder, const struct code *call,
	const uint64_t *registers, struct library_walk *of, uint32_t i, struct answer *answer)
{
	const struct library_read *read = call->reads;
	const int64_t told = compute_signed(registers[call->to], builder->width);
	struct term *a = of->arguments[0].terms[i], *b = of->arguments[1].terms[i];
	struct term *true_term = term_constant(builder->arena, 1, 1);
	struct term *zero = term_constant(builder->arena, 8, 0), *stop, *end;

	if (read->folds) {
		a = fold(builder, a);
		b = fold(builder, b);
	}
	/* The sign is what programs may look at (of bcmp() not even that); the number is this library's. */
	stop = library_number(builder, told ? (uint64_t)told : 1);
	if (read->kind == LIBRARY_COMPARE)
		stop = library_choose(builder, library_compare(builder, LLVMIntULT, a, b),
			library_number(builder, told < 0 ? (uint64_t)told : UINT64_MAX),
			library_number(builder, told > 0 ? (uint64_t)told : 1));
	if (read->is_string) {
		/* Where they are the same either will do. */
		end = library_compare(builder, LLVMIntEQ, b->op == TERM_CONSTANT ? b : a, zero);
		answer->value =
			library_choose(builder, end, library_number(builder, 0), answer->value);
		answer->is_known = library_choose(builder, end, true_term, answer->is_known);
	}
	end = library_compare(builder, LLVMIntEQ, a, b);
	answer->value = library_choose(builder, end, answer->value, stop);
	answer->is_known = library_choose(builder, end, answer->is_known, true_term);
}

/* Is the byte, or what is behind those that are known, within the limit? */
static struct term *is_within(
	const struct builder *builder, const struct library_walk *of, uint32_t i)
{
	struct term *limit = of->limit_term;

	return library_compare(
		builder, LLVMIntULT, term_constant(builder->arena, limit->width, i), limit);
}

static void add_byte(const struct builder *builder, const struct code *call,
	const uint64_t *registers, struct library_walk *of, uint32_t i, struct answer *answer)
{
	struct term *within;

	if (call->reads->count == 1)
		look_at_byte(builder, call, registers, of, i, answer);
	else
		add_byte_within(builder, call, registers, of, i, answer);
	for (uint32_t j = 0; j < call->reads->count; j++)
		if (of->arguments[j].whens[i])
			answer->is_known = library_choose(builder, of->arguments[j].whens[i],
				answer->is_known, term_constant(builder->arena, 1, 0));
	if (!of->limit_term)
		return;
	within = is_within(builder, of, i);
	answer->value = library_choose(builder, within, answer->value, library_number(builder, 0));
	answer->is_known = library_choose(
		builder, within, answer->is_known, term_constant(builder->arena, 1, 1));
}

static bool has_term(const struct library_walk *of, uint32_t arguments)
{
	for (uint32_t i = 0; i < arguments; i++)
		for (uint32_t j = 0; j < of->count; j++)
			if (of->arguments[i].terms[j]->op != TERM_CONSTANT ||
				of->arguments[i].whens[j])
				return true;
	return false;
}

/* It cannot be computed: what was read must be what it was. */
static void give_up(struct walker *walker, const struct code *call, const struct library_walk *of)
{
	for (uint32_t i = 0; i < call->reads->count; i++)
		for (uint32_t j = 0; j < of->count; j++) {
			(void)walk_pin(walker, EVENT_VALUE, of->arguments[i].terms[j], call);
			(void)walk_pin(walker, EVENT_VALUE, of->arguments[i].whens[j], call);
		}
	(void)walk_pin(walker, EVENT_VALUE, of->limit_term, call);
	walk_note_unknown(walker, call, true);
}

void walk_library_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	struct library_walk *of)
{
	const struct library_read *read = call->reads;
	const struct builder builder = {walker, &walker->walk->terms, call->width};
	struct answer answer;

	if (read->kind >= LIBRARY_COPY) {
		if (!of->is_unknown) {
			walk_string_write(walker, call, of);
			join_events(walker, of->first);
		}
		return;
	}
	if (!read->is_used || !(of->limit_term || has_term(of, read->count)))
		return;
	answer.value = library_number(&builder, read->kind == LIBRARY_LENGTH ? of->limit : 0);
	answer.is_known = term_constant(builder.arena, 1, of->count == of->limit);
	if (of->limit_term)
		answer.is_known = library_compare(&builder, LLVMIntEQ,
			library_choose(&builder, is_within(&builder, of, of->count),
				term_constant(builder.arena, 1, 1),
				term_constant(builder.arena, 1, 0)),
			term_constant(builder.arena, 1, 0));
	if (read->kind == LIBRARY_FIND_LAST)
		note_last(&builder, call, registers, of);
	for (uint32_t i = of->count; i-- > 0;)
		add_byte(&builder, call, registers, of, i, &answer);
	if (!answer.is_known->value || answer.value->value != registers[call->to]) {
		give_up(walker, call, of);
		return;
	}
	(void)walk_pin(walker, EVENT_VALUE, answer.is_known, call); /* NULL: it always is */
	walk_set_term(walker, call->to, answer.value->op == TERM_CONSTANT ? NULL : answer.value);
}
