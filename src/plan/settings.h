/*
 * The settings of a run: everything except the schedule that determines a run. Each finding stores
 * its settings as JSON, for a replay.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/races.h"
#include "abi/contract.h"
#include "abi/contract_memory.h"

struct settings {
	enum contract_executor executor;
	uint32_t tolerated;   /* bits OUTCOME_x of outcomes that are no failures */
	uint32_t skip_status; /* exit status of a run that does not apply, no failure; 0: none */
	uint64_t step_limit;
	uint64_t hang_ns;
	uint64_t random_seed; /* seed of the random numbers that the system gives to the target */
	bool has_spurious_wakeups;
	uint64_t stall_ns; /* limit of the stalls of a run (model/stall.h) */
	/* of the runs of unmodified binaries; the schedule of a finding says whether it has them */
	enum interruption_points interruption_points;
	enum memory_model memory_model;
	uint32_t weak_limit;	  /* as in engine_run */
	bool has_forked_children; /* raddle also schedules the threads of forked children */
	bool without_dispatch;
	bool without_virtual_time;
	/* waiting loops repeat their reads instead of blocking, for `raddle branches`:
	 * docs/decisions/0032-waiting-loops.md */
	bool repeats_waits;
	/* Layout of all runs (model/memory/layout.h). The schedule of a finding holds the finding's
	 * layout. */
	uint32_t layout;
	bool has_fixed_layout; /* all rounds have the same layout */
	/* mode of the campaign; a finding stores the resulting view of memory */
	enum memory_mode memory_mode;
	struct races races;
	char *input; /* file for standard input, NULL means /dev/null. Owned */
	char *check; /* the user's judge, NULL if none. Owned */
};

/* "sc", "tso", "c11". memory_model_parse() returns false for an unknown word. */
extern const char *const memory_model_words[MEMORY_MODEL_COUNT];
/* The same as names in sentences: "TSO", "C11". */
extern const char *const memory_model_titles[MEMORY_MODEL_COUNT];
/* " under TSO", " under C11"; empty for sequential consistency, the default. */
const char *memory_model_phrase(enum memory_model model);
bool memory_model_parse(const char *word, enum memory_model *out);

void settings_init(struct settings *settings);
void settings_release(struct settings *settings);
/* Overwrites `to` without releasing it. */
void settings_copy(struct settings *to, const struct settings *from);

/* Writes the settings into the plan; the other fields of the plan stay unchanged. */
void settings_to_plan(const struct settings *settings, struct contract_plan *plan);

/* The caller frees the text. */
char *settings_to_json(const struct settings *settings);
int settings_from_json(const char *text, struct settings *out, struct error *err);

/* Parses the option --fail-on: kinds of failures that count only on request. */
int settings_parse_fail_on(const char *words, struct settings *settings, struct error *err);
/* Adds words of outcomes.def ("exit,hang") to *tolerated. Returns a negative error for an unknown
 * word, and changes nothing then. */
int settings_parse_tolerated(const char *words, uint32_t *tolerated, struct error *err);
