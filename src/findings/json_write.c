#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "findings/finding.h"
#include "findings/json_internal.h"

/* Adds `value` and takes ownership of it. Out of memory ends the process. */
static void json_write_put(json_t *object, const char *name, json_t *value)
{
	BUG_ON(!value || json_object_set_new(object, name, value));
}

static json_t *text_value(const char *text)
{
	json_t *value;
	struct strbuf hex;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	strbuf_init(&hex);
	for (const char *at = text; *at; at++)
		strbuf_addf(&hex, "%02x", (unsigned char)*at);
	value = json_pack("{s:s}", "hex", hex.text);
	strbuf_release(&hex);
	return value;
}

static json_t *wide_value(uint64_t value, const char *format)
{
	char text[32];

	(void)snprintf(text, sizeof text, format, value); /* 20 digits at most */
	return json_string(text);
}

/* jansson's integers are signed; counts of steps stay below that limit. */
static json_t *count_value(uint64_t value)
{
	return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

static json_t *frame_value(const struct finding_frame *frame)
{
	json_t *value = json_object();

	json_write_put(value, "function", text_value(frame->function));
	json_write_put(value, "file", text_value(frame->file));
	json_write_put(value, "line", json_integer(frame->line));
	json_write_put(value, "module", text_value(frame->module));
	json_write_put(value, "is_system", json_boolean(frame->is_system));
	if (frame->is_wrapper)
		json_write_put(value, "is_wrapper", json_true());
	return value;
}

static json_t *json_write_stack_value(const struct finding_stack *stack)
{
	json_t *value = json_array();

	for (uint32_t i = 0; i < stack->count; i++)
		BUG_ON(json_array_append_new(value, frame_value(&stack->frames[i])));
	return value;
}

static json_t *waits_value(const struct finding *finding)
{
	json_t *value = json_array();

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		json_t *entry = json_object();

		json_write_put(entry, "thread", text_value(wait->thread));
		json_write_put(entry, "verb", text_value(wait->verb));
		json_write_put(entry, "object", text_value(wait->object));
		json_write_put(entry, "at", json_write_stack_value(&wait->at));
		json_write_put(entry, "holder", text_value(wait->holder));
		json_write_put(entry, "held_since", frame_value(&wait->held_since));
		json_write_put(entry, "is_on_cycle", json_boolean(wait->is_on_cycle));
		json_write_put(entry, "lost_signals", json_integer(wait->lost_signals));
		BUG_ON(json_array_append_new(value, entry));
	}
	return value;
}

static json_t *race_value(const struct finding *finding)
{
	json_t *accesses = json_array();
	json_t *value;

	for (unsigned i = 0; i < FINDING_ACCESSES; i++) {
		const struct finding_access *access = &finding->race[i];
		json_t *entry = json_object();

		json_write_put(entry, "thread", text_value(access->thread));
		json_write_put(entry, "verb", text_value(access->verb));
		json_write_put(entry, "held", text_value(access->held));
		json_write_put(entry, "at", json_write_stack_value(&access->at));
		BUG_ON(json_array_append_new(accesses, entry));
	}
	value = json_object();
	json_write_put(value, "variable", text_value(finding->variable));
	json_write_put(value, "accesses", accesses);
	return value;
}

static json_t *steps_value(const struct finding_step *steps, uint32_t count)
{
	json_t *value = json_array();

	for (uint32_t i = 0; i < count; i++) {
		const struct finding_step *step = &steps[i];
		json_t *entry = json_object();

		json_write_put(entry, "step", count_value(step->step));
		json_write_put(entry, "thread", text_value(step->thread));
		json_write_put(entry, "verb", text_value(step->verb));
		json_write_put(entry, "object", text_value(step->object));
		json_write_put(entry, "where", frame_value(&step->where));
		if (step->inner.function)
			json_write_put(entry, "inner", frame_value(&step->inner));
		if (step->callers.count)
			json_write_put(entry, "callers", json_write_stack_value(&step->callers));
		if (step->library_call)
			json_write_put(entry, "library_call", text_value(step->library_call));
		json_write_put(entry, "is_switch", json_boolean(step->is_switch));
		json_write_put(entry, "is_preemption", json_boolean(step->is_preemption));
		BUG_ON(json_array_append_new(value, entry));
	}
	return value;
}

