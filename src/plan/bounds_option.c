#include "plan/bounds_option.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plan/strategy_option.h"

/* One bound of `--bounds`: its letter, the option of `bounded`, the smallest value, and the reason
 * for this minimum. */
struct bound {
	char letter;
	bool is_needed;
	const char *option;
	const char *why_not;
};

static const struct bound bounds[] = {
	{'c', true, "preemptions", ""},
	{'v', true, "variables", "leaves no variable at which a thread may be stopped"},
	{'t', true, "threads", "puts no two threads in an order"},
	{'l', false, "loops", "leaves out all that is allocated"},
};

#define BOUND_COUNT (sizeof bounds / sizeof *bounds)
#define WEAK_CHOICES_MOST 1000000
#define EXAMPLE "c=2,v=2,t=3"

static const struct bound *bounds_option_find_bound(char letter)
{
	for (size_t i = 0; i < BOUND_COUNT; i++)
		if (bounds[i].letter == letter)
			return &bounds[i];
	return NULL;
}

static uint32_t bounds_option_index(const struct strategy *strategy, const char *name)
{
	uint32_t i = 0;

	while (strcmp(strategy->options[i].name, name) != 0)
		i++;
	return i;
}

static int bounds_option_parse_bound(const char **text, uint32_t index,
	struct strategy_config *config, uint32_t *given, struct error *err)
{
	const struct strategy *strategy = strategies[index];
	const struct bound *bound = bounds_option_find_bound(**text);
	const struct strategy_option *option;
	const char *start = *text;
	const int length = (int)strcspn(start, ",");
	char *end;
	long value;

	if (!bound || start[1] != '=' || !isdigit((unsigned char)start[2]))
		return error_set(err, ERROR_USAGE,
			"--bounds cannot take '%.*s'; give a number for c (preemptions), v "
			"(variables), t (threads) and, if wanted, l (loops) and w (weak choices), such as " EXAMPLE,
			length, start);
	value = strtol(start + 2, &end, 10);
	if (end != start + length)
		return error_set(err, ERROR_USAGE, "--bounds cannot take '%.*s'; write %c=2",
			length, start, bound->letter);
	if (*given >> (bound - bounds) & 1)
		return error_set(err, ERROR_USAGE, "--bounds has %c twice; leave one of them out",
			bound->letter);
	option = &strategy->options[bounds_option_index(strategy, bound->option)];
	if (value < option->least)
		return error_set(err, ERROR_USAGE, "%c=%ld %s; give %c=%lld or more", bound->letter,
			value, bound->why_not, bound->letter, (long long)option->least);
	if (value > option->most)
		return error_set(err, ERROR_USAGE, "%c=%.*s is too much; %c=%lld is the most",
			bound->letter, length - 2, start + 2, bound->letter,
			(long long)option->most);
	config->option[bounds_option_index(strategy, bound->option)] = value;
	*given |= 1u << (bound - bounds);
	*text = end;
	return 0;
}

/* Parses "w=N". */
static int bounds_option_parse_weak(const char **text, uint32_t *weak_limit, struct error *err)
{
	const int length = (int)strcspn(*text, ",");
	char *end;
	unsigned long value = strtoul(*text + 2, &end, 10);

	if ((*text)[1] != '=' || !isdigit((unsigned char)(*text)[2]) || end != *text + length)
		return error_set(
			err, ERROR_USAGE, "--bounds cannot take '%.*s'; write w=2", length, *text);
	if (value > WEAK_CHOICES_MOST)
		return error_set(err, ERROR_USAGE, "w=%.*s is too much; w=%d is the most",
			length - 2, *text + 2, WEAK_CHOICES_MOST);
	if (*weak_limit)
		return error_set(err, ERROR_USAGE, "--bounds has w twice; leave one of them out");
	*weak_limit = (uint32_t)value + 1;
	*text = end;
	return 0;
}

int bounds_parse(const char *text, uint32_t *index, struct strategy_config *config,
	uint32_t *weak_limit, struct error *err)
{
	struct strategy_config parsed;
	uint32_t found = 0, given = 0, weak = 0;
	int status = strategy_parse("bounded", &found, &parsed, err);

	while (!status && *text) {
		status = *text == 'w'
				 ? bounds_option_parse_weak(&text, &weak, err)
				 : bounds_option_parse_bound(&text, found, &parsed, &given, err);
		text += !status && *text == ',';
	}
	for (size_t i = 0; i < BOUND_COUNT && !status && (given || !weak); i++)
		if (bounds[i].is_needed && !(given >> i & 1))
			status = error_set(err, ERROR_USAGE,
				"--bounds lacks %c; give c, v and t, such as " EXAMPLE,
				bounds[i].letter);
	if (status)
		return status;
	if (weak)
		*weak_limit = weak;
	if (!given && weak)
		return 0;
	*index = found;
	*config = parsed;
	return 0;
}
