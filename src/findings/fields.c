#include "findings/fields_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "findings/finding.h"

#define AT(type, member) offsetof(struct type, member)
#define SIZE(type, member) sizeof((struct type *)0)->member
#define MARK(type, member) .mark_at = AT(type, member), .mark_bytes = SIZE(type, member)
#define FIELD(type, member, what, when)                                                            \
	.name = #member, .kind = FIELD_##what, .presence = FIELD_##when, .at = AT(type, member),   \
	.bytes = SIZE(type, member), MARK(type, member)
#define STRUCT(type, member, when, fields, mark)                                                   \
	.name = #member, .kind = FIELD_STRUCT, .presence = FIELD_##when, .at = AT(type, member),   \
	MARK(type, mark), .members = fields
#define LIST(type, name, presence, items, count, fields)                                           \
	name, FIELD_LIST, FIELD_##presence, AT(type, items), sizeof *((struct type *)0)->items,    \
		AT(type, count) - AT(type, items), MARK(type, count), fields
#define STACK(type, member, presence)                                                              \
	LIST(type, #member, presence, member.frames, member.count, frame_fields)

static const struct finding_field frame_fields[] = {
	{FIELD(finding_frame, function, LINE, NULLABLE)},
	{FIELD(finding_frame, file, LINE, NULLABLE)},
	{FIELD(finding_frame, line, NUMBER, REQUIRED)},
	{FIELD(finding_frame, module, LINE, NULLABLE)},
	{FIELD(finding_frame, is_system, BOOLEAN, REQUIRED)},
	{FIELD(finding_frame, is_wrapper, BOOLEAN, OPTIONAL)},
	{0},
};

static const struct finding_field stall_fields[] = {
	{FIELD(finding_stall, thread, LINE, REQUIRED)},
	{STRUCT(finding_stall, at, REQUIRED, frame_fields, at)},
	{FIELD(finding_stall, duration_ns, COUNT, REQUIRED)},
	{FIELD(finding_stall, waiter, LINE, REQUIRED)},
	{STRUCT(finding_stall, waiter_at, REQUIRED, frame_fields, waiter_at)},
	{FIELD(finding_stall, is_sleep, BOOLEAN, REQUIRED)},
	{0},
};

static const struct finding_field thread_fields[] = {
	{FIELD(finding_thread, path, LINE, REQUIRED)},
	{FIELD(finding_thread, label, LINE, REQUIRED)},
	{0},
};

static const struct finding_field wait_fields[] = {
	{FIELD(finding_wait, thread, LINE, REQUIRED)},
	{FIELD(finding_wait, verb, LINE, REQUIRED)},
	{FIELD(finding_wait, object, LINE, NULLABLE)},
	{STACK(finding_wait, at, REQUIRED)},
	{FIELD(finding_wait, holder, LINE, NULLABLE)},
	{STRUCT(finding_wait, held_since, REQUIRED, frame_fields, held_since)},
	{FIELD(finding_wait, is_on_cycle, BOOLEAN, REQUIRED)},
	{FIELD(finding_wait, lost_signals, UNSIGNED, REQUIRED)},
	{0},
};

static const struct finding_field access_fields[] = {
	{FIELD(finding_access, thread, LINE, REQUIRED)},
	{FIELD(finding_access, verb, LINE, REQUIRED)},
	{FIELD(finding_access, held, LINE, NULLABLE)},
	{STACK(finding_access, at, REQUIRED)},
	{0},
};

/* Offsets of race_fields and passing_fields are those of the finding. */
static const struct finding_field race_fields[] = {
	{FIELD(finding, variable, LINE, NULLABLE)},
	{"accesses", FIELD_PAIR, FIELD_REQUIRED, AT(finding, race), sizeof(struct finding_access),
		.members = access_fields},
	{0},
};

static const struct finding_field step_fields[] = {
	{FIELD(finding_step, step, COUNT, REQUIRED)},
	{FIELD(finding_step, thread, LINE, REQUIRED)},
	{FIELD(finding_step, verb, LINE, REQUIRED)},
	{FIELD(finding_step, object, LINE, NULLABLE)},
	{STRUCT(finding_step, where, REQUIRED, frame_fields, where)},
	{STRUCT(finding_step, inner, OPTIONAL, frame_fields, inner.function)},
	{STACK(finding_step, callers, OPTIONAL)},
	{FIELD(finding_step, library_call, LINE, OPTIONAL)},
	{FIELD(finding_step, is_switch, BOOLEAN, REQUIRED)},
	{FIELD(finding_step, is_preemption, BOOLEAN, REQUIRED)},
	{FIELD(finding_step, is_failure, BOOLEAN, OPTIONAL)},
	{FIELD(finding_step, cause_line, UNSIGNED, OPTIONAL)},
	{FIELD(finding_step, reads_from, COUNT, OPTIONAL)},
	{FIELD(finding_step, makes_visible, COUNT, OPTIONAL)},
	{FIELD(finding_step, misses, COUNT, OPTIONAL)},
	{0},
};

static const struct finding_field passing_fields[] = {
	{LIST(finding, "steps", REQUIRED, passing_steps, passing_step_count, step_fields)},
	{.name = "steps_left_out", .kind = FIELD_COUNT, .at = AT(finding, passing_steps_left_out)},
	{0},
};

const struct finding_field finding_fields[] = {
	{FIELD(finding, id, ID, REQUIRED)},
	{FIELD(finding, signature, HASH, REQUIRED)},
	{FIELD(finding, kind, OUTCOME, REQUIRED)},
	{FIELD(finding, code, INTEGER, REQUIRED)},
	{FIELD(finding, argv, ARGUMENTS, REQUIRED)},
	{FIELD(finding, settings, OBJECT, NULLABLE)},
	{FIELD(finding, memory, OBJECT, NULLABLE)},
	{FIELD(finding, environment, OBJECT, OPTIONAL)},
	{FIELD(finding, seed, DECIMAL, REQUIRED)},
	{FIELD(finding, run_number, COUNT, REQUIRED)},
	{FIELD(finding, schedule, SCHEDULE, REQUIRED)},
	{FIELD(finding, detail, TEXT, NULLABLE)},
	{FIELD(finding, directory, TEXT, NULLABLE)},
	{FIELD(finding, input, TEXT, NULLABLE)},
	{FIELD(finding, output, TEXT, NULLABLE)},
	{FIELD(finding, title, LINE, NULLABLE)},
	{FIELD(finding, strategy, LINE, NULLABLE)},
	{FIELD(finding, failing_thread, LINE, NULLABLE)},
	{FIELD(finding, cause, TEXT, NULLABLE)},
	{FIELD(finding, remedy, TEXT, NULLABLE)},
	{FIELD(finding, shown_by, ID, OPTIONAL)},
	{FIELD(finding, switches_found, UNSIGNED, REQUIRED)},
	{FIELD(finding, preemptions_found, UNSIGNED, REQUIRED)},
	{FIELD(finding, switches, UNSIGNED, REQUIRED)},
	{FIELD(finding, preemptions, UNSIGNED, REQUIRED)},
	{FIELD(finding, replays, UNSIGNED, REQUIRED)},
	{FIELD(finding, replays_failed_again, UNSIGNED, REQUIRED)},
	{FIELD(finding, incomplete, LINE, OPTIONAL)},
	{FIELD(finding, depends_on_time, BOOLEAN, OPTIONAL)},
	{FIELD(finding, needs_weak_memory, BOOLEAN, OPTIONAL)},
	{LIST(finding, "stalls", OPTIONAL, stalls, stall_count, stall_fields)},
	{FIELD(finding, depth, UNSIGNED, OPTIONAL)},
	{"radius", FIELD_UNSIGNED, FIELD_OPTIONAL, AT(finding, radius), MARK(finding, depth)},
	{FIELD(finding, other_schedules_failed, UNSIGNED, OPTIONAL)},
	{STACK(finding, at, REQUIRED)},
	{LIST(finding, "threads", OPTIONAL, threads, thread_count, thread_fields)},
	{LIST(finding, "waits", REQUIRED, waits, wait_count, wait_fields)},
	{"race", FIELD_STRUCT, FIELD_OPTIONAL, MARK(finding, race[FINDING_LATER].thread),
		.members = race_fields},
	{LIST(finding, "steps", REQUIRED, steps, step_count, step_fields)},
	{FIELD(finding, early_step_count, UNSIGNED, OPTIONAL)},
	{FIELD(finding, steps_left_out, COUNT, REQUIRED)},
	{FIELD(finding, later_steps_left_out, COUNT, OPTIONAL)},
	{"passing", FIELD_STRUCT, FIELD_OPTIONAL, MARK(finding, passing_step_count),
		.members = passing_fields},
	{FIELD(finding, sources, OBJECT, OPTIONAL)},
	{0},
};

void *finding_items(const void *list)
{
	void *items;

	memcpy(&items, list, sizeof items);
	return items;
}

uint32_t *finding_item_count(const void *list, const struct finding_field *field)
{
	return (uint32_t *)((uintptr_t)list + field->count_behind);
}

static void fields_release_member(char *base, const struct finding_field *field);

static void fields_release(char *base, const struct finding_field *fields)
{
	for (; fields->name; fields++)
		fields_release_member(base, fields);
}

static void fields_release_member(char *base, const struct finding_field *field)
{
	void *member = base + field->at;
	char *items;

	switch (field->kind) {
	case FIELD_TEXT:
	case FIELD_LINE:
	case FIELD_OBJECT:
		free(*(char **)member);
		break;
	case FIELD_ARGUMENTS:
		for (char **argument = *(char ***)member; argument && *argument; argument++)
			free(*argument);
		free(*(char ***)member);
		break;
	case FIELD_SCHEDULE:
		schedule_file_release(member);
		break;
	case FIELD_STRUCT:
		fields_release(member, field->members);
		break;
	case FIELD_PAIR:
		fields_release(member, field->members);
		fields_release((char *)member + field->bytes, field->members);
		break;
	case FIELD_LIST:
		items = finding_items(member);
		for (uint32_t i = 0; i < *finding_item_count(member, field); i++)
			fields_release(items + i * field->bytes, field->members);
		free(items);
		break;
	default:
		break;
	}
}

/* Bytes of a step and of a frame in JSON, besides their texts. */
#define STEP_BYTES 200
#define FRAME_BYTES 120
/* A finding has two lists of steps. Both and the rest take less than a megabyte. */
#define STEPS_BYTES_MOST 400000

static size_t fields_text_bytes(const char *text)
{
	return text ? strlen(text) : 0;
}

static size_t fields_frame_bytes(const struct finding_frame *frame)
{
	return FRAME_BYTES + fields_text_bytes(frame->function) + fields_text_bytes(frame->file) +
	       fields_text_bytes(frame->module);
}

static size_t fields_step_bytes(const struct finding_step *step)
{
	size_t bytes = STEP_BYTES + fields_text_bytes(step->thread) +
		       fields_text_bytes(step->verb) + fields_text_bytes(step->object) +
		       fields_text_bytes(step->library_call) + fields_frame_bytes(&step->where);

	if (step->inner.function)
		bytes += fields_frame_bytes(&step->inner);
	for (uint32_t i = 0; i < step->callers.count; i++)
		bytes += fields_frame_bytes(&step->callers.frames[i]);
	return bytes;
}

/* Returns the first of the last steps that take at most STEPS_BYTES_MOST. */
static uint32_t fields_first_kept(const struct finding_step *steps, uint32_t count)
{
	uint32_t first = count;

	for (size_t bytes = 0; first > 0; first--) {
		bytes += fields_step_bytes(&steps[first - 1]);
		if (bytes > STEPS_BYTES_MOST)
			break;
	}
	return first;
}

/* Drops the steps before `first`, except those that the cause names. Returns the number of these. */
static uint32_t fields_drop_first_steps(struct finding_step *steps, uint32_t first, uint32_t *count)
{
	uint32_t named = 0;

	for (uint32_t i = 0; i < first; i++)
		if (steps[i].cause_line)
			steps[named++] = steps[i];
		else
			fields_release((char *)&steps[i], step_fields);
	*count -= first - named;
	memmove(steps + named, steps + first, (*count - named) * sizeof *steps);
	return named;
}

void finding_shorten(struct finding *finding)
{
	const uint32_t first = fields_first_kept(finding->steps, finding->step_count);
	const uint32_t passing =
		fields_first_kept(finding->passing_steps, finding->passing_step_count);

	if (first > finding->early_step_count) {
		const uint32_t named =
			fields_drop_first_steps(finding->steps, first, &finding->step_count);

		finding->early_step_count = named;
		finding->steps_left_out += first - named;
	}
	if (passing)
		finding->passing_steps_left_out +=
			passing - fields_drop_first_steps(finding->passing_steps, passing,
					  &finding->passing_step_count);
}

void finding_keep_steps(struct finding *finding, const bool *is_kept)
{
	struct finding_step *steps = finding->steps;
	uint32_t kept = 0, early = 0;

	for (uint32_t i = 0; i < finding->step_count; i++) {
		early += is_kept[i] && i < finding->early_step_count;
		if (is_kept[i])
			steps[kept++] = steps[i];
		else
			fields_release((char *)&steps[i], step_fields);
	}
	finding->step_count = kept;
	finding->early_step_count = early;
	steps = realloc(steps, (kept + 1) * sizeof *steps);
	if (steps)
		finding->steps = steps;
}

void finding_release(struct finding *finding)
{
	fields_release((char *)finding, finding_fields);
	free(finding->trace);
	*finding = (struct finding){0};
}
