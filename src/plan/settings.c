#include "plan/settings.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "plan/restart.h"
#include "model/memory/layout.h"
#include "model/outcome/outcome.h"

/* A unit test's run has thousands of steps; one with more than this probably never ends. */
#define STANDARD_STEP_LIMIT UINT64_C(10000000)
/* Longer than any computation between two synchronisation operations in usual tests. */
#define STANDARD_HANG_NS UINT64_C(10000000000)

/* Stacks allocated in advance; the runtime allocates more for a program with more threads. */
#define THREAD_POOL 8

const char *const memory_model_words[MEMORY_MODEL_COUNT] = {
	[MEMORY_MODEL_SC] = "sc", [MEMORY_MODEL_TSO] = "tso", [MEMORY_MODEL_C11] = "c11"};

const char *const memory_model_titles[MEMORY_MODEL_COUNT] = {
	[MEMORY_MODEL_SC] = "sequential consistency",
	[MEMORY_MODEL_TSO] = "TSO",
	[MEMORY_MODEL_C11] = "C11"};

const char *memory_model_phrase(enum memory_model model)
{
	static const char *const phrases[MEMORY_MODEL_COUNT] = {"", " under TSO", " under C11"};

	return phrases[model];
}

bool memory_model_parse(const char *word, enum memory_model *out)
{
	const unsigned found = strings_find(memory_model_words, MEMORY_MODEL_COUNT, word);

	if (found < MEMORY_MODEL_COUNT)
		*out = (enum memory_model)found;
	return found < MEMORY_MODEL_COUNT;
}

void settings_init(struct settings *settings)
{
	*settings = (struct settings){
		.executor = EXECUTOR_FIBER,
		.step_limit = STANDARD_STEP_LIMIT,
		.hang_ns = STANDARD_HANG_NS,
		.random_seed = 1,
		.stall_ns = STALL_STANDARD_NS,
		.interruption_points = INTERRUPTION_POINTS_IN_PART,
	};
}

void settings_release(struct settings *settings)
{
	free(settings->input);
	free(settings->check);
	races_release(&settings->races);
	settings->input = NULL;
	settings->check = NULL;
}

void settings_copy(struct settings *to, const struct settings *from)
{
	*to = *from;
	to->input = string_copy(from->input);
	to->check = string_copy(from->check);
	races_copy(&to->races, &from->races);
}

void settings_to_plan(const struct settings *settings, struct contract_plan *plan)
{
	plan->executor = settings->executor;
	plan->thread_pool = THREAD_POOL;
	plan->tolerated = settings->tolerated;
	plan->skip_status = settings->skip_status;
	plan->step_limit = settings->step_limit;
	plan->random_seed = settings->random_seed;
	plan->has_spurious_wakeups = settings->has_spurious_wakeups;
	plan->stall_ns = settings->stall_ns;
	plan->interruption_points = settings->interruption_points;
	plan->memory_model = settings->races.weak ? MEMORY_MODEL_C11 : settings->memory_model;
	plan->judged_model = settings->races.weak;
	plan->weak_limit = settings->weak_limit;
	plan->has_forked_children = settings->has_forked_children;
	plan->without_dispatch = settings->without_dispatch;
	plan->without_virtual_time = settings->without_virtual_time;
	plan->repeats_waits = settings->repeats_waits;
	plan->layout = settings->layout;
}

static json_t *settings_tolerated_to_json(uint32_t tolerated)
{
	json_t *words = json_array();

	for (unsigned kind = 0; kind < OUTCOME_KIND_COUNT; kind++)
		if (tolerated >> kind & 1)
			(void)json_array_append_new(/* fails only without memory: checked below */
				words, json_string(outcome_descriptions[kind].word));
	return words;
}

char *settings_to_json(const struct settings *settings)
{
	json_auto_t *object = json_pack(
		"{s:s, s:o, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:s*, s:o*, s:o*, s:o*, s:s*, s:s*, s:o*, s:o*, s:o*}",
		"executor", executor_words[settings->executor], "tolerated",
		settings_tolerated_to_json(settings->tolerated), "step_limit",
		(json_int_t)settings->step_limit, "hang_ns", (json_int_t)settings->hang_ns,
		"random_seed", (json_int_t)settings->random_seed, "stall_ns",
		(json_int_t)settings->stall_ns, "spurious_wakeups", settings->has_spurious_wakeups,
		"without_dispatch", settings->without_dispatch, "without_virtual_time",
		settings->without_virtual_time, "memory_model",
		settings->memory_model ? memory_model_words[settings->memory_model] : NULL,
		"weak_limit", settings->weak_limit ? json_integer(settings->weak_limit) : NULL,
		"forked_children", settings->has_forked_children ? json_true() : NULL, "layout",
		settings->has_fixed_layout ? json_integer(settings->layout) : NULL, "input",
		settings->input, "check", settings->check, "races", races_to_json(&settings->races),
		"skip_status", settings->skip_status ? json_integer(settings->skip_status) : NULL,
		"repeats_waits", settings->repeats_waits ? json_true() : NULL);
	char *text;

	BUG_ON(!object);
	text = json_dumps(object, JSON_COMPACT);
	BUG_ON(!text);
	return text;
}

static int settings_damaged(struct error *err, const char *what)
{
	return error_set(err, ERROR_FORMAT,
		"the finding's settings are damaged (%s); find it again with raddle run", what);
}

