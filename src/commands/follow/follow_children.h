/*
 * `raddle run --follow-children`: a program that starts others is run once, natively, and each program of
 * its descendants that makes threads is explored by a `raddle run` of its own, with the same options,
 * where and when it was started. So each finding is one of that program, and replays as its command line.
 */
#ifndef RADDLE_COMMANDS_FOLLOW_FOLLOW_CHILDREN_H
#define RADDLE_COMMANDS_FOLLOW_FOLLOW_CHILDREN_H

#include <stdbool.h>

struct follow_children {
	char *const *options; /* what `raddle run` was given before the program */
	int option_count;
	char *const *argv; /* the program that starts others */
	const char *
		pattern; /* of the programs to be explored, by path or base name; NULL: all but the system's */
	const char *store;
	bool has_input; /* a file as standard input was given, too */
	bool is_json;
	bool is_quiet;
	bool show_output;
};

/* Returns the exit status. */
int follow_children_run(const struct follow_children *follow);

#endif
