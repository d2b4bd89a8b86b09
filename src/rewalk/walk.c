/* The walk itself: one thread's instructions, one after the other. */
#include "rewalk/walk.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bitset.h"
#include "base/bug.h"
#include "rewalk/walk_internal.h"
#include "runtime/instrument_abi.h"

/* ---- what only computes ---- */

static inline uint64_t address_of(
	const struct walker *walker, const struct code *code, const uint64_t *registers)
{
	uint64_t address = walk_get(walker, registers, code->a) + (uint64_t)code->immediate;

	for (uint32_t i = 0; i < code->count; i++) {
		const struct address_term *term = &code->terms[i];

		address += (uint64_t)compute_signed(
				   walk_get(walker, registers, term->operand), term->width) *
			   (uint64_t)term->scale;
	}
	return address;
}

static inline uint64_t compute(
	const struct walker *walker, const struct code *code, uint64_t *registers)
{
	const uint64_t a = walk_get(walker, registers, code->a);

	switch (code->op) {
	case CODE_BINARY:
		return compute_binary(
			code->sub, code->width, a, walk_get(walker, registers, code->b));
	case CODE_COMPARE:
		return compute_compare(
			code->sub, code->width, a, walk_get(walker, registers, code->b));
	case CODE_ADDRESS:
		return address_of(walker, code, registers);
	case CODE_MOVE:
	case CODE_ZERO_EXTEND:
		return a;
	case CODE_SIGN_EXTEND:
		return compute_mask((uint64_t)compute_signed(a, code->sub), code->width);
	case CODE_TRUNCATE:
		return compute_mask(a, code->width);
	case CODE_FLOAT:
		return compute_float(
			code->sub, code->width, a, walk_get(walker, registers, code->b));
	case CODE_FLOAT_COMPARE:
		return compute_float_compare(
			code->sub, code->width, a, walk_get(walker, registers, code->b));
	case CODE_FLOAT_NEGATE:
		return a ^ UINT64_C(1) << (code->width - 1);
	case CODE_INTRINSIC: {
		const bool tells = code->sub >= INTRINSIC_UNSIGNED_ADD_OVERFLOW &&
				   code->sub <= INTRINSIC_SIGNED_MUL_OVERFLOW;
		uint64_t second = 0;
		const uint64_t value =
			compute_intrinsic(code, a, walk_get(walker, registers, code->b),
				walk_get(walker, registers, code->c), &second);

		if (tells)
			registers[code->to + 1] = second;
		return value;
	}
	default:
		return compute_conversion(code, a);
	}
}

static bool is_division(const struct code *code)
{
	return code->op == CODE_BINARY && code->sub >= LLVMUDiv && code->sub <= LLVMSRem &&
	       code->sub != LLVMFDiv;
}

static void note_division(struct walker *walker, const struct code *code)
{
	walk_pin(walker, EVENT_DIVISOR, walk_operand_term(walker, code->b), code);
}

/* ---- control flow ---- */

static enum step go(struct walker *walker, const struct code *code, uint64_t *registers)
{
	uint32_t edge = 0;

	walker->instructions += code->instructions;
	if (code->op == CODE_BRANCH) {
		edge = walk_get(walker, registers, code->a) ? 0 : 1;
	} else if (code->op == CODE_SWITCH) {
		const uint64_t value = walk_get(walker, registers, code->a);

		for (uint32_t i = 1; i < code->count && !edge; i++)
			if (code->edges[i].value == value)
				edge = i;
	}
	if (walker->mode & (WALK_EVENTS | WALK_COUNTING | WALK_PATHS) && code->op != CODE_GO)
		walk_note_branch(walker, code, walk_get(walker, registers, code->a), edge);
	if (code->edges[edge].count) {
		walk_take_edge(walker, &code->edges[edge]);
		return STEP_MOVED;
	}
	{
		struct frame *frame = &walker->frames[walker->frame_count - 1];

		frame->at = frame->function->codes + code->edges[edge].target;
	}
	return STEP_MOVED;
}

/* Behind a call, in the frame that made it. */
static void go_on_behind(struct walker *walker, const struct code *call)
{
	if (call->normal) {
		walker->instructions += call->instructions;
		walk_take_edge(walker, call->normal);
		return;
	}
	walker->frames[walker->frame_count - 1].at = call + 1;
}

