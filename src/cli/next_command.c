#include "cli/next_command.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "plan/memory/memory_view.h"
#include "plan/strategy_option.h"
#include "model/outcome/outcome.h"

static void next_command_add_word(struct strbuf *out, const char *word)
{
	strbuf_adds(out, " ");
	shell_words_add(out, (char *const[]){(char *)word, NULL});
}

/* Appends " OPTION VALUE", quoted if needed; nothing if `value` is NULL. */
static void next_add_option(struct strbuf *out, const char *option, const char *value)
{
	if (!value)
		return;
	next_command_add_word(out, option);
	next_command_add_word(out, value);
}

void next_add_store(struct strbuf *out, const char *directory)
{
	if (directory && strcmp(directory, ".") != 0)
		next_add_option(out, "--store", directory);
}

void next_add_program(struct strbuf *out, char *const *program)
{
	strbuf_adds(out, " -- ");
	shell_words_add(out, program);
}

static bool next_command_is_dropped(const struct command_option *option, const char *const *dropped)
{
	while (option && *dropped && strcmp(*dropped, option->name) != 0)
		dropped++;
	return option && *dropped;
}

static bool next_command_wants_value(const struct command_option *option)
{
	return option && option->argument && option->value.kind != VALUE_OPTIONAL_TEXT;
}

/* Returns the option of a word "--name" or "--name=value", which argp lets the user abbreviate;
 * NULL if there is none. */
static const struct command_option *next_command_find_long(
	const char *word, const struct command_option *options)
{
	const size_t length = strcspn(word + 2, "=");
	const struct command_option *found = NULL;

	for (const struct command_option *option = options; !option_is_end(option); option++) {
		if (!option->name || strncmp(option->name, word + 2, length) != 0)
			continue;
		if (!option->name[length])
			return option;
		found = found ? found : option;
	}
	return found;
}

static const struct command_option *next_command_find_short(
	char letter, const struct command_option *options)
{
	for (const struct command_option *option = options; !option_is_end(option); option++)
		if (option->letter == letter)
			return option;
	return NULL;
}

/* The command line to print, as a list of words. The struct owns the array and each word. */
struct words {
	char **list;
	size_t count;
};

static void next_command_keep_word(struct words *words, char *word)
{
	ARRAY_APPEND(words->list, words->count, word);
}

static size_t next_command_select_long(struct words *words, char *const *given,
	const struct command_option *options, const char *const *dropped)
{
	const struct command_option *option = next_command_find_long(given[0], options);
	const size_t count = next_command_wants_value(option) && !strchr(given[0], '=') ? 2 : 1;

	for (size_t i = 0; i < count && !next_command_is_dropped(option, dropped); i++)
		next_command_keep_word(words, string_copy(given[i]));
	return count;
}

static size_t next_command_select_short(struct words *words, char *const *given,
	const struct command_option *options, const char *const *dropped)
{
	size_t count = 1;

	for (const char *letter = given[0] + 1; *letter; letter++) {
		const struct command_option *option = next_command_find_short(*letter, options);
		const char *value = NULL;

		if (next_command_wants_value(option)) {
			value = letter[1] ? letter + 1 : given[1];
			count = letter[1] ? 1 : 2;
		}
		if (!next_command_is_dropped(option, dropped)) {
			next_command_keep_word(
				words, string_copy((const char[]){'-', *letter, '\0'}));
			if (value)
				next_command_keep_word(words, string_copy(value));
		}
		if (value)
			break;
	}
	return count;
}

char **next_select_given(char *const *given, char *const *program,
	const struct command_option *options, const char *const *dropped)
{
	struct words words = {0};

	while (given < program && strcmp(*given, "--") != 0)
		given += given[0][0] == '-' && given[0][1] == '-'
				 ? next_command_select_long(&words, given, options, dropped)
				 : next_command_select_short(&words, given, options, dropped);
	next_command_keep_word(&words, NULL);
	return words.list;
}

void next_add_given(struct strbuf *out, char *const *given, char *const *program,
	const struct command_option *options, const char *const *dropped)
{
	char **words = next_select_given(given, program, options, dropped);

	for (size_t i = 0; words[i]; i++)
		next_command_add_word(out, words[i]);
	strings_free(words);
}

void next_add_time(struct strbuf *out, const char *option, uint64_t time_ns)
{
	if (time_ns && time_ns % UINT64_C(1000000000) == 0)
		strbuf_addf(out, " %s %" PRIu64 "s", option, time_ns / UINT64_C(1000000000));
	else if (time_ns)
		strbuf_addf(out, " %s %" PRIu64 "ms", option, time_ns / 1000000);
	else
		strbuf_addf(out, " %s 0", option);
}

