/* three_threads, whose threads end by pthread_exit, as many a program's do: the stack is unwound. */
#include <stddef.h>

#define END_THREAD() pthread_exit(NULL)
#include "three_threads.c" /* NOLINT(bugprone-suspicious-include): the same program */
