/* EXPECT: passed runs=200 needs=memory */
/* The twin of wrapped_array_list: what goes through another collection holds the locks of both. */
#define LOCKS_BOTH
#include "../../buggy/wrapped_array_list/wrapped_array_list.c"
