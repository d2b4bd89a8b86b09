/* EXPECT: passed runs=200 needs=memory */
/* The twin of wrapped_string_buffer: what takes another buffer holds the locks of both. */
#define LOCKS_BOTH
#include "../../buggy/wrapped_string_buffer/wrapped_string_buffer.c"