static void next_command_add_tolerated(struct strbuf *out, uint32_t tolerated)
{
	const char *before = " --tolerate ";

	for (unsigned kind = 0; kind < OUTCOME_KIND_COUNT; kind++) {
		if (!(tolerated >> kind & 1))
			continue;
		strbuf_addf(out, "%s%s", before, outcome_descriptions[kind].word);
		before = ",";
	}
}

void next_add_settings(struct strbuf *out, const struct settings *settings)
{
	struct settings standard;

	settings_init(&standard);
	if (settings->has_spurious_wakeups)
		strbuf_adds(out, " --spurious-wakeups");
	if (settings->stall_ns == 0 || settings->stall_ns == STALL_ANY)
		strbuf_addf(out, " --stalls %s", settings->stall_ns ? "any" : "never");
	else if (settings->stall_ns != standard.stall_ns)
		next_add_time(out, "--stalls", settings->stall_ns);
	if (settings->memory_model != standard.memory_model)
		strbuf_addf(out, " --memory-model %s", memory_model_words[settings->memory_model]);
	if (settings->weak_limit)
		strbuf_addf(out, " --bounds w=%" PRIu32, settings->weak_limit - 1);
	if (settings->has_forked_children)
		strbuf_adds(out, " --forked-children");
	if (settings->without_virtual_time)
		strbuf_adds(out, " --no-virtual-time");
	if (settings->without_dispatch)
		strbuf_adds(out, " --no-dispatch");
	if (settings->has_fixed_layout)
		strbuf_addf(out, " --layout %" PRIu32, settings->layout);
	if (settings->executor != standard.executor)
		strbuf_adds(out, " --executor kernel");
	if (settings->races.are_failures)
		strbuf_adds(out, " --fail-on race");
	if (settings->races.weak)
		strbuf_adds(out, settings->races.weak == MEMORY_MODEL_TSO ? " --fail-on weak:tso"
									  : " --fail-on weak");
	next_command_add_tolerated(out, settings->tolerated);
	if (settings->skip_status)
		strbuf_addf(out, " --skip-status %" PRIu32, settings->skip_status);
	if (settings->step_limit != standard.step_limit)
		strbuf_addf(out, " --max-steps %" PRIu64, settings->step_limit);
	if (settings->hang_ns != standard.hang_ns)
		next_add_time(out, "--hang-time", settings->hang_ns);
	next_add_option(out, "--stdin", settings->input);
	next_add_option(out, "--check", settings->check);
	settings_release(&standard);
}

/* Adds the strategy that found the finding, or the portfolio's arm, unless it belongs to `raddle
 * predict`. */
static void next_command_add_strategy(struct strbuf *out, const struct finding *finding)
{
	struct strategy_config config;
	struct error err;
	FREE_SCOPED char *name = string_copy(finding->strategy);
	uint32_t index;

	if (!name)
		return;
	name[strcspn(name, ":")] = '\0';
	if (strcmp(name, STRATEGY_STANDARD) != 0 && strcmp(name, "directed") != 0 &&
		strcmp(name, "replay") != 0 && strategy_parse(name, &index, &config, &err) == 0)
		next_add_option(out, "--strategy", name);
}

static void next_command_add_memory(struct strbuf *out, const struct finding *finding)
{
	struct memory_view view;
	struct error err;

	if (!finding->memory || memory_view_from_json(finding->memory, &view, &err) < 0)
		return;
	if (view.mode == MEMORY_NONE || view.mode == MEMORY_ALL)
		next_add_option(out, "--memory", memory_mode_words[view.mode]);
	memory_view_release(&view);
}

void next_add_finding(struct strbuf *out, const struct finding *finding, const char *store)
{
	char here[PATH_MAX] = "";
	struct settings settings;
	struct error err;

	if (finding->directory && getcwd(here, sizeof here) &&
		strcmp(here, finding->directory) != 0)
		next_add_option(out, "--directory", finding->directory);
	if (finding->settings && settings_from_json(finding->settings, &settings, &err) == 0) {
		if (settings.random_seed != 1)
			strbuf_addf(out, " --seed %" PRIu64, settings.random_seed);
		next_add_settings(out, &settings);
		settings_release(&settings);
	}
	next_command_add_strategy(out, finding);
	next_command_add_memory(out, finding);
	next_add_store(out, store);
	next_add_program(out, finding->argv);
}
