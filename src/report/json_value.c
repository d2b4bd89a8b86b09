#include "report/json_value.h"

#include <stdarg.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "base/visible.h"

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
	FREE_SCOPED char *visible = visible_text(text, true);

	return visible ? json_string(visible) : json_null();
}

/* Returns a copy of the value with all strings and names filtered. */
static json_t *json_visible(json_t *value)
{
	json_t *copy = json_is_object(value)  ? json_object()
		       : json_is_array(value) ? json_array()
					      : NULL;
	const char *key;
	json_t *part;
	size_t index;

	if (!copy)
		return json_is_string(value) ? json_text(json_string_value(value))
					     : json_incref(value);
	json_object_foreach(value, key, part)
	{
		FREE_SCOPED char *visible = visible_text(key, true);

		json_put(copy, visible, json_visible(part));
	}
	json_array_foreach(value, index, part) json_append(copy, json_visible(part));
	return copy;
}

json_t *json_textf(const char *format, ...)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;
	va_list args;

	va_start(args, format);
	strbuf_vaddf(&text, format, args);
	va_end(args);
	return json_text(text.text);
}

json_t *json_count(uint64_t value)
{
	return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

char *json_document(json_t *root)
{
	json_auto_t *visible = json_visible(root);
	FREE_SCOPED char *dump = json_dumps(visible, JSON_INDENT(1));
	struct strbuf text = STRBUF_EMPTY;

	BUG_ON(!dump);
	json_decref(root);
	strbuf_addf(&text, "%s\n", dump);
	return strbuf_detach(&text);
}
