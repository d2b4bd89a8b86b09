#include "findings/source_lines.h"

#include <fcntl.h>
#include <limits.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/hash.h"
#include "base/files/regular_file.h"

#define FILES_MAX 200
#define LINE_BYTES_MAX 400
#define LINE_MAX_NUMBER 10000000

static void source_lines_put(json_t *object, const char *name, json_t *value)
{
	BUG_ON(!value || json_object_set_new(object, name, value));
}

const struct source_roots source_roots_everywhere = {.is_everywhere = true};

/* Both paths are resolved. Everything is below "/", which is therefore rejected. */
static bool source_is_below(const char *path, const char *folder)
{
	const size_t length = strlen(folder);

	return !strncmp(path, folder, length) && path[length] == '/';
}

/* Resolves the folder's links; the file is opened without following one. May be missing. */
static bool source_is_allowed(const char *path, const struct source_roots *roots)
{
	char folder[PATH_MAX], real[PATH_MAX], root[PATH_MAX];
	const char *slash = strrchr(path, '/');
	bool is_allowed = false;

	if (roots && roots->is_everywhere)
		return true;
	if (!slash)
		return getcwd(root, sizeof root) && strcmp(root, "/") != 0;
	if ((size_t)(slash - path) + 2 > sizeof folder)
		return false;
	(void)snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path); /* fits */
	if (!realpath(folder, real))
		return *path != '/'; /* the report says that the file is missing */
	(void)strncat(real, "/", sizeof real - strlen(real) - 1);
	if (getcwd(root, sizeof root))
		is_allowed = source_is_below(real, root);
	for (char *const *at = roots ? roots->folders : NULL; at && *at && !is_allowed; at++)
		is_allowed =
			realpath(*at, root) && source_is_below(real, strcmp(root, "/") ? root : "");
	return is_allowed;
}

/* Returns the whole file; NULL if unreadable. The caller frees it. */
static char *source_lines_read_file(const char *path, size_t *size)
{
	struct stat status;

	return regular_file_read(
		regular_file_open(AT_FDCWD, path, false, &status), SOURCE_BYTES_MAX, size);
}

static json_t *source_lines_hash_value(const char *text, size_t size)
{
	char hex[17];

	(void)snprintf(hex, sizeof hex, "%016" PRIx64, hash_bytes(text, size)); /* 16 digits */
	return json_string(hex);
}

static void source_lines_want_lines(json_t *wanted, const char *file, json_int_t line)
{
	json_t *lines = json_object_get(wanted, file);
	char number[24];

	if (!lines) {
		if (json_object_size(wanted) == FILES_MAX)
			return;
		lines = json_object();
		source_lines_put(wanted, file, lines);
	}
	for (json_int_t at = line > SOURCE_LINES_AROUND ? line - SOURCE_LINES_AROUND : 1;
		at <= line + SOURCE_LINES_AROUND; at++) {
		(void)snprintf(number, sizeof number, "%lld", (long long)at); /* 19 digits */
		if (!json_object_get(lines, number))
			source_lines_put(lines, number, json_null());
	}
}

static void source_lines_want_locations(json_t *wanted, const json_t *value)
{
	json_t *object = (json_t *)value; /* jansson's loops require a non-const pointer */
	const char *path = json_string_value(json_object_get(value, "path"));
	const char *file = path ? path : json_string_value(json_object_get(value, "file"));
	const json_int_t line = json_integer_value(json_object_get(value, "line"));
	const char *key;
	json_t *part;
	size_t index;

	if (file && line > 0 && line < LINE_MAX_NUMBER &&
		!json_is_true(json_object_get(value, "is_system")))
		source_lines_want_lines(wanted, file, line);
	json_object_foreach(object, key, part) source_lines_want_locations(wanted, part);
	json_array_foreach(value, index, part) source_lines_want_locations(wanted, part);
}

/* Invalid UTF-8 bytes, and a character split by the limit, become '?'. */
static json_t *source_lines_line_value(const char *text, size_t length)
{
	char line[LINE_BYTES_MAX + 1];
	json_t *value;

	if (length && text[length - 1] == '\r')
		length--;
	if (length > LINE_BYTES_MAX)
		for (length = LINE_BYTES_MAX;
			length && ((unsigned char)text[length] & 0xc0) == 0x80;)
			length--;
	memcpy(line, text, length);
	line[length] = '\0';
	value = json_string(line);
	if (value)
		return value;
	for (char *at = line; *at; at++)
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	return json_string(line);
}

static json_t *source_lines_value(const char *text, size_t size, const json_t *wanted)
{
	json_t *lines = json_object();
	const char *at = text;
	char number[24];

	for (unsigned line = 1; at < text + size; line++) {
		const char *end = memchr(at, '\n', size - (size_t)(at - text));

		end = end ? end : text + size;
		(void)snprintf(number, sizeof number, "%u", line);
		if (json_object_get(wanted, number))
			source_lines_put(
				lines, number, source_lines_line_value(at, (size_t)(end - at)));
		at = end + 1;
	}
	return lines;
}

