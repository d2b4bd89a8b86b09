/* Parses option values; an invalid value ends the command with a message about valid ones. */
#ifndef RADDLE_CLI_OPTION_VALUE_H
#define RADDLE_CLI_OPTION_VALUE_H

#include <argp.h>
#include <stdint.h>

/* An integer in [least, most]; the message omits a `most` of UINT64_MAX / 2 and above. */
uint64_t option_number(struct argp_state *state, const char *option, const char *text,
	uint64_t least, uint64_t most);
/* A time as in number.h, in nanoseconds. */
uint64_t option_time(struct argp_state *state, const char *option, const char *text);

#endif
