/*
 * Where a case runs: the command takes on the environment and the folder of a case while a campaign
 * of the case is made, because the processes of the campaign inherit them.
 */
#pragma once

#include "commands/test/suite/test_suite.h"

struct test_environment {
	char **before; /* the changed variables: NAME=VALUE, or NAME if it was not set. Owned */
	int folder;    /* the command's folder; negative: it is not left */
};

/* Returns false if the folder cannot be entered. Release with test_environment_leave() in each case. */
bool test_environment_enter(struct test_environment *environment, const struct test_case *test);
void test_environment_leave(struct test_environment *environment);
