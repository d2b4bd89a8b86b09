/*
 * The restarts, from the fastest to the most faithful, and the order in which a campaign falls
 * back.
 */
#pragma once

#include <stdbool.h>

#include "abi/contract.h"

struct restart_description {
	const char *word;     /* "rewind", as --restart takes it */
	const char *sentence; /* description of the restart, for messages */
	/* measured cost per run of a small program: shown to the user as the cost of a fall-back */
	unsigned cost_ns;
};

extern const struct restart_description restart_descriptions[RESTART_COUNT];
extern const char *const executor_words[EXECUTOR_COUNT];

/* Returns false when no restart or executor has that name. */
bool restart_parse(const char *word, enum contract_restart *out);
bool executor_parse(const char *word, enum contract_executor *out);

/* Returns the next more faithful restart that `executor` supports; RESTART_COUNT: none. */
enum contract_restart restart_next(enum contract_restart restart, enum contract_executor executor);
/* Returns the fastest restart for the executor. Neither rewind nor a fork at the first creation
 * preserves kernel threads. */
enum contract_restart restart_fastest(enum contract_executor executor);
