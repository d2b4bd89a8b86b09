/* Helpers of the JSON formats. All functions end the process when memory is exhausted. */
#pragma once

#include <stdint.h>

#include <jansson.h>

/* Adds to an object, or to the end of an array. Takes ownership of `value`. */
void json_put(json_t *object, const char *name, json_t *value);
void json_append(json_t *array, json_t *value);
/* Returns the text, filtered by base/visible.h so that any bytes make a valid string. NULL becomes
 * null. */
json_t *json_text(const char *text);
json_t *json_textf(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *json_count(uint64_t value);
/* Returns the text of a member; "" if there is none. */
static inline const char *json_text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}
/* Returns the document with a final newline and filtered strings. Releases `root`; the caller frees
 * the text. */
char *json_document(json_t *root);
