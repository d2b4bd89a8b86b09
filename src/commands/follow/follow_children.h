/*
 * `raddle run --follow-children`: runs a program that starts others once, natively. Each descendant
 * that creates threads is explored by a `raddle run` with the same options, at the location and time
 * of its start. A descendant that creates threads after a fork without exec is explored by its
 * program, whose runs begin at the fork. A finding replays with the descendant's command line.
 */
#pragma once

#include <stdbool.h>

struct follow_children {
	/* options of each `raddle run`, in the user's folder; ends with NULL */
	char *const *options;
	char *const *argv;  /* the program that starts others */
	const char *origin; /* the user's folder; NULL: the current one */
	const char *
		/*
		 * programs to explore, by path or base name; NULL means all except those of the
		 * system
		 */
		pattern;
	bool is_script;	    /* the program is a script: its process runs an interpreter */
	const char *store;  /* as the user gave it; NULL: the user gave none */
	const char *folder; /* the store's, relative to the current one */
	bool has_input;	    /* the user also gave a file as standard input */
	bool is_json;
	bool is_quiet;
	bool show_output;
};

int follow_children_run(const struct follow_children *follow);
