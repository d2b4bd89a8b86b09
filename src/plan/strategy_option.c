#include "plan/strategy_option.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategies/search/bounded.h"
#include "strategies/portfolio.h"
#include "strategies/sampling/rpro.h"

/* Appends to a line, which is cut if it is too long. */
static void strategy_option_line_add(
	char *line, size_t size, const char *separator, const char *word)
{
	const size_t length = strlen(line);

	(void)snprintf(line + length, size - length, "%s%s", length ? separator : "", word);
}

static int strategy_option_unknown_strategy(const char *name, size_t length, struct error *err)
{
	char known[256] = "";

	for (uint32_t i = 0; i < strategy_count; i++)
		strategy_option_line_add(known, sizeof known, ", ", strategies[i]->name);
	return error_set(err, ERROR_USAGE, "there is no strategy '%.*s'; known are %s",
		(int)(length < 64 ? length : 64), name, known);
}

static int strategy_option_unknown_option(
	const struct strategy *strategy, const char *name, size_t length, struct error *err)
{
	char known[256] = "";
	const int shown = (int)(length < 64 ? length : 64);

	for (const struct strategy_option *option = strategy->options; option && option->name;
		option++)
		strategy_option_line_add(known, sizeof known, ", ", option->name);
	if (!known[0])
		return error_set(err, ERROR_USAGE,
			"strategy '%s' has no options, but '%.*s' was given; write only '%s'",
			strategy->name, shown, name, strategy->name);
	return error_set(err, ERROR_USAGE, "strategy '%s' has no option '%.*s'; its options are %s",
		strategy->name, shown, name, known);
}

static int strategy_option_parse_word(const struct strategy *strategy,
	const struct strategy_option *option, const char *text, size_t length, int64_t *value,
	struct error *err)
{
	char known[128] = "";

	for (int64_t i = 0; option->words[i]; i++) {
		if (strlen(option->words[i]) == length &&
			memcmp(option->words[i], text, length) == 0) {
			*value = i;
			return 0;
		}
		strategy_option_line_add(known, sizeof known, ", ", option->words[i]);
	}
	return error_set(err, ERROR_USAGE,
		"option '%s' of strategy '%s' cannot be '%.*s'; give one of %s", option->name,
		strategy->name, (int)(length < 64 ? length : 64), text, known);
}

static bool strategy_option_is_in_range(const struct strategy_option *option, int64_t value)
{
	return value >= option->least && value <= option->most;
}

/* Returns a valid value of the option for an example in a message. */
static int64_t strategy_option_example_of(const struct strategy_option *option)
{
	return strategy_option_is_in_range(option, option->standard) ? option->standard
								     : option->least;
}

static int strategy_option_parse_value(const struct strategy *strategy,
	const struct strategy_option *option, const char *text, size_t length, int64_t *value,
	struct error *err)
{
	char digits[32] = "";
	char *end = digits;
	int64_t number = 0;

	errno = 0;
	if (length && length < sizeof digits) {
		memcpy(digits, text, length);
		number = strtoll(digits, &end, 10);
	}
	if (end == digits || *end || errno || digits[0] == ' ' ||
		!strategy_option_is_in_range(option, number))
		return error_set(err, ERROR_USAGE,
			"option '%s' of strategy '%s' cannot be '%.*s'; give a whole number from %" PRId64
			" to %" PRId64 ", such as %s=%" PRId64,
			option->name, strategy->name, (int)(length < 64 ? length : 64), text,
			option->least, option->most, option->name,
			strategy_option_example_of(option));
	*value = number;
	return 0;
}

static int strategy_option_parse_option(const struct strategy *strategy, const char *text,
	size_t length, struct strategy_config *config, struct error *err)
{
	const char *equals = memchr(text, '=', length);
	const size_t name_length = equals ? (size_t)(equals - text) : length;

	for (uint32_t i = 0; strategy->options && strategy->options[i].name; i++) {
		const struct strategy_option *option = &strategy->options[i];

		if (strlen(option->name) != name_length ||
			memcmp(option->name, text, name_length) != 0)
			continue;
		if (!equals)
			return error_set(err, ERROR_USAGE,
				"option '%s' of strategy '%s' needs a value; write %s=%" PRId64,
				option->name, strategy->name, option->name,
				strategy_option_example_of(option));
		if (option->words)
			return strategy_option_parse_word(strategy, option, equals + 1,
				length - name_length - 1, &config->option[i], err);
		return strategy_option_parse_value(strategy, option, equals + 1,
			length - name_length - 1, &config->option[i], err);
	}
	return strategy_option_unknown_option(strategy, text, name_length, err);
}

