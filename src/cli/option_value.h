/* Values of options; a wrong one ends the command with what would be right. */
#ifndef RADDLE_CLI_OPTION_VALUE_H
#define RADDLE_CLI_OPTION_VALUE_H

#include <argp.h>
#include <stdint.h>

/* A whole number in [least, most]; from UINT64_MAX / 2 on, no most is worth telling. */
uint64_t option_number(struct argp_state *state, const char *option, const char *text,
	uint64_t least, uint64_t most);
/* A time as number.h has it, in nanoseconds. */
uint64_t option_time(struct argp_state *state, const char *option, const char *text);

#endif
