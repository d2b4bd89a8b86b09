#include "findings/suppressions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"

static const struct {
	const char *word;
	enum suppression_type type;
} types[] = {
	{"race", SUPPRESS_RACE},
	{"race_top", SUPPRESS_RACE_TOP},
	{"called_from_lib", SUPPRESS_CALLED_FROM},
	{"mutex", SUPPRESS_NOTHING},
	{"thread", SUPPRESS_NOTHING},
	{"signal", SUPPRESS_NOTHING},
	{"deadlock", SUPPRESS_NOTHING},
};

static bool suppressions_parse_type(const char *word, size_t length, enum suppression_type *out)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].word) == length && !memcmp(types[i].word, word, length)) {
			*out = types[i].type;
			return true;
		}
	return false;
}

static bool suppressions_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void suppressions_add(struct suppressions *suppressions, enum suppression_type type,
	const char *pattern, size_t length)
{
	struct suppression *list = array_resize(
		suppressions->list, suppressions->count + (size_t)1, sizeof *suppressions->list);

	suppressions->list = list;
	list[suppressions->count] = (struct suppression){
		.type = (uint8_t)type, .pattern = string_copy_part(pattern, length)};
	suppressions->count++;
	suppressions->without_effect += type == SUPPRESS_NOTHING;
}

/* Parses one line, without its end. Returns NULL, or a message with the remedy. */
static const char *suppressions_parse_line(
	struct suppressions *suppressions, const char *line, size_t length)
{
	enum suppression_type type = SUPPRESS_NOTHING;
	const char *colon;

	while (length && suppressions_is_blank(line[length - 1]))
		length--;
	while (length && suppressions_is_blank(*line))
		line++, length--;
	if (!length || *line == '#')
		return NULL;
	if (memchr(line, '\0', length))
		return "holds a zero byte; give a text file";
	colon = memchr(line, ':', length);
	if (!colon)
		return "has no colon; write TYPE:PATTERN, such as race:function";
	if (!suppressions_parse_type(line, (size_t)(colon - line), &type))
		return "is of no known type; there are race, race_top, called_from_lib, mutex, thread, signal, deadlock";
	length -= (size_t)(colon + 1 - line);
	if (!length)
		return "has no pattern; write TYPE:PATTERN, such as race:function";
	suppressions_add(suppressions, type, colon + 1, length);
	return NULL;
}

int suppressions_parse(struct suppressions *out, const char *text, size_t size, const char *name,
	struct error *err)
{
	struct suppressions read = {0};
	const char *end = text + size;
	unsigned number = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;
		const char *cause = suppressions_parse_line(&read, text, (size_t)(line_end - text));

		number++;
		if (cause) {
			suppressions_release(&read);
			return error_set(err, ERROR_USAGE, "line %u of the suppressions %s %s",
				number, name, cause);
		}
		text = newline ? newline + 1 : end;
	}
	*out = read;
	return 0;
}

void suppressions_release(struct suppressions *suppressions)
{
	for (uint32_t i = 0; i < suppressions->count; i++)
		free(suppressions->list[i].pattern);
	free(suppressions->list);
	*suppressions = (struct suppressions){0};
}

/* Does the pattern match the whole name? Backtracks to the last * only, which suffices. */
static bool suppressions_fits(const char *pattern, const char *end, const char *name)
{
	const char *star = NULL;
	const char *tried = NULL;

	for (;;) {
		if (pattern < end && *pattern == '*') {
			star = pattern++;
			tried = name;
		} else if (*name && pattern < end && *pattern == *name) {
			pattern++;
			name++;
		} else if (!*name && pattern == end) {
			return true;
		} else {
			if (!star || !*tried)
				return false;
			pattern = star + 1;
			name = ++tried;
		}
	}
}

bool suppression_pattern_matches(const char *pattern, const char *name)
{
	const char *end = pattern + strlen(pattern);
	bool is_from_start = *pattern == '^';
	bool is_to_end = end > pattern && end[-1] == '$';
	FREE_SCOPED char *whole = NULL;
	size_t length;

	pattern += is_from_start;
	if (is_to_end && end > pattern)
		end--;
	length = (size_t)(end - pattern);
	/* A pattern without anchors matches a part of the name, as if between two stars. */
	whole = array_new(length + 2, 1);
	memcpy(whole + 1, pattern, length);
	whole[0] = whole[length + 1] = '*';
	return suppressions_fits(whole + is_from_start, whole + length + 2 - is_to_end, name);
}

static bool suppressions_frame_matches(const struct finding_frame *frame, const char *pattern)
{
	return (frame->function && suppression_pattern_matches(pattern, frame->function)) ||
	       (frame->file && suppression_pattern_matches(pattern, frame->file)) ||
	       (frame->module && suppression_pattern_matches(pattern, frame->module));
}

static bool suppressions_stack_matches(
	const struct finding_stack *stack, const char *pattern, bool is_innermost_only)
{
	uint32_t count = is_innermost_only && stack->count ? 1 : stack->count;

	for (uint32_t i = 0; i < count; i++)
		if (suppressions_frame_matches(&stack->frames[i], pattern))
			return true;
	return false;
}

/* Compares the name without the location of its declaration: "counter" of "counter (racy.c:3)". */
static bool suppressions_variable_matches(const char *variable, const char *pattern)
{
	const char *location = variable ? strstr(variable, " (") : NULL;
	char *name = variable ? strndup(variable,
					location ? (size_t)(location - variable) : strlen(variable))
			      : NULL;
	bool result = name && suppression_pattern_matches(pattern, name);

	free(name);
	return result;
}

static bool suppressions_suppression_matches(
	const struct suppression *suppression, const struct finding *finding)
{
	const char *pattern = suppression->pattern;

	for (unsigned i = 0; i < FINDING_ACCESSES; i++) {
		const struct finding_stack *stack = &finding->race[i].at;

		switch ((enum suppression_type)suppression->type) {
		case SUPPRESS_RACE:
			if (suppressions_stack_matches(stack, pattern, false))
				return true;
			break;
		case SUPPRESS_RACE_TOP:
			if (suppressions_stack_matches(stack, pattern, true))
				return true;
			break;
		case SUPPRESS_CALLED_FROM:
			if (stack->count && stack->frames[0].module &&
				suppression_pattern_matches(pattern, stack->frames[0].module))
				return true;
			break;
		case SUPPRESS_NOTHING:
			return false;
		}
	}
	return suppression->type == SUPPRESS_RACE &&
	       suppressions_variable_matches(finding->variable, pattern);
}

bool suppressions_match(const struct suppressions *suppressions, const struct finding *finding)
{
	if (!finding->race[FINDING_LATER].thread)
		return false;
	for (uint32_t i = 0; i < suppressions->count; i++)
		if (suppressions_suppression_matches(&suppressions->list[i], finding))
			return true;
	return false;
}
