/* Finds the cases of a program: from a file, from the output of a command, or by its framework. */
#pragma once

#include <stdbool.h>

#include "commands/follow/follow_script.h"
#include "commands/test/suite/test_framework.h"

struct test_listing {
	char *const *argv;		    /* the program with its arguments */
	const char *file;		    /* --list; NULL: none */
	const char *command;		    /* --list-command; NULL: none */
	const char *arguments;		    /* --case-args; NULL: none */
	const char *framework;		    /* --framework; NULL: detected */
	const struct test_framework *found; /* set by test_listing_read(); NULL: none is used */
	bool is_one_case; /* the whole program is the only case; set by test_listing_read() */
	/* Replaces a script; set by test_listing_read(), released by the caller. */
	struct follow_script program;
};

/* Adds the cases to the empty suite, with their command lines. If argv[0] is a script, argv becomes
 * the program that the script executes. */
int test_listing_read(struct test_listing *listing, struct test_suite *suite, struct error *err);
