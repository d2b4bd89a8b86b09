/* EXPECT: passed runs=200 needs=memory */
/* The twin of wrapped_linked_list: what goes through another collection holds the locks of both. */
#define LOCKS_BOTH
#include "../../buggy/wrapped_linked_list/wrapped_linked_list.c"
