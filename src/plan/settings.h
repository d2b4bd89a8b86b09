/*
 * The settings of a run: everything but the schedule that a run depends on and that a replay must
 * therefore repeat. Kept with each finding as JSON.
 */
#ifndef RADDLE_PLAN_SETTINGS_H
#define RADDLE_PLAN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/races.h"
#include "abi/contract.h"
#include "abi/contract_memory.h"

struct settings {
	enum contract_executor executor;
	uint32_t tolerated; /* bit OUTCOME_x */
	uint64_t step_limit;
	uint64_t hang_ns;
	uint64_t random_seed; /* of the random numbers that the target asks the system for */
	bool has_spurious_wakeups;
	bool has_early_timeouts;
	bool has_forked_children; /* raddle also schedules the threads of forked children */
	bool without_dispatch;
	bool without_virtual_time;
	/*
	 * Memory layout of all runs (model/layout.h). For a finding, the schedule holds the layout.
	 */
	uint32_t layout;
	bool has_fixed_layout;	      /* all rounds have the same layout */
	enum memory_mode memory_mode; /* of the campaign; a finding keeps what came of it */
	struct races races;
	char *input; /* file for standard input, NULL: /dev/null. Owned */
	char *check; /* the user's judge, NULL: none. Owned */
};

void settings_init(struct settings *settings);
void settings_release(struct settings *settings);
/* `to` is overwritten without being released. */
void settings_copy(struct settings *to, const struct settings *from);

/* The part that the guest is told; the rest of the plan is left as it is. */
void settings_to_plan(const struct settings *settings, struct contract_plan *plan);

/* To be freed. */
char *settings_to_json(const struct settings *settings);
int settings_from_json(const char *text, struct settings *out, struct error *err);

/* "race": kinds of failure that are none unless asked for. */
int settings_parse_fail_on(const char *words, struct settings *settings, struct error *err);
/* "exit,hang": words of outcomes.def that are failures, added to *tolerated. */
int settings_parse_tolerated(const char *words, uint32_t *tolerated, struct error *err);

#endif
