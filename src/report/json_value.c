#include "report/json_value.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"

void json_put(json_t *object, const char *name, json_t *value)
{
	BUG_ON(!value || json_object_set_new(object, name, value));
}

void json_append(json_t *array, json_t *value)
{
	BUG_ON(!value || json_array_append_new(array, value));
}

json_t *json_text(const char *text)
{
	json_t *value;
	char *copy;

	if (!text)
		return json_null();
	value = json_string(text);
	if (value)
		return value;
	copy = strdup(text);
	BUG_ON(!copy);
	for (char *at = copy; *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	value = json_string(copy);
	free(copy);
	return value;
}

json_t *json_textf(const char *format, ...)
{
	struct strbuf text;
	json_t *value;
	va_list args;

	strbuf_init(&text);
	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	value = json_text(text.text);
	strbuf_release(&text);
	return value;
}

json_t *json_count(uint64_t value)
{
	return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

char *json_document(json_t *root)
{
	char *dump = json_dumps(root, JSON_INDENT(1));
	struct strbuf text;

	BUG_ON(!dump);
	json_decref(root);
	strbuf_init(&text);
	strbuf_addf(&text, "%s\n", dump);
	free(dump);
	return strbuf_detach(&text);
}
