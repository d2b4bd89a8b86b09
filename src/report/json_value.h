/* What the formats that are JSON share. Everything ends the process when memory is exhausted. */
#ifndef RADDLE_REPORT_JSON_VALUE_H
#define RADDLE_REPORT_JSON_VALUE_H

#include <stdint.h>

#include <jansson.h>

/* Adds to an object, or at the end of an array; takes over `value`. */
void json_put(json_t *object, const char *name, json_t *value);
void json_append(json_t *array, json_t *value);
/* The text behind the filter of base/visible.h, so that any bytes make a string. NULL is null. */
json_t *json_text(const char *text);
json_t *json_textf(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *json_count(uint64_t value);
/* The document as text with a newline, all its strings behind the filter; `root` is given back. */
char *json_document(json_t *root);

#endif
