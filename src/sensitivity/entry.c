/* The entry of libraddle-branches.so: walk, constrain, ask branch by branch. */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "rewalk/walk.h"
#include "sensitivity/constraints.h"
#include "sensitivity/loops.h"
#include "sensitivity/schedule.h"
#include "sensitivity/sensitivity.h"

static sensitivity_bug *report;

void bug_report(const char *condition, const char *file, int line)
{
	report(condition, file, line);
	abort();
}

/* A place of the program that is asked about. */
struct asked {
	LLVMValueRef instruction;
	uint8_t kind; /* enum event_kind */
	bool is_proven;
	uint32_t tries; /* solutions that did not reproduce */
	uint32_t queries;
};

struct sensitivity {
	struct sensitivity_options options;
	struct image image;
	struct code_book book;
	struct walk walk;
	struct order order;
	struct constraints constraints; /* of the chunk */
	struct order_window window;
	bool has_constraints;
	struct asked *places;
	uint32_t place_count, place_capacity;
	/* where sensitivity_next() goes on */
	uint16_t thread;
	uint64_t index;
	uint64_t begin_ns;
	uint64_t chunk;	     /* of the thread, or of the run */
	uint64_t global_end; /* global windows: events of the run up to the end of this one */
	uint32_t current;    /* place of the last candidate */
	struct event_id goal;
	struct solution solution;
	struct strbuf variables;
	char *function, *file, *directory;
	struct sensitivity_figures figures;
};

/* How many solutions of one place are tried in vain. */
#define TRIES_MOST 3

static uint64_t now_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail */
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* ---- opening ---- */

static void count(struct sensitivity *analysis)
{
	struct sensitivity_figures *figures = &analysis->figures;
	const struct walk *walk = &analysis->walk;

	figures->threads = walk->record->thread_count;
	for (uint32_t i = 0; i < figures->threads; i++) {
		const struct walked_thread *thread = &walk->threads[i];

		figures->instructions += thread->summary.instructions;
		figures->events += thread->count;
		for (uint64_t j = 0; j < thread->count; j++) {
			const uint8_t kind = thread->events[j].kind;

			figures->critical_events += kind <= EVENT_OP;
			figures->branches += kind == EVENT_BRANCH || kind == EVENT_CHOICE;
		}
		if (thread->summary.end != WALK_UNKNOWN && thread->summary.end != WALK_LOST)
			continue;
		if (!figures->unfinished_threads++)
			(void)snprintf(figures->unfinished, sizeof figures->unfinished, "%s",
				thread->summary.reason);
	}
	for (uint64_t i = 0; i < walk->shared.capacity; i++)
		figures->shared_words +=
			walk->shared.words[i].is_many && walk->shared.words[i].is_written;
}

/* What was observed must be possible. */
static void check_model(struct sensitivity *analysis)
{
	struct constraints *constraints = &analysis->constraints;
	const struct walk *walk = &analysis->walk;

	Z3_solver_push(constraints->z3, constraints->solver);
	for (uint32_t i = 0; i < walk->record->thread_count; i++)
		if (walk->threads[i].count)
			Z3_solver_assert(constraints->z3, constraints->solver,
				constraints_happens(constraints,
					(struct event_id){(uint16_t)i,
						(uint32_t)walk->threads[i].count - 1}));
	analysis->figures.is_model_wrong |=
		Z3_solver_check(constraints->z3, constraints->solver) == Z3_L_FALSE;
	Z3_solver_pop(constraints->z3, constraints->solver, 1);
}

static void set_time_limit(struct sensitivity *analysis)
{
	struct constraints *constraints = &analysis->constraints;
	Z3_params parameters = Z3_mk_params(constraints->z3);

	Z3_params_inc_ref(constraints->z3, parameters);
	Z3_params_set_uint(constraints->z3, parameters,
		Z3_mk_string_symbol(constraints->z3, "timeout"),
		(unsigned)(analysis->options.query_ns / 1000000));
	Z3_solver_set_params(constraints->z3, constraints->solver, parameters);
	Z3_params_dec_ref(constraints->z3, parameters);
}

