/*
 * Test frameworks: how a program with each of them lists its cases, and runs one. A framework is a
 * row of frameworks.def; its list format is a function of test_list.c.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "commands/test/suite/test_suite.h"

struct test_framework {
	const char *name; /* argument of --framework */
	const char *title;
	const char *marks[3]; /* bytes of programs that contain the framework */
	/* Arguments and assignments that print the list, separated by blanks. */
	const char *list, *list_environment;
	/* Templates that select a case, separated by blanks: {} is its name. */
	const char *arguments, *environment;
	const char *escaped; /* characters of a name that need a backslash; NULL: none */
	const char *none;    /* printed by a run that selects no case; NULL: such a run fails */
	const char *limit;   /* a behaviour that raddle misses, one line; NULL: none */
	/* NULL: the program is one case */
	int (*parse)(const char *text, struct test_suite *suite, struct error *err);
};

extern const struct test_framework test_frameworks[];
extern const unsigned test_framework_count;

/* Returns the framework that the program contains; NULL if it contains none. */
const struct test_framework *test_framework_detect(const char *path);
const struct test_framework *test_framework_find(const char *name);

/* Splits at blanks, and replaces {}, {group} and {own} by texts of the case. Appends the words to
 * an array that ends with NULL; `words` may be NULL. */
char **test_framework_expand(
	char **words, const char *template, const struct test_case *test, const char *escaped);