static enum step finish(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const struct frame left = walker->frames[walker->frame_count - 1];
	const struct code *call;

	walker->instructions += code->instructions;
	walker->frame_count--;
	walker->register_count = left.registers;
	walker->local_bytes = left.locals;
	if (left.is_from_outside || !walker->frame_count)
		return STEP_MOVED;
	call = walker->frames[walker->frame_count - 1].at;
	for (uint32_t i = 0; i < code->count && call->to >= 0; i++) {
		const int32_t from = decode_lane(code->a, i);
		uint64_t *target = walk_registers(walker) + call->to + i;

		*target = from >= 0 ? registers[from] : left.function->constants[~from];
		if (walker->mode & WALK_EVENTS)
			walk_terms(walker)[call->to + (int32_t)i] =
				from >= 0 ? walker->terms[left.registers + (uint64_t)from] : NULL;
	}
	/* Calls of other units' functions tell their result, too: it is known. */
	if (call->site != SITE_NONE) {
		walker->frames[walker->frame_count - 1].at = call;
		walker->frames[walker->frame_count - 1].addresses = UINT8_MAX;
		return STEP_MOVED;
	}
	go_on_behind(walker, call);
	return STEP_MOVED;
}

static struct function *callee_of(struct walker *walker, const struct code *code, uint64_t target)
{
	if (code->sub)
		return NULL;
	return code_book_at(walker->book, target);
}

static enum step call_inside(
	struct walker *walker, const struct code *code, struct function *callee)
{
	const uint64_t before = walker->register_count;
	const uint64_t caller = walker->frames[walker->frame_count - 1].registers;
	const uint64_t *constants = walker->frames[walker->frame_count - 1].function->constants;

	if (!walk_push(walker, callee, false))
		return STEP_OVER;
	for (uint32_t i = 0; i < code->count && i < callee->parameter_registers; i++) {
		const int32_t from = code->operands[i];

		walker->registers[before + i] =
			from >= 0 ? walker->registers[caller + (uint64_t)from] : constants[~from];
		if (walker->mode & WALK_EVENTS)
			walker->terms[before + i] =
				from >= 0 ? walker->terms[caller + (uint64_t)from] : NULL;
	}
	return STEP_MOVED;
}

/* What code without bitcode is given has gone out of sight. */
static void pin_arguments(struct walker *walker, const struct code *code)
{
	if (!LLVMGetFirstUse(code->value))
		return;
	for (uint32_t i = 0; i < code->count; i++)
		walk_pin(walker, EVENT_VALUE, walk_operand_term(walker, code->operands[i]), code);
}

static enum step tell_results(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const struct image *image = walker->book->image;

	for (uint32_t site = code->site; site != SITE_NONE; site = image->sites[site].next) {
		const struct image_site *of = &image->sites[site];
		uint64_t value;
		enum step step;

		if (of->kind != SITE_RESULT && of->kind != SITE_RETURNS_TWICE)
			continue;
		step = walk_value(walker, site, of->bytes, &value);
		if (step != STEP_NEXT)
			return step;
		if (code->to >= 0 && of->bytes < (uint32_t)code->b)
			registers[code->to + of->bytes] =
				code->width ? compute_mask(value, code->width) : value;
	}
	return STEP_NEXT;
}

static enum step call(struct walker *walker, const struct code *code, uint64_t *registers)
{
	struct frame *frame = &walker->frames[walker->frame_count - 1];
	const bool has_returned = frame->addresses == UINT8_MAX;
	struct function *callee =
		has_returned ? NULL : callee_of(walker, code, walk_get(walker, registers, code->a));
	enum step step;

	if (walker->mode & WALK_EVENTS && !code->sub && !has_returned)
		walk_pin(walker, EVENT_ADDRESS, walk_operand_term(walker, code->a), code);
	if (callee)
		return call_inside(walker, code, callee);
	if (walker->mode & WALK_EVENTS && !has_returned)
		pin_arguments(walker, code);
	if (code->is_noreturn && !has_returned)
		return walk_wait_outside(walker);
	step = tell_results(walker, code, registers);
	if (step != STEP_NEXT)
		return step;
	frame->addresses = 0;
	if (walker->mode & WALK_EVENTS && !has_returned)
		for (int32_t i = 0; i < code->b; i++)
			walk_terms(walker)[code->to + i] = NULL;
	if (!code->normal)
		return STEP_NEXT;
	go_on_behind(walker, code);
	return STEP_MOVED;
}

/* ---- one code after the other ---- */

static void set_term(struct walker *walker, const struct code *code, uint64_t value)
{
	struct term **terms = walk_terms(walker);

	if (is_division(code))
		note_division(walker, code);
	terms[code->to] = walk_derive(walker, code, value);
	if (code->op == CODE_INTRINSIC && terms[code->to] &&
		code->sub >= INTRINSIC_UNSIGNED_ADD_OVERFLOW &&
		code->sub <= INTRINSIC_SIGNED_MUL_OVERFLOW) {
		walk_pin(walker, EVENT_VALUE, terms[code->to]->a, code);
		walk_pin(walker, EVENT_VALUE, terms[code->to]->b, code);
		terms[code->to] = terms[code->to + 1] = NULL;
	}
}