static int sensitivity_begin(struct sensitivity **out, const struct run_record *record,
	const char *program, const struct sensitivity_options *options, struct error *err)
{
	struct sensitivity *analysis = calloc(1, sizeof *analysis);
	uint64_t begin = now_ns();
	int status;

	BUG_ON(!analysis);
	analysis->options = *options;
	analysis->begin_ns = begin;
	strbuf_init(&analysis->variables);
	status = image_open(&analysis->image, record, program, err);
	if (status < 0) {
		free(analysis);
		return status;
	}
	code_book_open(&analysis->book, &analysis->image);
	walk_open(&analysis->walk, &analysis->book, record);
	walk_run(&analysis->walk, WALK_SHARING);
	walk_run(&analysis->walk, WALK_CHOOSING);
	walk_run(&analysis->walk, WALK_EVENTS);
	count(analysis);
	analysis->figures.walk_ns = now_ns() - begin;
	begin = now_ns();
	order_build(&analysis->order, &analysis->walk);
	analysis->window.begin = calloc(record->thread_count + 1u, sizeof *analysis->window.begin);
	analysis->window.end = calloc(record->thread_count + 1u, sizeof *analysis->window.end);
	BUG_ON(!analysis->window.begin || !analysis->window.end);
	analysis->figures.solve_ns = now_ns() - begin;
	*out = analysis;
	return 0;
}

static void sensitivity_end(struct sensitivity *analysis)
{
	if (analysis->has_constraints)
		constraints_close(&analysis->constraints);
	order_release(&analysis->order);
	free(analysis->window.begin);
	free(analysis->window.end);
	walk_close(&analysis->walk);
	code_book_close(&analysis->book);
	image_close(&analysis->image);
	solution_release(&analysis->solution);
	strbuf_release(&analysis->variables);
	free(analysis->function);
	free(analysis->file);
	free(analysis->directory);
	free(analysis->places);
	free(analysis);
}

/* ---- places ---- */

static bool is_condition(uint8_t kind)
{
	return kind == EVENT_BRANCH || kind == EVENT_CHOICE;
}

/* Optimisers copy branches, and inline functions: what stands at one place in the source is one. */
static bool is_one_place(LLVMValueRef a, LLVMValueRef b)
{
	const unsigned line = LLVMGetDebugLocLine(a);
	unsigned length_a = 0, length_b = 0;
	const char *file_a, *file_b;

	if (a == b)
		return true;
	if (!line || line != LLVMGetDebugLocLine(b))
		return false;
	file_a = LLVMGetDebugLocFilename(a, &length_a);
	file_b = LLVMGetDebugLocFilename(b, &length_b);
	return length_a == length_b && file_a && memcmp(file_a, file_b, length_a) == 0;
}

static uint32_t place_of(struct sensitivity *analysis, const struct walk_event *event)
{
	for (uint32_t i = 0; i < analysis->place_count; i++)
		if (is_one_place(analysis->places[i].instruction, event->instruction) &&
			(analysis->places[i].kind == event->kind ||
				(is_condition(analysis->places[i].kind) &&
					is_condition(event->kind))))
			return i;
	if (analysis->place_count == analysis->place_capacity) {
		analysis->place_capacity =
			analysis->place_capacity ? 2 * analysis->place_capacity : 64;
		analysis->places = realloc(
			analysis->places, analysis->place_capacity * sizeof *analysis->places);
		BUG_ON(!analysis->places);
	}
	analysis->places[analysis->place_count] =
		(struct asked){.instruction = event->instruction, .kind = event->kind};
	return analysis->place_count++;
}