/* The entry of one file; returns NULL if unreadable or not allowed. */
static json_t *source_lines_file_value(
	const char *name, const json_t *wanted, const struct source_roots *roots)
{
	char folder[PATH_MAX];
	size_t size;
	FREE_SCOPED char *text =
		source_is_allowed(name, roots) ? source_lines_read_file(name, &size) : NULL;
	json_t *value;

	if (!text)
		return NULL;
	value = json_object();
	/* A folder whose name is not UTF-8 cannot be stored in JSON. */
	if (*name != '/' && getcwd(folder, sizeof folder))
		(void)json_object_set_new(value, "path", json_sprintf("%s/%s", folder, name));
	if (!json_object_get(value, "path"))
		source_lines_put(value, "path", json_string(name));
	source_lines_put(value, "hash", source_lines_hash_value(text, size));
	source_lines_put(value, "lines", source_lines_value(text, size, wanted));
	return value;
}

json_t *source_lines_collect(const json_t *document, const struct source_roots *roots)
{
	json_t *wanted = json_object(), *sources = json_object(), *lines, *file;
	const char *name;

	source_lines_want_locations(wanted, document);
	json_object_foreach(wanted, name, lines)
	{
		file = source_lines_file_value(name, lines, roots);
		if (file)
			source_lines_put(sources, name, file);
	}
	json_decref(wanted);
	return sources;
}

char *source_lines_add(const char *text)
{
	json_t *root = json_loads(text, 0, NULL), *sources;
	char *result = NULL;

	if (json_is_object(root)) {
		sources = json_object_get(root, "sources")
				  ? NULL
				  : source_lines_collect(root, &source_roots_everywhere);
		if (json_object_size(sources))
			source_lines_put(root, "sources", sources);
		else
			json_decref(sources);
		result = json_dumps(root, JSON_COMPACT);
	}
	json_decref(root);
	return result;
}

void finding_keep_sources(struct finding *finding)
{
	FREE_SCOPED char *text = NULL;
	json_t *root, *sources;

	if (finding->sources)
		return;
	text = finding_to_json(finding);
	root = json_loads(text, 0, NULL);
	sources = source_lines_collect(root, &source_roots_everywhere);
	finding->sources = json_dumps(sources, JSON_COMPACT);
	BUG_ON(!finding->sources);
	json_decref(sources);
	json_decref(root);
}

const struct source_roots *source_roots_of(
	const struct finding *finding, const struct source_roots *roots)
{
	return finding->is_own ? &source_roots_everywhere : roots;
}

static bool source_lines_has_changed(
	const char *name, const json_t *file, const struct source_roots *roots)
{
	const char *named = json_string_value(json_object_get(file, "path"));
	const char *path = named ? named : name;
	size_t size;
	FREE_SCOPED char *text = NULL;
	json_auto_t *hash = NULL;
	bool is_same;

	if (!source_is_allowed(path, roots))
		return false;
	text = source_lines_read_file(path, &size);
	hash = text ? source_lines_hash_value(text, size) : NULL;
	is_same = hash && json_equal(hash, json_object_get(file, "hash"));
	return !is_same;
}

json_t *source_lines_changed(const json_t *sources, const struct source_roots *roots)
{
	json_t *object = (json_t *)sources; /* jansson's loops require a non-const pointer */
	json_t *changed = json_array(), *file;
	const char *name;

	json_object_foreach(object, name, file)
	{
		if (source_lines_has_changed(name, file, roots))
			BUG_ON(json_array_append_new(changed, json_string(name)));
	}
	return changed;
}

/* The line of the file's present content; returns NULL if the file is unreadable or shorter. */
static json_t *source_lines_live_line(const char *path, const char *number)
{
	json_auto_t *wanted = json_pack("{s:n}", number);
	size_t size;
	FREE_SCOPED char *text = source_lines_read_file(path, &size);
	json_auto_t *lines = text ? source_lines_value(text, size, wanted) : NULL;

	return json_incref(json_object_get(lines, number));
}

bool source_lines_get(const json_t *sources, const char *path, unsigned line, struct strbuf *out)
{
	const json_t *file = json_object_get(sources, path);
	char number[24];
	json_auto_t *value = NULL;
	const char *text;

	(void)snprintf(number, sizeof number, "%u", line);
	value = file ? json_incref(json_object_get(json_object_get(file, "lines"), number))
		     : source_lines_live_line(path, number);
	text = json_string_value(value);
	if (text)
		strbuf_adds(out, text + strspn(text, " \t"));
	return text != NULL;
}