static json_t *passing_value(const struct finding *finding)
{
	json_t *value = json_object();

	json_write_put(
		value, "steps", steps_value(finding->passing_steps, finding->passing_step_count));
	json_write_put(value, "steps_left_out", count_value(finding->passing_steps_left_out));
	return value;
}

static json_t *arguments_value(char *const *argv)
{
	json_t *value = json_array();

	for (; argv && *argv; argv++)
		BUG_ON(json_array_append_new(value, text_value(*argv)));
	return value;
}

static json_t *threads_value(const struct finding *finding)
{
	json_t *value = json_array();

	for (uint32_t i = 0; i < finding->thread_count; i++) {
		json_t *entry = json_object();

		json_write_put(entry, "path", text_value(finding->threads[i].path));
		json_write_put(entry, "label", text_value(finding->threads[i].label));
		BUG_ON(json_array_append_new(value, entry));
	}
	return value;
}

/* The schedule in its own text form, so that one reader checks both. */
static json_t *schedule_value(const struct schedule_file *schedule)
{
	struct strbuf text;
	json_t *value;

	strbuf_init(&text);
	schedule_text_write(schedule, &text);
	value = text_value(text.text);
	strbuf_release(&text);
	return value;
}

char *finding_to_published_json(const struct finding *finding)
{
	struct finding published = *finding;

	published.environment = NULL;
	return finding_to_json(&published);
}

char *finding_to_json(const struct finding *finding)
{
	json_t *root = json_object();
	json_t *settings = finding->settings ? json_loads(finding->settings, 0, NULL) : NULL;
	json_t *memory = finding->memory ? json_loads(finding->memory, 0, NULL) : NULL;
	json_t *environment =
		finding->environment ? json_loads(finding->environment, 0, NULL) : NULL;
	json_t *sources = finding->sources ? json_loads(finding->sources, 0, NULL) : NULL;
	char *text;

	json_write_put(root, FINDING_JSON_FORMAT, json_integer(FINDING_JSON_VERSION));
	json_write_put(root, "id", text_value(finding->id));
	json_write_put(root, "signature", wide_value(finding->signature, "%016" PRIx64));
	json_write_put(root, "kind", json_string(outcome_descriptions[finding->kind].word));
	json_write_put(root, "code", json_integer(finding->code));
	json_write_put(root, "argv", arguments_value(finding->argv));
	json_write_put(root, "settings", settings ? settings : json_null());
	json_write_put(root, "memory", memory ? memory : json_null());
	if (environment)
		json_write_put(root, "environment", environment);
	json_write_put(root, "seed", wide_value(finding->seed, "%" PRIu64));
	json_write_put(root, "run_number", count_value(finding->run_number));
	json_write_put(root, "schedule", schedule_value(&finding->schedule));
#define FIELD(member) json_write_put(root, #member, text_value(finding->member));
	FINDING_TEXT_FIELDS(FIELD)
	FINDING_LINE_FIELDS(FIELD)
	FINDING_NEWER_TEXT_FIELDS(FIELD)
#undef FIELD
#define FIELD(member) json_write_put(root, #member, json_integer(finding->member));
	FINDING_COUNT_FIELDS(FIELD)
#undef FIELD
	if (finding->depth) {
		json_write_put(root, "depth", count_value(finding->depth));
		json_write_put(root, "radius", count_value(finding->radius));
	}
	json_write_put(root, "at", json_write_stack_value(&finding->at));
	if (finding->thread_count)
		json_write_put(root, "threads", threads_value(finding));
	json_write_put(root, "waits", waits_value(finding));
	if (finding->race[FINDING_LATER].thread)
		json_write_put(root, "race", race_value(finding));
	json_write_put(root, "steps", steps_value(finding->steps, finding->step_count));
	json_write_put(root, "steps_left_out", count_value(finding->steps_left_out));
	if (finding->later_steps_left_out)
		json_write_put(
			root, "later_steps_left_out", count_value(finding->later_steps_left_out));
	if (finding->passing_step_count)
		json_write_put(root, "passing", passing_value(finding));
	if (sources)
		json_write_put(root, "sources", sources);
	text = json_dumps(root, JSON_INDENT(1));
	BUG_ON(!text);
	json_decref(root);
	return text;
}
