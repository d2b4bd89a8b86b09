/*
 * The interleaving that led to a branch in one run. It has the accesses to the memory that the
 * branch's condition depends on, operations around these, and creation and joins of threads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/slots.h"
#include "base/strbuf.h"
#include "model/op.h"
#include "branches/values/compute.h"
#include "branches/solve/sensitivity_internal.h"

/* Number of events of the flipped run that are kept, in runs processed in parts. */
#define EVENTS_MOST 200000
/* Number of steps that an interleaving has; earlier ones are only counted. */
#define STEPS_MOST 60
/* Words per condition; further ones are not shown. */
#define WORDS_MOST 64
/* Limit of visited subterms: terms are graphs with shared parts. */
#define PARTS_MOST 4096

/* The variables of a condition, and the words where these were read: sets of numbers plus one. */
struct condition {
	struct slots variables, words;
	uint32_t parts;
};

struct picked {
	uint64_t time; /* orders the steps of all threads */
	struct event_id id;
};

struct picked_list {
	struct picked *items;
	uint32_t count;
};

static void interleavings_add_number(struct slots *numbers, uint64_t number)
{
	if (numbers->count < WORDS_MOST)
		(void)slots_add(numbers, sizeof(uint64_t), number + 1);
}

static bool interleavings_has_number(const struct slots *numbers, uint64_t number)
{
	return slots_get(numbers, sizeof(uint64_t), number + 1) != NULL;
}

static void interleavings_release_condition(struct condition *condition)
{
	slots_release(&condition->variables);
	slots_release(&condition->words);
	condition->parts = 0;
}

static void interleavings_add_variables(struct condition *condition, const struct term *term)
{
	if (!term || condition->parts++ >= PARTS_MOST)
		return;
	if (term->op == TERM_VARIABLE) {
		interleavings_add_number(&condition->variables, term->number);
		return;
	}
	for (uint32_t i = 0; i < 3; i++)
		interleavings_add_variables(condition, term_operand(term, i));
}

/* Finds the words of the condition's variables that its own thread has read. */
static void interleavings_find_words(
	struct condition *condition, const struct walk *walk, struct event_id goal)
{
	const struct walked_thread *thread = &walk->threads[goal.thread];

	interleavings_release_condition(condition);
	if (goal.index < thread->count)
		interleavings_add_variables(
			condition, walk_event_term(walk, &thread->events[goal.index]));
	for (uint64_t i = thread->first; i < goal.index && i < thread->count; i++) {
		const struct walk_event *event = &thread->events[i];

		if (event->kind == EVENT_READ && interleavings_has_number(&condition->variables,
							 walk_event_term(walk, event)->number))
			interleavings_add_number(&condition->words, event->address >> 3);
	}
}

/*
 * Positions order a thread's events, but are too coarse between accesses that were scheduling
 * points; then the known schedule orders them.
 */
struct interleavings_cursor {
	const struct walk *walk;
	uint16_t thread;
	const struct solution *schedule; /* NULL if ordered by positions */
	uint16_t scheduled;		 /* the thread's number in the schedule */
	/* Advances with the thread's steps: */
	uint32_t segment;
	uint64_t own, all; /* steps of the thread, and of all threads, before the segment */
};

/* Returns the time of a step; UINT64_MAX: the schedule ends before this step. */
static uint64_t interleavings_time_of(
	struct interleavings_cursor *cursor, const struct walk_event *event)
{
	const struct solution *schedule = cursor->schedule;

	if (!schedule)
		return event->position;
	for (; cursor->segment < schedule->count; cursor->segment++) {
		const struct schedule_segment *segment = &schedule->segments[cursor->segment];
		const bool is_own = segment->thread == cursor->scheduled;

		if (is_own && event->step < cursor->own + segment->count)
			return cursor->all + event->step - cursor->own;
		cursor->own += is_own ? segment->count : 0;
		cursor->all += segment->count;
	}
	return UINT64_MAX;
}

static void interleavings_pick(struct picked_list *list, struct event_id id, uint64_t time)
{
	if (list->count && list->items[list->count - 1].id.thread == id.thread &&
		list->items[list->count - 1].id.index == id.index)
		return;
	ARRAY_APPEND(list->items, list->count, (struct picked){time, id});
}

static bool interleavings_is_performed(const struct walk *walk, const struct walk_event *event)
{
	return event->kind == EVENT_OP && event->value != UINT64_MAX &&
	       walk->record->ops[event->value].kind != OP_THREAD_CREATED;
}

static bool interleavings_is_of_threads(const struct walk *walk, const struct walk_event *event)
{
	const uint8_t kind = walk->record->ops[event->value].kind;

	return kind == OP_THREAD_CREATE || kind == OP_THREAD_JOIN;
}

/* Picks the thread's events before `end` and within the schedule that belong to the
 * interleaving. */
