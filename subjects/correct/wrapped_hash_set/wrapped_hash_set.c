/* EXPECT: passed runs=200 needs=memory */
/* The twin of wrapped_hash_set: what goes through another collection holds the locks of both. */
#define LOCKS_BOTH
#include "../../buggy/wrapped_hash_set/wrapped_hash_set.c"