static void select_value(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const uint64_t condition = walk_get(walker, registers, code->a);

	if (walker->mode & (WALK_EVENTS | WALK_COUNTING | WALK_PATHS) && code->branch != UINT32_MAX)
		walk_note_choice(walker, code, condition);
	if (walker->mode & WALK_EVENTS) {
		struct term *term = walk_operand_term(walker, code->a);

		if (term && code->width) {
			struct term like = {.op = CODE_SELECT,
				.width = code->width,
				.a = term,
				.b = walk_term_of(walker, code->b, code->width),
				.c = walk_term_of(walker, code->c, code->width),
				.value =
					walk_get(walker, registers, condition ? code->b : code->c)};

			walk_terms(walker)[code->to] = term_make(&walker->walk->terms, &like);
		} else {
			walk_terms(walker)[code->to] =
				walk_operand_term(walker, condition ? code->b : code->c);
		}
	}
	registers[code->to] = walk_get(walker, registers, condition ? code->b : code->c);
}

static void pick(struct walker *walker, const struct code *code, uint64_t *registers)
{
	const bool is_pick = code->op == CODE_PICK;
	const uint64_t lane = walk_get(walker, registers, is_pick ? code->b : code->c);
	const int32_t from = is_pick ? decode_lane(code->a, (uint32_t)lane) : code->b;
	const int32_t to = is_pick ? code->to : code->to + (int32_t)lane;

	if (lane >= code->count)
		return;
	if (walker->mode & WALK_EVENTS) {
		walk_pin(walker, EVENT_VALUE,
			walk_operand_term(walker, is_pick ? code->b : code->c), code);
		walk_terms(walker)[to] = walk_operand_term(walker, from);
	}
	registers[to] = walk_get(walker, registers, from);
}

static enum step tell(struct walker *walker, const struct code *code, uint64_t *registers)
{
	uint64_t value;
	const enum step step = walk_value(walker, code->site, 0, &value);

	if (step == STEP_NEXT && code->to >= 0)
		registers[code->to] = value;
	return step;
}

/* Everything but what only computes. */
static enum step perform(struct walker *walker, const struct code *code, uint64_t *registers)
{
	switch (code->op) {
	case CODE_LOAD:
		return walk_load(walker, code, registers);
	case CODE_STORE:
		return walk_store(walker, code, registers);
	case CODE_GO:
	case CODE_BRANCH:
	case CODE_SWITCH:
		return go(walker, code, registers);
	case CODE_CALL:
		return call(walker, code, registers);
	case CODE_RETURN:
		return finish(walker, code, registers);
	case CODE_SELECT:
		select_value(walker, code, registers);
		return STEP_NEXT;
	case CODE_PICK:
	case CODE_PLACE:
		pick(walker, code, registers);
		return STEP_NEXT;
	case CODE_LOCAL:
		return walk_local(walker, code, registers);
	case CODE_UPDATE:
		return walk_update(walker, code, registers);
	case CODE_EXCHANGE:
		return walk_exchange(walker, code, registers);
	case CODE_COPY:
		return walk_copy(walker, code, registers);
	case CODE_FILL:
		return walk_fill(walker, code, registers);
	case CODE_VALUE:
		return tell(walker, code, registers);
	case CODE_REPORT:
		walk_note_fence(walker, code);
		return walk_pass_site(walker, code->site, UINT64_MAX);
	case CODE_NOTHING:
		return STEP_NEXT;
	case CODE_STOP:
	case CODE_LANDING:
		return walk_wait_outside(walker);
	default:
		return walk_end_at(walker, WALK_UNKNOWN, "%s", code->text);
	}
}

/* Where parameters that were copied are, told behind the function's entry. */
static enum step tell_addresses(struct walker *walker)
{
	struct frame *frame = &walker->frames[walker->frame_count - 1];
	const struct image *image = walker->book->image;
	const struct function *function = frame->function;
	uint32_t site = function->address_count
				? value_map_get(&image->first_site, function->codes->value)
				: SITE_NONE;
	uint32_t number = 0;

	for (; site != SITE_NONE; site = image->sites[site].next) {
		uint64_t value;
		enum step step;

		if (image->sites[site].kind != SITE_ADDRESS || !image->sites[site].bytes)
			continue;
		step = walk_value(walker, site, image->sites[site].bytes, &value);
		if (step != STEP_NEXT)
			return step;
		walk_registers(walker)[function->address_registers[number++]] = value;
	}
	return STEP_NEXT;
}

