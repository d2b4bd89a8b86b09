/*
 * How runs are started again, from the fastest way to the most faithful one, and what to do when
 * one of them cannot be used for a program.
 */
#ifndef RADDLE_PLAN_RESTART_H
#define RADDLE_PLAN_RESTART_H

#include <stdbool.h>

#include "abi/contract.h"

struct restart_description {
	const char *word;     /* "rewind", as --restart takes it */
	const char *sentence; /* what it does */
	unsigned cost_ns;     /* per run of a small program, as measured: for saying what is lost */
};

extern const struct restart_description restart_descriptions[RESTART_COUNT];
extern const char *const executor_words[EXECUTOR_COUNT];

/* False when there is no restart or executor of that name. */
bool restart_parse(const char *word, enum contract_restart *out);
bool executor_parse(const char *word, enum contract_executor *out);

/* The next more faithful restart that `executor` can do; RESTART_COUNT: there is none. */
enum contract_restart restart_next(enum contract_restart restart, enum contract_executor executor);
/* The fastest restart of an executor: kernel threads can be carried over neither fork nor rewind. */
enum contract_restart restart_fastest(enum contract_executor executor);

#endif
