/* Parses numbers and times as users type them. */
#ifndef RADDLE_CLI_NUMBER_H
#define RADDLE_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Accepts a decimal integer in [least, most] only. */
bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);
/* Accepts "500ms", "30s", "2m", "1h", or seconds, with an optional fraction; must be positive. */
bool duration_parse(const char *text, uint64_t *out_ns);

#endif
