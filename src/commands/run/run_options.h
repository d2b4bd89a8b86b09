/*
 * Options of raddle run. The rows that raddle test has too are in strategy_options.def and
 * settings_options.def; they store values in a struct run_arguments, which the arguments of both
 * commands begin with.
 */
#pragma once

#include "cli/option.h"

extern const struct command_option run_options[];

/* option_value.read() functions. The second parameter is named after the member that it points to. */
int run_options_read_restart(const char *text, void *options, struct error *err);
int run_options_read_stalls(const char *text, void *limit, struct error *err);
int run_options_read_layout(const char *text, void *settings, struct error *err);
int run_options_read_fail_on(const char *text, void *settings, struct error *err);
int run_options_read_shard(const char *text, void *shard, struct error *err);
