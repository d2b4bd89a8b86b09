/* Numbers and times as people type them. */
#ifndef RADDLE_CLI_NUMBER_H
#define RADDLE_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* A whole decimal number in [least, most]; nothing else. */
bool number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);
/* "500ms", "30s", "2m", "1h", or plain seconds, with a fraction if need be; more than nothing. */
bool duration_parse(const char *text, uint64_t *out_ns);

#endif
