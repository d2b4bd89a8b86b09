#include "plan/races.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "detectors/detector.h"
#include "detectors/weak.h"

void races_copy(struct races *to, const struct races *from)
{
	*to = *from;
	to->ignored = NULL;
	to->ignored_count = 0;
	for (uint32_t i = 0; i < from->ignored_count; i++)
		(void)races_ignore(to, from->ignored[i]); /* fits, as in `from` */
}

void races_release(struct races *races)
{
	free(races->ignored);
	*races = (struct races){0};
}

static void *races_state_of(struct contract *contract, enum detector_index index)
{
	return detectors_state(contract_area(contract, contract->detectors_offset), index);
}

static void *races_state(struct contract *contract)
{
	return races_state_of(contract, DETECTOR_race);
}

uint64_t races_state_bytes(const struct races *races)
{
	return races->are_failures || races->weak ? detectors_bytes() : 0;
}

void races_apply(const struct races *races, struct contract *contract)
{
	if (!races->are_failures && !races->weak)
		return;
	contract->plan.detectors |= 1u << (races->weak ? DETECTOR_weak : DETECTOR_race);
	for (uint32_t i = 0; i < races->ignored_count; i++)
		BUG_ON(!races_ignore_in_guest(contract, races->ignored[i]));
}

void races_watch(struct contract *contract)
{
	contract->plan.detectors |= 1u << DETECTOR_race;
	contract->plan.watches_races = true;
	race_watch(races_state(contract));
}

bool races_ignore(struct races *races, struct race_pair pair)
{
	if (races->ignored_count == RACE_IGNORED_MAX)
		return false;
	ARRAY_APPEND(races->ignored, races->ignored_count, pair);
	return true;
}

bool races_ignore_in_guest(struct contract *contract, struct race_pair pair)
{
	if (contract->plan.detectors >> DETECTOR_weak & 1)
		return weak_ignore(races_state_of(contract, DETECTOR_weak), pair);
	return race_ignore(races_state(contract), pair);
}

struct races_count races_counted(struct contract *contract)
{
	if (!(contract->plan.detectors >> DETECTOR_race & 1))
		return (struct races_count){0};
	return (struct races_count){
		.ignored = race_ignored_count(races_state(contract)),
		.blind_runs = race_blind_runs(races_state(contract)),
	};
}

/* ---- JSON: {"ignored": [["0x401136", "0x40115a"], ...], "weak": 2} ---- */

static json_t *races_address_to_json(uint64_t address)
{
	char text[24];

	(void)snprintf(text, sizeof text, "0x%" PRIx64, address); /* 18 digits */
	return json_string(text);
}

json_t *races_to_json(const struct races *races)
{
	json_t *pairs;

	if (!races->are_failures && !races->weak)
		return NULL;
	pairs = json_array();
	for (uint32_t i = 0; i < races->ignored_count; i++)
		BUG_ON(json_array_append_new(
			pairs, json_pack("[o, o]", races_address_to_json(races->ignored[i].site),
				       races_address_to_json(races->ignored[i].other))));
	return json_pack("{s:o, s:o*}", "ignored", pairs, "weak",
		races->weak ? json_integer(races->weak) : NULL);
}

static bool races_address_from_json(const json_t *value, uint64_t *out)
{
	const char *text = json_string_value(value);
	char *end;

	if (!text || strncmp(text, "0x", 2) != 0 || !text[2])
		return false;
	errno = 0;
	*out = strtoull(text + 2, &end, 16);
	return !*end && !errno;
}

static int races_damaged(struct error *err)
{
	return error_set(err, ERROR_FORMAT,
		"the finding's settings are damaged (races); find it again with raddle run");
}

int races_from_json(const json_t *value, struct races *out, struct error *err)
{
	const json_t *pairs = json_object_get(value, "ignored");
	const json_int_t weak = json_integer_value(json_object_get(value, "weak"));
	struct races races = {.are_failures = value && !weak, .weak = (enum memory_model)weak};
	struct race_pair pair;

	if (weak < 0 || weak >= MEMORY_MODEL_COUNT)
		return races_damaged(err);
	for (size_t i = 0; i < json_array_size(pairs); i++) {
		const json_t *sites = json_array_get(pairs, i);

		if (json_array_size(sites) == 2 &&
			races_address_from_json(json_array_get(sites, 0), &pair.site) &&
			races_address_from_json(json_array_get(sites, 1), &pair.other) &&
			races_ignore(&races, pair))
			continue;
		races_release(&races);
		return races_damaged(err);
	}
	*out = races;
	return 0;
}
