/*
 * The programs that a case executes, such as the child of a death test of the style threadsafe, or a
 * runner that starts itself with the name of a case. A native run of the case lists those that
 * create threads (commands/follow). Each is then explored by campaigns of its own, which count for
 * the case.
 *
 * A program is explored only if it ends by itself as it ended as a child. Otherwise it needs
 * something that only its parent gives it, such as an open descriptor or a temporary file, and its
 * failures would say nothing of the case.
 */
#pragma once

#include "commands/test/test_explore.h"

/* Adds the programs that the case executes to the suite, behind its cases. `limit_ns`: time of one
 * native run. Pointers to cases of the suite become invalid. */
void test_children_add(struct test_explore *explore, uint32_t number, uint64_t limit_ns);
