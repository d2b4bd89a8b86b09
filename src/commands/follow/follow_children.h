/*
 * `raddle run --follow-children`: runs a program that starts others once, natively. A `raddle run`
 * of its own explores each descendant program that creates threads. This run has the same options,
 * and the place and time of the descendant's start. A finding therefore belongs to that program and
 * replays with its command line.
 */
#ifndef RADDLE_COMMANDS_FOLLOW_FOLLOW_CHILDREN_H
#define RADDLE_COMMANDS_FOLLOW_FOLLOW_CHILDREN_H

#include <stdbool.h>

struct follow_children {
	char *const *options; /* options of `raddle run` before the program */
	int option_count;
	char *const *argv; /* the program that starts others */
	const char *
		pattern; /* programs to explore, by path or base name; NULL: all except those of the system */
	const char *store;
	bool has_input; /* the user also gave a file as standard input */
	bool is_json;
	bool is_quiet;
	bool show_output;
};

/* Returns the exit status of the command. */
int follow_children_run(const struct follow_children *follow);

#endif