static void interleavings_pick_thread(struct picked_list *list, struct interleavings_cursor *cursor,
	uint64_t end, const struct condition *condition)
{
	const struct walk_event *events = cursor->walk->threads[cursor->thread].events;
	struct event_id last_op = {cursor->thread, UINT32_MAX};
	uint64_t time_of_op = 0;
	bool wants_op = false;

	for (uint64_t i = cursor->walk->threads[cursor->thread].first; i < end; i++) {
		const struct event_id id = {cursor->thread, (uint32_t)i};
		const bool is_op = interleavings_is_performed(cursor->walk, &events[i]);
		uint64_t time;

		if (!is_op && (!event_is_access(&events[i]) ||
				      !interleavings_has_number(
					      &condition->words, events[i].address >> 3)))
			continue;
		time = interleavings_time_of(cursor, &events[i]);
		if (time == UINT64_MAX)
			return;
		if (!is_op && last_op.index != UINT32_MAX)
			interleavings_pick(list, last_op, time_of_op);
		if (!is_op || wants_op || interleavings_is_of_threads(cursor->walk, &events[i]))
			interleavings_pick(list, id, time);
		wants_op = !is_op;
		last_op.index = is_op ? (uint32_t)i : UINT32_MAX;
		time_of_op = time;
	}
}

static int interleavings_compare(const void *left, const void *right)
{
	const struct picked *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return event_compare_ids(a->id, b->id);
}

/* Selects steps in the order of positions. */
static void interleavings_pick_recorded(struct picked_list *list, const struct walk *walk,
	struct event_id goal, const struct condition *condition)
{
	const uint64_t position = walk->threads[goal.thread].events[goal.index].position;

	for (uint32_t i = 0; i < walk->record->thread_count; i++) {
		struct interleavings_cursor cursor = {.walk = walk, .thread = (uint16_t)i};

		interleavings_pick_thread(list, &cursor,
			i == goal.thread ? goal.index
					 : walk_events_before(&walk->threads[i], position),
			condition);
	}
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, interleavings_compare);
}

/* Selects steps in the order of the schedule, whose threads are numbered as in the record. */
static void interleavings_pick_flipped(struct picked_list *list, const struct walk *walk,
	const struct sensitivity *analysis, struct event_id goal, const struct condition *condition)
{
	for (uint32_t i = 0; i < walk->record->thread_count; i++) {
		struct interleavings_cursor cursor = {.walk = walk,
			.thread = (uint16_t)i,
			.schedule = &analysis->search.current->solution,
			.scheduled = runs_thread_named(
				analysis->walk.record, walk->record->threads[i].name)};
		const uint64_t count = walk->threads[i].count;

		interleavings_pick_thread(list, &cursor,
			i == goal.thread && goal.index < count ? goal.index : count, condition);
	}
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, interleavings_compare);
}

static void interleavings_set_location(
	struct sensitivity *analysis, struct sensitive_step *step, LLVMValueRef instruction)
{
	struct sensitive_location location = {.function = "", .file = "", .directory = ""};

	if (instruction)
		locations_describe(analysis, instruction, &location);
	step->function = string_copy(location.function);
	step->file = string_copy(location.file);
	step->directory = string_copy(location.directory);
	step->line = location.line;
	step->column = location.column;
}

static char *interleavings_value_text(const struct walk_event *event)
{
	const bool is_small = event->bytes == 1 || event->bytes == 2 || event->bytes == 4;
	const int64_t value = compute_signed(event->value, is_small ? 8u * event->bytes : 64);
	struct strbuf text = STRBUF_EMPTY;

	/* A large value is probably an address or a floating-point number, which is easier to recognise in hexadecimal. */
	if (is_small || (value > INT32_MIN && value < INT32_MAX))
		strbuf_addf(&text, "%" PRId64, value);
	else
		strbuf_addf(&text, "0x%" PRIx64, (uint64_t)value);
	return strbuf_detach(&text);
}

/* Describes an op in a step. The caller adds the source location and the name of the lock. */
static void interleavings_describe_op(const struct record_op *op, struct sensitive_step *step)
{
	const struct op_description *description = &op_descriptions[op->kind];

	step->verb = description->verb;
	step->other = description->object == OBJECT_THREAD ? op->other : UINT16_MAX;
	step->object = string_copy(
		description->object == OBJECT_NOTHING || description->object == OBJECT_THREAD
			? ""
			: object_class_text(description->object));
	step->address = op->address;
	step->site = op->site;
}

static void interleavings_describe_access(
	struct sensitivity *analysis, const struct walk_event *event, struct sensitive_step *step)
{
	struct strbuf name = STRBUF_EMPTY;

	step->verb = event->kind == EVENT_READ ? "reads" : "writes";
	step->other = UINT16_MAX;
	locations_name_access(analysis, event, &name);
	step->object = strbuf_detach(&name);
	step->value = interleavings_value_text(event);
	step->address = event->address;
}

static void interleavings_describe_event(struct sensitivity *analysis, const struct walk *walk,
	struct event_id id, struct sensitive_step *step)
{
	const struct walk_event *event = walk_event_of(walk, id);