static bool ends_the_program(LLVMBasicBlockRef block)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName("noreturn", 8);

	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		LLVMValueRef callee;

		if (!LLVMIsACallInst(i))
			continue;
		callee = LLVMGetCalledValue(i);
		if (LLVMGetCallSiteEnumAttribute(i, LLVMAttributeFunctionIndex, kind) ||
			(LLVMIsAFunction(callee) && LLVMGetEnumAttributeAtIndex(callee,
							    LLVMAttributeFunctionIndex, kind)))
			return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(block)) != NULL;
	}
	return false;
}

static enum sensitive_kind kind_of(const struct walk_event *event)
{
	switch (event->kind) {
	case EVENT_ADDRESS:
		return SENSITIVE_NULL;
	case EVENT_DIVISOR:
		return SENSITIVE_DIVISOR;
	case EVENT_CHOICE:
		return SENSITIVE_CHOICE;
	default:
		if (LLVMIsASwitchInst(event->instruction))
			return SENSITIVE_SWITCH;
		return ends_the_program(
			       LLVMGetSuccessor(event->instruction, event->case_value ? 0 : 1))
			       ? SENSITIVE_ASSERTION
			       : SENSITIVE_BRANCH;
	}
}

static char *text_of(const char *text, unsigned length)
{
	char *copy = strndup(text ? text : "", text ? length : 0);

	BUG_ON(!copy);
	return copy;
}

static void describe_place(
	struct sensitivity *analysis, LLVMValueRef instruction, struct sensitive_place *place)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
	unsigned length = 0;
	size_t name_length;
	const char *text = LLVMGetDebugLocFilename(instruction, &length);

	free(analysis->file);
	free(analysis->function);
	free(analysis->directory);
	analysis->file = text_of(text, length);
	text = LLVMGetDebugLocDirectory(instruction, &length);
	analysis->directory = text_of(text, length);
	text = LLVMGetValueName2(function, &name_length);
	analysis->function = text_of(text, (unsigned)name_length);
	*place = (struct sensitive_place){.function = analysis->function,
		.file = analysis->file,
		.directory = analysis->directory,
		.line = LLVMGetDebugLocLine(instruction),
		.column = LLVMGetDebugLocColumn(instruction)};
}

/* ---- variables of a condition ---- */

static const struct walk_event *read_of(const struct sensitivity *analysis, uint32_t variable)
{
	const struct walk *walk = &analysis->walk;

	for (uint32_t thread = 0; thread < walk->record->thread_count; thread++)
		for (uint64_t i = 0; i < walk->threads[thread].count; i++) {
			const struct walk_event *event = &walk->threads[thread].events[i];

			if (event->kind == EVENT_READ && event->term->number == variable)
				return event;
		}
	return NULL;
}

static LLVMValueRef object_of(LLVMValueRef pointer)
{
	while (LLVMIsAGetElementPtrInst(pointer) ||
		(LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr))
		pointer = LLVMGetOperand(pointer, 0);
	return pointer;
}

static void name_variable(
	struct strbuf *out, const struct sensitivity *analysis, const struct walk_event *read)
{
	const struct site *site = read->site < analysis->image.site_count
					  ? analysis->image.sites[read->site].source
					  : NULL;
	LLVMValueRef object = object_of(LLVMGetOperand(read->instruction, 0));
	size_t length = 0;
	const char *name = LLVMIsAGlobalVariable(object) ? LLVMGetValueName2(object, &length) : "";
	struct strbuf text;

	strbuf_init(&text);
	if (site && site->type && site->field)
		strbuf_addf(&text, "%s.%s", length ? name : site->type, site->field);
	else
		strbuf_addf(&text, "%s", length ? name : "memory");
	if (!strstr(out->text, text.text))
		strbuf_addf(out, "%s%s", out->length ? ", " : "", text.text);
	strbuf_release(&text);
}

