/* Arguments of `raddle run` and of other commands that make campaigns, and their parser. */
#pragma once

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "commands/run/run_place.h"
#include "explore/campaign.h"

struct run_arguments {
	struct campaign_options options;
	const char *strategy;	  /* NULL if not given */
	const char *bounds;	  /* NULL if not given */
	const char *suppressions; /* file; NULL if not given */
	bool has_memory_mode;	  /* the user chose a mode */
	struct run_place place;
	bool follows_children;
	const char *followed; /* pattern of the children; NULL if not given */
	bool is_mpi;
	uint64_t silent_ns;
	bool is_json;
	bool is_quiet;
	const char *store;    /* the option's text; NULL if not given */
	char *const *given;   /* arguments of the command up to the program */
	char *const *program; /* points into the same array */
};

/* Stores an option in state->input, whose first member is a struct run_arguments. `options` is the
 * command's table. */
error_t run_arguments_parse(
	int key, char *text, struct argp_state *state, const struct argp_option *options);
/* Parses I/N, the I-th of N parts. */
void run_arguments_parse_shard(
	struct argp_state *state, const char *text, uint32_t *shard, uint32_t *shards);

/* Checks how options fit together, and reads the file of suppressions. */
int run_arguments_settle(
	struct run_arguments *arguments, struct suppressions *suppressions, struct error *err);