	*step = (struct sensitive_step){.thread = id.thread};
	interleavings_set_location(
		analysis, step, event->kind == EVENT_OP ? NULL : event_instruction(event));
	if (event->kind == EVENT_OP)
		interleavings_describe_op(&walk->record->ops[event->value], step);
	else
		interleavings_describe_access(analysis, event, step);
}

static void interleavings_report_goal(struct sensitivity *analysis, const struct walk_event *event,
	uint16_t thread, bool is_flipped, bool is_taken, struct sensitive_step *step)
{
	static const char *const sides[][2] = {
		[EVENT_BRANCH] = {"the condition false", "the condition true"},
		[EVENT_CHOICE] = {"the condition false", "the condition true"},
		[EVENT_ADDRESS] = {"memory behind the pointer", "a null pointer"},
		[EVENT_TARGET] = {"a function to call", "another function to call"},
		[EVENT_DIVISOR] = {"a divisor that is not 0", "the divisor 0"},
		[EVENT_INDEX] = {"the index inside", "the index outside"},
	};
	const char *text = sides[event->kind][event_is_branch(event) ? is_taken : is_flipped];

	if (LLVMIsASwitchInst(event_instruction(event)))
		text = is_flipped ? "another case" : "a case";
	*step = (struct sensitive_step){.thread = thread,
		.verb = "finds",
		.object = string_copy(text),
		.other = UINT16_MAX};
	interleavings_set_location(analysis, step, event_instruction(event));
}

static void interleavings_report_all(struct sensitivity *analysis, const struct walk *walk,
	const struct picked_list *list, struct sensitive_interleaving *out)
{
	const uint32_t first = list->count > STEPS_MOST ? list->count - STEPS_MOST : 0;

	*out = (struct sensitive_interleaving){.left_out = first};
	out->steps = array_new(list->count - first + 1u, sizeof *out->steps);
	for (uint32_t i = first; i < list->count; i++)
		interleavings_describe_event(
			analysis, walk, list->items[i].id, &out->steps[out->count++]);
}

/* Finds the same branch in another run; index UINT32_MAX: the run did not reach it. */
static struct event_id interleavings_find_goal(
	const struct walk *walk, uint16_t thread, const struct walk_event *goal)
{
	const struct walked_thread *walked = &walk->threads[thread];

	for (uint64_t i = walked->first; i < walked->count; i++)
		if (event_instruction(&walked->events[i]) == event_instruction(goal) &&
			walked->events[i].kind > EVENT_OP &&
			walked->events[i].occurrence == goal->occurrence)
			return (struct event_id){thread, (uint32_t)i};
	return (struct event_id){thread, UINT32_MAX};
}

void interleavings_describe(struct sensitivity *analysis, const struct run_record *run,
	uint16_t thread, struct sensitive_interleaving out[SENSITIVE_RUNS])
{
	const struct event_id goal = analysis->search.current->goal;
	const struct walk_event *event = walk_event_of(&analysis->walk, goal);
	struct picked_list list = {0};
	struct condition condition = {0};
	struct event_id flipped;
	uint64_t *own_chosen;
	struct walk walk;

	interleavings_find_words(&condition, &analysis->walk, goal);
	interleavings_pick_recorded(&list, &analysis->walk, goal, &condition);
	interleavings_report_all(analysis, &analysis->walk, &list, &out[SENSITIVE_RECORDED]);
	interleavings_report_goal(analysis, event, goal.thread, false, event->is_taken,
		&out[SENSITIVE_RECORDED].steps[out[SENSITIVE_RECORDED].count++]);

	walk_open(&walk, &analysis->book, run);
	/* Lent by the analysis: events and steps must be those of the record. */
	own_chosen = walk.chosen;
	walk.shared = analysis->walk.shared;
	if (analysis->part_count > 1) {
		walk_run(&walk, WALK_CHOOSING);
		walk.part = walk_part_before(&walk, analysis->flipped_position, EVENTS_MOST);
	}
	walk.chosen = analysis->walk.chosen;
	walk_run(&walk, WALK_EVENTS);
	walk.shared = (struct shared_map){0};
	walk.chosen = own_chosen;
	flipped = interleavings_find_goal(&walk, thread, event);
	/* The run crashed before the event: use the words of the record's condition. */
	if (flipped.index != UINT32_MAX)
		interleavings_find_words(&condition, &walk, flipped);
	list.count = 0;
	interleavings_pick_flipped(&list, &walk, analysis, flipped, &condition);
	interleavings_report_all(analysis, &walk, &list, &out[SENSITIVE_FLIPPED]);
	interleavings_report_goal(analysis, event, thread, true, !event->is_taken,
		&out[SENSITIVE_FLIPPED].steps[out[SENSITIVE_FLIPPED].count++]);
	out[SENSITIVE_FLIPPED].called_from = locations_called_from(event_instruction(event),
		analysis->flipped_callers, analysis->flipped_caller_count);
	walk_close(&walk);
	interleavings_release_condition(&condition);
	free(list.items);
}