static void add_variables(struct sensitivity *analysis, const struct term *term, uint32_t depth)
{
	const struct walk_event *read;

	if (!term || depth > 64)
		return;
	if (term->op == TERM_VARIABLE) {
		read = read_of(analysis, term->number);
		if (read)
			name_variable(&analysis->variables, analysis, read);
		return;
	}
	add_variables(analysis, term->a, depth + 1);
	add_variables(analysis, term->b, depth + 1);
	add_variables(analysis, term->c, depth + 1);
}

/* ---- the search ---- */

static bool is_wanted(const struct sensitivity *analysis, const struct walk_event *event)
{
	switch (event->kind) {
	case EVENT_BRANCH:
		return !analysis->options.only_failures || kind_of(event) == SENSITIVE_ASSERTION;
	case EVENT_CHOICE:
		return !analysis->options.only_failures;
	case EVENT_ADDRESS:
	case EVENT_DIVISOR:
		return true;
	default:
		return false;
	}
}

static bool is_open(const struct asked *place)
{
	return !place->is_proven && place->tries < TRIES_MOST;
}

/* Is there a schedule in which the event has another outcome? Then it is in `solution`. */
static bool ask(struct sensitivity *analysis, struct event_id goal)
{
	struct constraints *constraints = &analysis->constraints;
	const struct walk_event *event = &analysis->walk.threads[goal.thread].events[goal.index];
	Z3_ast otherwise = constraints_otherwise(constraints, event);
	Z3_lbool answer;

	if (!otherwise)
		return false;
	Z3_solver_push(constraints->z3, constraints->solver);
	Z3_solver_assert(constraints->z3, constraints->solver, otherwise);
	Z3_solver_assert(constraints->z3, constraints->solver,
		Z3_mk_eq(constraints->z3, constraints->cuts[goal.thread],
			Z3_mk_int(constraints->z3, (int)goal.index, constraints->integer)));
	answer = Z3_solver_check(constraints->z3, constraints->solver);
	analysis->figures.queries++;
	analysis->figures.timeouts += answer == Z3_L_UNDEF;
	if (answer == Z3_L_TRUE) {
		Z3_model model = Z3_solver_get_model(constraints->z3, constraints->solver);

		Z3_model_inc_ref(constraints->z3, model);
		solution_release(&analysis->solution);
		solution_take(&analysis->solution, constraints, model, goal);
		Z3_model_dec_ref(constraints->z3, model);
	}
	Z3_solver_pop(constraints->z3, constraints->solver, 1);
	return answer == Z3_L_TRUE;
}

static void describe(struct sensitivity *analysis, const struct walk_event *event,
	struct sensitive_candidate *out)
{
	*out = (struct sensitive_candidate){.number = analysis->current,
		.kind = kind_of(event),
		.thread = analysis->goal.thread,
		.occurrence = event->occurrence,
		.was_taken = event->is_taken,
		.is_waiting = event->kind == EVENT_BRANCH && loop_is_waiting(event->instruction),
		.segments = analysis->solution.segments,
		.segment_count = analysis->solution.count,
		.chosen = analysis->walk.chosen};
	describe_place(analysis, event->instruction, &out->place);
	strbuf_clear(&analysis->variables);
	add_variables(analysis, event->term, 0);
	out->variables = analysis->variables.text;
}

static bool is_late(const struct sensitivity *analysis)
{
	return analysis->options.time_ns &&
	       now_ns() - analysis->begin_ns > analysis->options.time_ns;
}

static bool look_at(struct sensitivity *analysis, struct sensitive_candidate *out)
{
	const struct walk_event *event =
		&analysis->walk.threads[analysis->thread].events[analysis->index];
	const uint64_t begin = now_ns();
	bool is_found;

	if (!is_wanted(analysis, event))
		return false;
	analysis->current = place_of(analysis, event);
	if (!is_open(&analysis->places[analysis->current]))
		return false;
	if (analysis->places[analysis->current].queries++ >= analysis->options.queries_most ||
		is_late(analysis)) {
		analysis->figures.unasked++;
		return false;
	}
	analysis->goal = (struct event_id){analysis->thread, (uint32_t)analysis->index};
	is_found = ask(analysis, analysis->goal);
	analysis->figures.solve_ns += now_ns() - begin;
	if (is_found)
		describe(analysis, event, out);
	return is_found;
}

