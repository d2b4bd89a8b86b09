/* What can be told of a compiler's command line without being the compiler. */
#ifndef RADDLE_COMPILER_DRIVER_ARGUMENTS_H
#define RADDLE_COMPILER_DRIVER_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* A command line that grows: copies, ended by NULL. All zero: empty. */
struct arguments {
	char **items;
	size_t count, capacity;
};

void arguments_add(struct arguments *arguments, const char *text);
void arguments_release(struct arguments *arguments);

struct arguments_kind {
	bool compiles; /* some input is source, or may be (-, @file, -x) */
	bool links;    /* neither -c nor -S nor -E nor -M...: objects are linked */
	bool has_inputs;
	bool names_debug;  /* -g0, -g1, -ggdb, ... */
	bool gcs_sections; /* --gc-sections, of a linker that is not named, or GNU ld */
};

struct arguments_kind arguments_classify(char *const *argv);

/* Does the option take the next argument as its value? */
bool arguments_takes_next(const char *option);
/* By its suffix: C, C++, Objective-C, preprocessed. Not assembler. */
bool arguments_is_source(const char *input);

#endif
