/*
 * Interruption points before system calls that use the file system. They show races between threads
 * in it: both test for a name and then create it, or one removes a file that another has just
 * checked. Part of the runs have them (docs/decisions/0030-interruption-points.md).
 */
#pragma once

#include <stdint.h>

/* Called before a system call is forwarded; may switch to another thread.
 * `site`: where the call returns to. */
void file_point(long number, const long arguments[6], uint64_t site);
/* Returns engine_op.second of a close, after which an open may get the number. 0: opens are no ops in this
 * run. */
uint16_t file_point_second(void);
/* Returns engine_op.second of another call on a descriptor: not 0 if the number was closed in this run, so that a call
 * that makes a descriptor may get, or have got, the number. */
uint16_t file_point_second_of(int fd);
/* Called when a number has been closed, or has become a duplicate. */
void file_point_closed(int fd);