/* ---- chunks (TAME, section 4: partition) ---- */

/* Short runs are one chunk. */
static bool is_whole(const struct sensitivity *analysis)
{
	return analysis->order.event_count <= 4ull * analysis->options.window;
}

/* The next window of events of the run as it was. False: there is none. */
static bool next_global(struct sensitivity *analysis)
{
	const struct order *order = &analysis->order;
	const uint64_t room = order->event_count - analysis->global_end;
	const uint64_t wanted =
		is_whole(analysis) ? order->event_count : 4ull * analysis->options.window;
	const uint64_t count = room < wanted ? room : wanted;

	for (uint32_t i = 0; i < order->thread_count; i++)
		analysis->window.begin[i] = analysis->window.end[i];
	for (uint64_t i = 0; i < count; i++)
		analysis->window.end[order->events[analysis->global_end++].thread]++;
	analysis->thread = 0;
	analysis->index = analysis->window.begin[0];
	return count > 0;
}

/*
 * The next window of one thread, with those windows of the others that begin as early as what was before
 * it lets them. False: there is none.
 */
static bool next_distributed(struct sensitivity *analysis)
{
	const struct order *order = &analysis->order;
	const struct walk *walk = &analysis->walk;
	uint64_t begin = analysis->chunk * analysis->options.window;

	while (analysis->thread < order->thread_count &&
		begin >= walk->threads[analysis->thread].count) {
		analysis->thread++;
		analysis->chunk = begin = 0;
	}
	if (analysis->thread == order->thread_count)
		return false;
	for (uint32_t i = 0; i < order->thread_count; i++) {
		const uint64_t start = begin ? order->pasts[analysis->thread]
							   [(begin - 1) * order->thread_count + i]
					     : 0;
		const uint64_t end = start + analysis->options.window;

		analysis->window.begin[i] = (uint32_t)start;
		analysis->window.end[i] =
			(uint32_t)(end < walk->threads[i].count ? end : walk->threads[i].count);
	}
	analysis->index = begin;
	analysis->chunk++;
	return true;
}

/* Is there a branch in the chunk that is still to be asked about? */
static bool has_goals(struct sensitivity *analysis, uint32_t first, uint32_t last)
{
	for (uint32_t thread = first; thread <= last; thread++)
		for (uint64_t i = analysis->window.begin[thread]; i < analysis->window.end[thread];
			i++) {
			const struct walk_event *event = &analysis->walk.threads[thread].events[i];

			uint32_t place;

			if (!is_wanted(analysis, event))
				continue;
			place = place_of(analysis, event);
			if (is_open(&analysis->places[place]) &&
				analysis->places[place].queries < analysis->options.queries_most &&
				!is_late(analysis))
				return true;
		}
	return false;
}

static void open_chunk(struct sensitivity *analysis)
{
	const uint64_t begin = now_ns();

	constraints_open(
		&analysis->constraints, &analysis->walk, &analysis->order, &analysis->window);
	analysis->has_constraints = true;
	analysis->figures.chunks++;
	analysis->figures.constraints += analysis->constraints.count;
	set_time_limit(analysis);
	if (is_whole(analysis))
		check_model(analysis);
	analysis->figures.solve_ns += now_ns() - begin;
}

static bool search_thread(
	struct sensitivity *analysis, uint32_t thread, struct sensitive_candidate *out)
{
	while (analysis->index < analysis->window.end[thread]) {
		const bool is_found = look_at(analysis, out);

		analysis->index++;
		if (is_found)
			return true;
	}
	return false;
}

