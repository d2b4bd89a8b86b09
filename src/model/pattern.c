#include "model/pattern.h"

#include <string.h>

#include "base/hash.h"
#include "model/op.h"

const struct pattern_description pattern_descriptions[PATTERN_KIND_COUNT] = {
#define PATTERN(name, text, kinds, parties, variables, meaning)                                    \
	[PATTERN_##name] = {text, kinds, parties, variables, meaning},
#include "model/patterns.def"
#undef PATTERN
};

uint64_t pattern_key(const struct pattern *pattern)
{
	uint64_t key = pattern->kind;

	for (unsigned i = 0; i < PATTERN_ACCESSES_MAX; i++)
		key = hash_pair(key, pattern->sites[i]);
	for (unsigned i = 0; i < PATTERN_THREADS; i++)
		key = hash_pair(key, pattern->roles[i]);
	for (unsigned i = 0; i < PATTERN_VARIABLES_MAX; i++)
		key = hash_pair(key, pattern->classes[i]);
	return key ? key : 1;
}

unsigned pattern_access_count(const struct pattern *pattern)
{
	return (unsigned)strlen(pattern_descriptions[pattern->kind].kinds);
}

bool pattern_is_write(const struct pattern *pattern, unsigned access)
{
	return pattern_descriptions[pattern->kind].kinds[access] == 'W';
}

unsigned pattern_thread(const struct pattern *pattern, unsigned access)
{
	return (unsigned)(pattern_descriptions[pattern->kind].parties[access] - '1');
}

unsigned pattern_variable(const struct pattern *pattern, unsigned access)
{
	return (unsigned)(pattern_descriptions[pattern->kind].variables[access] - 'x');
}

bool pattern_is_order(const struct pattern *pattern)
{
	return pattern->ops[0] && op_descriptions[pattern->ops[0]].object != OBJECT_MEMORY;
}