static int settings_read_tolerated(const json_t *words, uint32_t *tolerated, struct error *err)
{
	size_t index;
	const json_t *word;

	json_array_foreach(words, index, word)
	{
		if (!json_is_string(word) ||
			settings_parse_tolerated(json_string_value(word), tolerated, NULL) < 0)
			return settings_damaged(err, "tolerated");
	}
	return 0;
}

int settings_from_json(const char *text, struct settings *out, struct error *err)
{
	json_auto_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	struct settings read;
	const char *executor = NULL;
	const char *input = NULL;
	const char *check = NULL;
	const char *model = memory_model_words[MEMORY_MODEL_SC];
	json_int_t step_limit, hang_ns, stall_ns;
	/* bit pattern of the seed: JSON has no unsigned 64-bit numbers */
	json_int_t random_seed;
	json_int_t layout = -1;
	json_int_t weak_limit = 0, skip_status = 0;
	int spurious, dispatch, virtual_time, children = false, repeats = false;
	json_t *tolerated;
	json_t *races = NULL;
	int result = 0;

	settings_init(&read);
	if (!object ||
		json_unpack(object,
			"{s:s, s:o, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s?s, s?I, s?b, s?I, s?s, s?s, s?o, s?I, s?b}",
			"executor", &executor, "tolerated", &tolerated, "step_limit", &step_limit,
			"hang_ns", &hang_ns, "random_seed", &random_seed, "stall_ns", &stall_ns,
			"spurious_wakeups", &spurious, "without_dispatch", &dispatch,
			"without_virtual_time", &virtual_time, "memory_model", &model, "weak_limit",
			&weak_limit, "forked_children", &children, "layout", &layout, "input",
			&input, "check", &check, "races", &races, "skip_status", &skip_status,
			"repeats_waits", &repeats) != 0)
		result = settings_damaged(err, "not the expected fields");
	else if (!executor_parse(executor, &read.executor))
		result = settings_damaged(err, "executor");
	else if (!memory_model_parse(model, &read.memory_model))
		result = settings_damaged(err, "memory model");
	else if (step_limit <= 0 || hang_ns < 0 || layout > (json_int_t)LAYOUT_MAX ||
		 weak_limit < 0 || weak_limit > UINT32_MAX || skip_status < 0 || skip_status > 255)
		result = settings_damaged(err, "limits");
	else
		result = settings_read_tolerated(tolerated, &read.tolerated, err);
	if (result == 0)
		result = races_from_json(races, &read.races, err);
	if (result == 0) {
		read.step_limit = (uint64_t)step_limit;
		read.hang_ns = (uint64_t)hang_ns;
		read.random_seed = (uint64_t)random_seed;
		read.stall_ns = (uint64_t)stall_ns;
		read.skip_status = (uint32_t)skip_status;
		read.weak_limit = (uint32_t)weak_limit;
		read.has_spurious_wakeups = spurious;
		read.has_forked_children = children;
		read.without_dispatch = dispatch;
		read.without_virtual_time = virtual_time;
		read.repeats_waits = repeats;
		read.has_fixed_layout = layout >= 0;
		read.layout = layout >= 0 ? (uint32_t)layout : 0;
		read.input = string_copy(input);
		read.check = string_copy(check);
		*out = read;
	}
	return result;
}

static int settings_parse_tolerated_word(
	const char *word, size_t length, uint32_t *tolerated, struct error *err)
{
	STRBUF_SCOPED known = STRBUF_EMPTY;

	for (unsigned kind = 0; kind < OUTCOME_KIND_COUNT; kind++) {
		const struct outcome_description *outcome = &outcome_descriptions[kind];

		if (outcome->is_failure && strlen(outcome->word) == length &&
			memcmp(outcome->word, word, length) == 0) {
			*tolerated |= UINT32_C(1) << kind;
			return 0;
		}
	}
	for (unsigned kind = 0; kind < OUTCOME_KIND_COUNT; kind++)
		if (outcome_descriptions[kind].is_failure)
			strbuf_addf(&known, "%s%s", known.length ? ", " : "",
				outcome_descriptions[kind].word);
	return error_set(err, ERROR_USAGE, "no kind of failure is called %.*s; there are %s",
		(int)length, word, known.text);
}

int settings_parse_tolerated(const char *words, uint32_t *tolerated, struct error *err)
{
	uint32_t all = *tolerated;

	for (;;) {
		size_t length = strcspn(words, ",");
		int result = settings_parse_tolerated_word(words, length, &all, err);

		if (result < 0)
			return result;
		if (!words[length])
			break;
		words += length + 1;
	}
	*tolerated = all;
	return 0;
}

int settings_parse_fail_on(const char *words, struct settings *settings, struct error *err)
{
	settings->races.are_failures = strcmp(words, "race") == 0;
	settings->races.weak = strcmp(words, "weak") == 0	? MEMORY_MODEL_C11
			       : strcmp(words, "weak:tso") == 0 ? MEMORY_MODEL_TSO
								: MEMORY_MODEL_SC;
	if (settings->races.are_failures || settings->races.weak)
		return 0;
	return error_set(err, ERROR_USAGE,
		"--fail-on takes race, weak or weak:tso, not %s; all other failures always count (see --tolerate)",
		words);
}