static bool is_global(const struct sensitivity *analysis)
{
	return analysis->options.is_global || is_whole(analysis);
}

/* In the open chunk, from where the search stands. */
static bool search_chunk(struct sensitivity *analysis, struct sensitive_candidate *out)
{
	const uint32_t threads = analysis->order.thread_count;

	if (!is_global(analysis))
		return search_thread(analysis, analysis->thread, out);
	while (analysis->thread < threads) {
		if (search_thread(analysis, analysis->thread, out))
			return true;
		if (++analysis->thread < threads)
			analysis->index = analysis->window.begin[analysis->thread];
	}
	return false;
}

static bool sensitivity_find(struct sensitivity *analysis, struct sensitive_candidate *out)
{
	const uint32_t last = analysis->order.thread_count - 1;

	for (;;) {
		if (analysis->has_constraints) {
			if (search_chunk(analysis, out))
				return true;
			constraints_close(&analysis->constraints);
			analysis->has_constraints = false;
		}
		if (!(is_global(analysis) ? next_global(analysis) : next_distributed(analysis)))
			return false;
		if (is_global(analysis) ? has_goals(analysis, 0, last)
					: has_goals(analysis, analysis->thread, analysis->thread))
			open_chunk(analysis);
	}
}

static bool is_alike(const struct run_record *a, const struct run_record *b)
{
	if (a->module_count != b->module_count)
		return false;
	for (uint32_t i = 0; i < a->module_count; i++)
		if (a->modules[i].fingerprint != b->modules[i].fingerprint ||
			a->modules[i].records != b->modules[i].records)
			return false;
	return true;
}

static uint16_t thread_in(
	const struct run_record *record, const struct run_record *run, uint16_t thread)
{
	for (uint32_t i = 0; i < run->thread_count; i++)
		if (run->threads[i].name == record->threads[thread].name)
			return (uint16_t)i;
	return UINT16_MAX;
}

static enum sensitivity_verdict sensitivity_compare(
	struct sensitivity *analysis, const struct run_record *run)
{
	const struct walk_event *event =
		&analysis->walk.threads[analysis->goal.thread].events[analysis->goal.index];
	struct asked *place = &analysis->places[analysis->current];
	struct walk_watch watch = {
		.thread = thread_in(analysis->walk.record, run, analysis->goal.thread),
		.instruction = event->instruction,
		.occurrence = event->occurrence};
	enum sensitivity_verdict verdict = VERDICT_NOT_REACHED;
	struct walk walk;

	if (is_alike(analysis->walk.record, run) && watch.thread != UINT16_MAX) {
		walk_open(&walk, &analysis->book, run);
		walk.watches = &watch;
		walk.watch_count = 1;
		walk_run(&walk, WALK_COUNTING);
		if (event->kind == EVENT_ADDRESS || event->kind == EVENT_DIVISOR)
			verdict = walk.threads[watch.thread].summary.end == WALK_CRASHED
					  ? VERDICT_FLIPPED
					  : VERDICT_SAME;
		else if (watch.is_reached)
			verdict =
				watch.outcome != event->case_value ? VERDICT_FLIPPED : VERDICT_SAME;
		walk_close(&walk);
	}
	place->is_proven = verdict == VERDICT_FLIPPED;
	place->tries += verdict != VERDICT_FLIPPED;
	return verdict;
}

static void sensitivity_count(const struct sensitivity *analysis, struct sensitivity_figures *out)
{
	*out = analysis->figures;
}

static const struct sensitivity_library library = {
	.open = sensitivity_begin,
	.next = sensitivity_find,
	.judge = sensitivity_compare,
	.figures = sensitivity_count,
	.close = sensitivity_end,
};

__attribute__((visibility("default"))) sensitivity_entry raddle_sensitivity;

const struct sensitivity_library *raddle_sensitivity(sensitivity_bug *bug)
{
	report = bug;
	return &library;
}