/* Returns whether the option at `text` occurs between `first` and `text` as well. */
static bool strategy_option_is_repeated(const char *first, const char *text)
{
	const size_t name_length = strcspn(text, "=,");

	while (first < text) {
		if (strcspn(first, "=,") == name_length && !memcmp(first, text, name_length))
			return true;
		first += strcspn(first, ",") + 1;
	}
	return false;
}

int strategy_parse(
	const char *text, uint32_t *index, struct strategy_config *config, struct error *err)
{
	struct strategy_config parsed = {.thread_capacity = THREAD_CAPACITY};
	size_t length = strcspn(text, ",");
	const struct strategy *strategy = strategy_find(text, length);
	const char *options = text + length + (text[length] == ',');
	uint32_t found = 0;

	if (!strategy)
		return strategy_option_unknown_strategy(text, length, err);
	while (strategies[found] != strategy)
		found++;
	for (uint32_t i = 0; strategy->options && strategy->options[i].name; i++)
		parsed.option[i] = strategy->options[i].standard;
	while (text[length] == ',') {
		int result;

		text += length + 1;
		length = strcspn(text, ",");
		if (strategy_option_is_repeated(options, text))
			return error_set(err, ERROR_USAGE,
				"option '%.*s' of strategy '%s' is given twice; leave one of them out",
				(int)strcspn(text, "=,"), text, strategy->name);
		result = strategy_option_parse_option(strategy, text, length, &parsed, err);
		if (result)
			return result;
	}
	if (strategy->check && strategy->check(&parsed))
		return error_set(err, ERROR_USAGE, "strategy '%s': %s", strategy->name,
			strategy->check(&parsed));
	*index = found;
	*config = parsed;
	return 0;
}

void strategy_format(uint32_t index, const struct strategy_config *config, char *text, size_t size)
{
	const struct strategy *strategy = strategies[index];

	text[0] = '\0';
	strategy_option_line_add(text, size, "", strategy->name);
	for (uint32_t i = 0; strategy->options && strategy->options[i].name; i++) {
		const struct strategy_option *option = &strategy->options[i];
		const int64_t value = config->option[i];
		char written[64];

		/* the option was not given: the strategy decides */
		if (!strategy_option_is_in_range(option, value))
			continue;
		if (option->words)
			(void)snprintf(written, sizeof written, "%s=%s", option->name,
				option->words[value]);
		else
			(void)snprintf(written, sizeof written, "%s=%" PRId64, option->name, value);
		strategy_option_line_add(text, size, ",", written);
	}
}

void strategy_format_run(uint32_t index, const struct strategy_config *config, const void *state,
	char *text, size_t size)
{
	strategy_format(index, config, text, size);
	if (strategies[index] == &strategy_portfolio)
		strategy_option_line_add(text, size, ": ", portfolio_arm_name(state));
	if (strategies[index] == &strategy_bounded) {
		const struct bounded_run run = bounded_last_run(state);
		char written[64];

		(void)snprintf(written, sizeof written, "c=%u,v=%u,t=%u", run.changes,
			run.variables, run.threads);
		strategy_option_line_add(text, size, ": ", written);
	}
	if (strategies[index] == &strategy_rpro && rpro_pair_count(state) > 1) {
		const struct rpro_pair pair = rpro_last_pair(state);
		char written[64];

		(void)snprintf(written, sizeof written, "depth=%u", pair.depth);
		strategy_option_line_add(text, size, ": ", written);
		(void)snprintf(written, sizeof written, "radius=%" PRIu64, pair.radius);
		if (pair.radius)
			strategy_option_line_add(text, size, ",", written);
		strategy_option_line_add(
			text, size, ",", pair.has_many_windows ? "windows=many" : "windows=one");
	}
}

static int64_t strategy_option_value(
	const struct strategy *strategy, const struct strategy_config *config, const char *name)
{
	uint32_t i = 0;

	while (strcmp(strategy->options[i].name, name) != 0)
		i++;
	return config->option[i];
}

bool strategy_remark(uint32_t index, const struct strategy_config *config, const void *state,
	char *text, size_t size)
{
	struct rpro_pair pair;
	uint64_t events;

	if (strategies[index] != &strategy_rpro || !rpro_length(state, RPRO_EVENTS_ALL))
		return false;
	pair = rpro_pair(state, 0);
	events = rpro_length(state, pair.events);
	if (pair.events !=
		(enum rpro_events)strategy_option_value(&strategy_rpro, config, "events"))
		(void)snprintf(text, size,
			"no lock is acquired while threads compete, so rpro counts all operations as events; give --strategy rpro,events=all, or use pct");
	else if (rpro_pair_count(state) == 1 && pair.radius > events)
		(void)snprintf(text, size,
			"radius=%" PRIu64 " is more than the k = %" PRIu64
			" events of a run, so rpro equals pct; give a radius from 1 to %" PRIu64
			", or none",
			pair.radius, events, events);
	else
		return false;
	return true;
}
