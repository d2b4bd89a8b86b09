#include <string.h>

#include "detectors/patterns_internal.h"

static void patterns_fill(struct patterns_state *state, struct pattern *pattern,
	enum pattern_kind kind, const struct patterns_part *parts)
{
	const struct pattern_description *description = &pattern_descriptions[kind];

	memset(pattern, 0, sizeof *pattern);
	pattern->kind = (uint8_t)kind;
	for (unsigned i = 0; description->kinds[i]; i++) {
		const unsigned party = (unsigned)(description->parties[i] - '1');
		const unsigned variable = (unsigned)(description->variables[i] - 'x');
		const uint16_t thread = parts[i].access->thread;

		pattern->sites[i] = parts[i].access->site;
		pattern->steps[i] = parts[i].access->step;
		pattern->ops[i] = parts[i].access->op;
		pattern->threads[party] = thread;
		pattern->roles[party] = state->threads[thread].role;
		pattern->names[party] = state->threads[thread].name;
		pattern->classes[variable] = parts[i].variable->class;
		pattern->addresses[variable] = parts[i].variable->address;
		pattern->objects[variable] = parts[i].variable->name;
	}
	pattern->times = 1;
	pattern->key = pattern_key(pattern);
}

/* Returns a cheap hash that is equal for equal pattern keys. Most patterns occur many times in a
 * run. */
static uint64_t patterns_quick(const struct patterns_state *state, enum pattern_kind kind,
	const struct patterns_part *parts)
{
	const unsigned count = kind == PATTERN_R	 ? 1
			       : kind < PATTERN_RWR	 ? 2
			       : kind < PATTERN_WxWxWyWy ? 3
							 : 4;
	uint64_t quick = kind;

	for (unsigned i = 0; i < count; i++) {
		const uint64_t part = parts[i].access->site ^
				      (uint64_t)parts[i].variable->class << 32 ^
				      state->threads[parts[i].access->thread].role << 20;

		quick = (quick ^ part) * UINT64_C(0x9e3779b97f4a7c15);
		quick ^= quick >> 32;
	}
	return quick;
}

void patterns_keep(
	struct patterns_state *state, enum pattern_kind kind, const struct patterns_part *parts)
{
	const uint64_t quick = patterns_quick(state, kind, parts);
	uint32_t slot = (uint32_t)(quick % PATTERNS_KEPT_SLOTS);

	while (state->kept_slots[slot].generation == state->generation) {
		if (state->kept_slots[slot].quick == quick) {
			state->kept[state->kept_slots[slot].index].times++;
			return;
		}
		slot = (slot + 1) % PATTERNS_KEPT_SLOTS;
	}
	if (state->kept_count >= PATTERNS_KEPT_MAX) {
		state->patterns_dropped++;
		return;
	}
	state->kept_slots[slot].quick = quick;
	state->kept_slots[slot].generation = state->generation;
	state->kept_slots[slot].index = state->kept_count;
	state->kept_variables[state->kept_count] = parts[0].variable->index;
	patterns_fill(state, &state->kept[state->kept_count++], kind, parts);
}

void patterns_configure(void *block, uint32_t window)
{
	struct patterns_state *state = block;

	state->window = window;
}

void patterns_include_orders(void *block, bool has_orders)
{
	struct patterns_state *state = block;

	state->has_orders = has_orders;
}

bool patterns_includes_orders(const void *block)
{
	return ((const struct patterns_state *)block)->has_orders;
}

uint32_t patterns_of_run(void *block, const struct pattern **patterns)
{
	struct patterns_state *state = block;
	/* Clamps every index, because the target may have overwritten its memory with the state. */
	const uint32_t count =
		state->kept_count < PATTERNS_KEPT_MAX ? state->kept_count : PATTERNS_KEPT_MAX;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t index = state->kept_variables[i] % PATTERNS_VARIABLES_MAX;

		state->kept[i].kind %= PATTERN_KIND_COUNT;
		state->kept[i].is_followed = state->kept[i].kind == PATTERN_R &&
					     state->variables[index].since_write != UINT32_MAX;
	}
	*patterns = state->kept;
	return count;
}

uint64_t patterns_accesses_dropped(const void *block)
{
	return ((const struct patterns_state *)block)->accesses_dropped;
}

uint64_t patterns_dropped(const void *block)
{
	return ((const struct patterns_state *)block)->patterns_dropped;
}
