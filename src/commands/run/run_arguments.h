/* Arguments of `raddle run` and `raddle test`; run_options.h has the options. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "commands/run/run_folder.h"
#include "explore/campaign.h"

/* A campaign may be divided: this is part `index` (from 1) of `count` parts. Both 0: undivided. */
struct run_shard {
	uint32_t index, count;
};

struct run_arguments {
	struct campaign_options options;
	const char *strategy;	  /* NULL if not given */
	const char *bounds;	  /* NULL if not given */
	const char *suppressions; /* file; NULL if not given */
	const char *memory;	  /* mode; NULL if not given */
	struct run_folder folder;
	/* report of ThreadSanitizer; NULL if not given */
	const char *like;
	/* pattern of the children that are followed; "": all; NULL if not given */
	const char *followed;
	struct run_shard shard;
	bool is_mpi;
	uint64_t silent_ns;
	bool is_json;
	bool is_quiet;
	const char *store;    /* the option's text; NULL if not given */
	char *const *given;   /* arguments of the command up to the program */
	char *const *program; /* points into the same array */
};

/* Checks how options fit together, and reads the file of suppressions. */
int run_arguments_settle(
	struct run_arguments *arguments, struct suppressions *suppressions, struct error *err);