static void walk_frames(struct walker *walker)
{
	while (!walker->is_over && walker->frame_count) {
		struct frame *frame = &walker->frames[walker->frame_count - 1];
		uint64_t *registers = walker->registers + frame->registers;
		const struct code *code = frame->at;
		enum step step = STEP_NEXT;

		if (code == frame->function->codes && frame->function->address_count &&
			tell_addresses(walker) != STEP_NEXT)
			continue;
		for (;; code++) {
			if (code->op <= CODE_ADDRESS) {
				const uint64_t value = compute(walker, code, registers);

				if (walker->mode & WALK_EVENTS)
					set_term(walker, code, value);
				registers[code->to] = value;
				continue;
			}
			if (code->op == CODE_INTRINSIC) {
				const uint64_t value = compute(walker, code, registers);

				if (walker->mode & WALK_EVENTS)
					set_term(walker, code, value);
				registers[code->to] = value;
				continue;
			}
			frame->at = code;
			step = perform(walker, code, registers);
			if (step != STEP_NEXT)
				break;
		}
	}
}

/* ---- threads ---- */

static void *reserve(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	BUG_ON(memory == MAP_FAILED);
	return memory;
}

static void open_walker(struct walker *walker, struct walk *walk, uint16_t thread, unsigned mode)
{
	*walker = (struct walker){.walk = walk,
		.book = walk->book,
		.thread = thread,
		.mode = mode,
		.at = walk->record->threads[thread].bytes,
		.end = walk->record->threads[thread].bytes + walk->record->threads[thread].size,
		.is_checked = walk->record->is_checked,
		.is_live = thread != 0,
		.out = &walk->threads[thread],
		.summary = &walk->threads[thread].summary};
	walker->frames = reserve(FRAMES_MOST * sizeof *walker->frames);
	walker->registers = reserve(REGISTERS_MOST * sizeof *walker->registers);
	walker->terms = reserve(REGISTERS_MOST * sizeof(struct term *));
	walker->locals = reserve(LOCALS_MOST);
	walker->memory = reserve(RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK);
	walker->values = calloc(RECORD_VALUES, sizeof *walker->values);
	walker->seen = calloc(SEEN_SLOTS, sizeof *walker->seen);
	BUG_ON(!walker->values || !walker->seen);
	*walker->summary = (struct walk_summary){.end = WALK_COMPLETE};
}

static void close_walker(struct walker *walker)
{
	/* Cannot fail: they are our mappings. */
	(void)munmap(walker->frames, FRAMES_MOST * sizeof *walker->frames);
	(void)munmap(walker->registers, REGISTERS_MOST * sizeof *walker->registers);
	(void)munmap(walker->terms, REGISTERS_MOST * sizeof(struct term *));
	(void)munmap(walker->locals, LOCALS_MOST);
	(void)munmap(walker->memory, RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK);
	free(walker->values);
	free(walker->seen);
	free(walker->visits);
	free(walker->shadows);
}

static void walk_thread(struct walk *walk, uint16_t thread, unsigned mode)
{
	struct walker walker;

	open_walker(&walker, walk, thread, mode);
	walk_next_entry(&walker);
	while (!walker.is_over) {
		if (!walker.frame_count && walk_wait_outside(&walker) == STEP_OVER)
			break;
		walk_frames(&walker);
	}
	walker.summary->instructions = walker.instructions;
	walker.summary->steps = walker.steps;
	close_walker(&walker);
}

void walk_open(struct walk *walk, struct code_book *book, const struct run_record *record)
{
	*walk = (struct walk){.book = book, .record = record};
	walk->threads = calloc(record->thread_count + 1u, sizeof *walk->threads);
	walk->chosen = calloc(BITSET_WORDS(book->image->site_count) + 1, sizeof *walk->chosen);
	BUG_ON(!walk->threads || !walk->chosen);
}

void walk_close(struct walk *walk)
{
	for (uint32_t i = 0; walk->threads && i < walk->record->thread_count; i++)
		free(walk->threads[i].events);
	free(walk->threads);
	free(walk->chosen);
	free(walk->shared.words);
	free(walk->initials);
	term_arena_release(&walk->terms);
	*walk = (struct walk){0};
}

void walk_run(struct walk *walk, unsigned mode)
{
	for (uint32_t i = 0; i < walk->record->thread_count; i++)
		walk_thread(walk, (uint16_t)i, mode);
}
