/* Classifies a compiler's command line without implementing the compiler. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A growing command line. It owns copies of its items and ends with NULL. All zero: empty. */
struct arguments {
	char **items;
	size_t count;
};

void arguments_add(struct arguments *arguments, const char *text);
void arguments_release(struct arguments *arguments);

struct arguments_kind {
	bool compiles; /* some input is source code, or may be (-, @file, -x) */
	bool links;    /* without -c, -S, -E, -M...: the command links objects */
	bool has_inputs;
	bool names_debug;  /* -g0, -g1, -ggdb, ... */
	bool gcs_sections; /* --gc-sections, and the linker is the default or GNU ld */
};

/* Classifies a compiler's arguments, without its name; argv ends with NULL. */
struct arguments_kind arguments_classify(char *const *argv);

/* Returns whether the option takes the next argument as its value. */
bool arguments_takes_next(const char *option);
