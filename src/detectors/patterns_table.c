/* The patterns of a run, each kept once: a table that is cleared by its generation. */
#include <string.h>

#include "base/hash.h"
#include "detectors/patterns_internal.h"

static uint32_t patterns_limit_of(const struct patterns_state *state)
{
	return state->limit && state->limit < PATTERNS_KEPT_MAX ? state->limit : PATTERNS_KEPT_MAX;
}

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
		pattern->threads[party] = thread;
		pattern->roles[party] = state->threads[thread].role;
		pattern->classes[variable] = parts[i].variable->class;
		pattern->addresses[variable] = parts[i].variable->address;
		pattern->objects[variable] = parts[i].variable->name;
	}
	pattern->times = 1;
	pattern->key = pattern_key(pattern);
}

void patterns_keep(
	struct patterns_state *state, enum pattern_kind kind, const struct patterns_part *parts)
{
	struct pattern found;
	uint32_t slot;

	patterns_fill(state, &found, kind, parts);
	slot = (uint32_t)(found.key % PATTERNS_KEPT_SLOTS);
	while (state->kept_slots[slot].generation == state->generation) {
		struct pattern *kept = &state->kept[state->kept_slots[slot].index];

		if (kept->key == found.key) {
			kept->times++;
			return;
		}
		slot = (slot + 1) % PATTERNS_KEPT_SLOTS;
	}
	if (state->kept_count >= patterns_limit_of(state)) {
		state->patterns_dropped++;
		return;
	}
	state->kept_slots[slot].generation = state->generation;
	state->kept_slots[slot].index = state->kept_count;
	state->kept[state->kept_count++] = found;
}

/* ---- the host ---- */

void patterns_configure(void *block, uint32_t window)
{
	struct patterns_state *state = block;

	state->window = window;
}

void patterns_limit(void *block, uint32_t kept)
{
	struct patterns_state *state = block;

	state->limit = kept;
}

uint32_t patterns_of_run(const void *block, const struct pattern **patterns)
{
	const struct patterns_state *state = block;

	*patterns = state->kept;
	return state->kept_count < PATTERNS_KEPT_MAX ? state->kept_count : PATTERNS_KEPT_MAX;
}

uint64_t patterns_accesses_dropped(const void *block)
{
	return ((const struct patterns_state *)block)->accesses_dropped;
}

uint64_t patterns_dropped(const void *block)
{
	return ((const struct patterns_state *)block)->patterns_dropped;
}
