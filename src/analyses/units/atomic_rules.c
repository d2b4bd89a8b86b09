#include "analyses/units/atomic_rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"

#define WORDS_MAX 64
#define LINE_MOST 4096

static const char *const verbs[ATOMIC_VERBS] = {"unit", "no-unit", "set", "no-set"};

void atomic_rules_release(struct atomic_rules *rules)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		struct atomic_rule *rule = &rules->items[i];

		for (uint32_t part = 0; part < rule->part_count; part++)
			free(rule->parts[part]);
		free(rule->parts);
		free(rule->name);
		free(rule->source);
	}
	free(rules->items);
	*rules = (struct atomic_rules){0};
}

static void atomic_rules_append(struct atomic_rules *rules, enum atomic_verb verb, char **words,
	uint32_t count, const char *source)
{
	const bool has_name = verb != ATOMIC_NO_SET;
	struct atomic_rule rule = {.verb = verb,
		.name = has_name ? string_copy(words[1]) : NULL,
		.source = string_copy(source)};

	words += 1 + has_name;
	count -= 1 + has_name;
	rule.parts = array_new(count + 1u, sizeof *rule.parts);
	while (rule.part_count < count) {
		rule.parts[rule.part_count] = string_copy(words[rule.part_count]);
		rule.part_count++;
	}
	ARRAY_APPEND(rules->items, rules->count, rule);
}

int atomic_rules_add(
	struct atomic_rules *rules, const char *line, const char *source, struct error *err)
{
	static const uint32_t least[ATOMIC_VERBS] = {2, 2, 3, 2};
	static const uint32_t most[ATOMIC_VERBS] = {2, 2, WORDS_MAX, 2};
	char text[LINE_MOST], *words[WORDS_MAX], *next = NULL;
	uint32_t count = 0;
	enum atomic_verb verb = ATOMIC_UNIT;

	if (snprintf(text, sizeof text, "%s", line) >= (int)sizeof text)
		return error_set(
			err, ERROR_FORMAT, "%s: the line is too long; split the set", source);
	text[strcspn(text, "#\n")] = '\0';
	for (char *word = strtok_r(text, " \t\r", &next); word && count < WORDS_MAX;
		word = strtok_r(NULL, " \t\r", &next))
		words[count++] = word;
	if (!count)
		return 0;
	while (verb < ATOMIC_VERBS && strcmp(words[0], verbs[verb]) != 0)
		verb++;
	if (verb == ATOMIC_VERBS)
		return error_set(err, ERROR_FORMAT,
			"%s: %s is no annotation; a line begins with unit, no-unit, set or no-set",
			source, words[0]);
	if (count < least[verb] || count > most[verb])
		return error_set(err, ERROR_FORMAT, "%s: %s wants %s", source, words[0],
			verb == ATOMIC_SET ? "a name and the parts of the set: set NAME PART..."
			: verb == ATOMIC_NO_SET ? "one struct, field or variable"
						: "one function");
	atomic_rules_append(rules, verb, words, count, source);
	return 0;
}

int atomic_rules_read(struct atomic_rules *rules, const char *path, struct error *err)
{
	char *line = NULL, source[512];
	size_t capacity = 0;
	unsigned number = 0;
	int result = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return error_set(err, ERROR_NOTFOUND,
			"--atomic-sets %s cannot be opened (%s); check the path", path,
			strerror(errno));
	while (result == 0 && getline(&line, &capacity, file) >= 0) {
		(void)snprintf(source, sizeof source, "%s:%u", path, ++number);
		result = atomic_rules_add(rules, line, source, err);
	}
	free(line);
	(void)fclose(file); /* opened for reading only */
	return result;
}

static const char *atomic_rules_without_word(const char *name)
{
	static const char *const words[] = {"struct ", "class ", "union "};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			return name + strlen(words[i]);
	return name;
}

/* Returns the end of the struct's name in "bank::account.checking". */
static size_t atomic_rules_struct_length(const char *part)
{
	const char *dot = strchr(part, '.');

	return dot ? (size_t)(dot - part) : strlen(part);
}

int atomic_rules_check(const struct atomic_rules *rules, struct symbols *symbols, struct error *err)
{
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct atomic_rule *rule = &rules->items[i];

		if (rule->verb <= ATOMIC_NO_UNIT && !symbols_has_function(symbols, rule->name))
			return error_set(err, ERROR_NOTFOUND,
				"%s: the program has no function %s; give its name as raddle predict --show-sets prints it",
				rule->source, rule->name);
		for (uint32_t part = 0; part < rule->part_count; part++)
			if (!symbols_has_part(symbols, rule->parts[part]))
				return error_set(err, ERROR_NOTFOUND,
					"%s: the program has no struct, field or static variable %s; "
					"give its name as raddle predict --show-sets prints it",
					rule->source, rule->parts[part]);
	}
	return 0;
}

enum atomic_verdict atomic_rules_unit(const struct atomic_rules *rules, const char *function)
{
	enum atomic_verdict verdict = ATOMIC_UNSAID;

	for (uint32_t i = 0; i < rules->count; i++) {
		const struct atomic_rule *rule = &rules->items[i];

		if (rule->verb <= ATOMIC_NO_UNIT && strcmp(rule->name, function) == 0)
			verdict = rule->verb == ATOMIC_UNIT ? ATOMIC_YES : ATOMIC_NO;
	}
	return verdict;
}

static bool atomic_rules_means_location(const char *field, const char *location)
{
	const size_t length = strlen(field);

	if (*location == '.')
		location++;
	return strncmp(location, field, length) == 0 &&
	       (location[length] == '\0' || strchr(".[+", location[length]));
}

static bool atomic_rules_means_inner_location(const char *field, const char *location)
{
	const size_t length = strlen(field), all = strlen(location);

	return all > length && location[all - length - 1] == '.' &&
	       strcmp(location + all - length, field) == 0;
}

static bool atomic_rules_means_part(const char *name, const struct symbols_part *part)
{
	const size_t length = atomic_rules_struct_length(name);

	if (part->variable && strcmp(name, part->variable) == 0)
		return true;
	for (uint32_t i = 0; i < part->type_count; i++) {
		const char *type = atomic_rules_without_word(part->types[i]);

		if (strlen(type) != length ||
			strncmp(type, atomic_rules_without_word(name), length) != 0)
			continue;
		if (!name[length])
			return true;
		return atomic_rules_means_location(name + length + 1, part->location) ||
		       (i && atomic_rules_means_inner_location(name + length + 1, part->location));
	}
	return false;
}

const struct atomic_rule *atomic_rules_part(
	const struct atomic_rules *rules, const struct symbols_part *part)
{
	const struct atomic_rule *found = NULL;

	for (uint32_t i = 0; i < rules->count; i++)
		for (uint32_t name = 0; name < rules->items[i].part_count; name++)
			if (atomic_rules_means_part(rules->items[i].parts[name], part))
				found = &rules->items[i];
	return found;
}

bool atomic_rule_is_of_objects(const struct atomic_rule *rule)
{
	const size_t length = atomic_rules_struct_length(rule->parts[0]);

	for (uint32_t i = 0; i < rule->part_count; i++)
		if (atomic_rules_struct_length(rule->parts[i]) != length ||
			!rule->parts[i][length] ||
			strncmp(rule->parts[i], rule->parts[0], length) != 0)
			return false;
	return true;
}
