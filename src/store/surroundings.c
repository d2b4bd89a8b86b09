#include "store/surroundings.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "store/store_seal.h"

extern char **environ;

/* Variables that libc, loaders, OpenMP, sanitizers and test frameworks read; a final * matches any rest. */
static const char *const kept[] = {"LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "LD_LIBRARY_PATH",
	"LD_PRELOAD", "LD_BIND_NOW", "GLIBC_TUNABLES", "MALLOC_*", "CK_*", "GTEST_*", "OMP_*",
	"GOMP_*", "KMP_*", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"};
/* Variables that shells, terminals or raddle change (ASAN_OPTIONS: launch.c). */
static const char *const ignored[] = {"_", "ASAN_OPTIONS", "SHLVL", "PWD", "OLDPWD", "COLUMNS",
	"LINES", "TERM", "COLORTERM", "WINDOWID", "NO_COLOR", "RADDLE_*", "SSH_*", "XDG_*",
	"DBUS_*"};

static bool surroundings_matches_any(const char *name, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t length = strcspn(patterns[i], "*");

		if (patterns[i][length] ? !strncmp(name, patterns[i], length)
					: !strcmp(name, patterns[i]))
			return true;
	}
	return false;
}

static bool surroundings_is_kept(const char *name)
{
	return surroundings_matches_any(name, kept, sizeof kept / sizeof *kept);
}

/* Returns the value of a restored variable in UTF-8, else the hash of `entry` under the key, if
 * there is a key. */
static json_t *surroundings_value_of(
	const struct seal_key *key, const char *name, const char *entry)
{
	json_t *value = surroundings_is_kept(name) ? json_string(entry + strlen(name) + 1) : NULL;
	char hash[SEAL_TEXT_BYTES] = "";

	if (value)
		return value;
	if (key)
		seal_text(key, entry, strlen(entry), hash);
	value = json_pack("{s:s}", "hash", hash);
	BUG_ON(!value);
	return value;
}

static json_t *take(void)
{
	json_t *all = json_object();
	struct seal_key *key = seal_key_open(true);

	for (char **entry = environ; *entry; entry++) {
		FREE_SCOPED char *name = string_copy_part(*entry, strcspn(*entry, "="));

		/* A variable whose name is not UTF-8 is omitted. */
		if ((*entry)[strlen(name)] == '=' &&
			!surroundings_matches_any(name, ignored, sizeof ignored / sizeof *ignored))
			(void)json_object_set_new(
				all, name, surroundings_value_of(key, name, *entry));
	}
	seal_key_free(key);
	return all;
}

char *surroundings_take(void)
{
	json_auto_t *all = take();
	char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);

	BUG_ON(!text);
	return text;
}

static void surroundings_add_name(struct strbuf *out, const char *name)
{
	strbuf_addf(out, "%s%s", out->length ? ", " : "", name);
}

/* Returns whether the variable is restored and has another value now. */
static bool surroundings_is_restored(const char *name, const char *text)
{
	const char *now = getenv(name);

	return text && surroundings_is_kept(name) && (!now || strcmp(now, text) != 0);
}

void surroundings_list(const char *json, struct strbuf *out)
{
	json_t *then = json ? json_loads(json, 0, NULL) : NULL, *value;
	const char *name;

	json_object_foreach(then, name, value)
	{
		const char *text = json_string_value(value);

		if (surroundings_is_restored(name, text))
			strbuf_addf(out, "%s%s='%s'", out->length ? " " : "", name, text);
	}
	json_decref(then);
}

void surroundings_restore(const char *json, struct strbuf *changed)
{
	json_t *then = json ? json_loads(json, 0, NULL) : NULL, *now = take(), *value;
	const char *name;

	json_object_foreach(then, name, value)
	{
		const char *text = json_string_value(value);

		if (surroundings_is_restored(name, text) && !setenv(name, text, 1))
			surroundings_add_name(changed, name);
	}
	json_object_foreach(now, name, value)
	{
		if (!then || !surroundings_is_kept(name) || json_object_get(then, name))
			continue;
		if (!unsetenv(name))
			surroundings_add_name(changed, name);
	}
	json_decref(then);
	json_decref(now);
}

/* Returns whether the stored value can be compared. Hashes of older versions have no key. */
static bool surroundings_is_comparable(const json_t *value, bool is_own)
{
	const json_t *hash = json_object_get(value, "hash");

	return !hash || (is_own && json_string_length(hash) == SEAL_TEXT_BYTES - 1);
}

void surroundings_compare(const char *json, bool is_own, struct strbuf *different)
{
	json_t *then = json ? json_loads(json, 0, NULL) : NULL, *now = take(), *value;
	const char *name;

	json_object_foreach(then, name, value)
	{
		const json_t *other = json_object_get(now, name);

		if (!other || (surroundings_is_comparable(value, is_own) &&
				      surroundings_is_comparable(other, is_own) &&
				      !json_equal(value, other)))
			surroundings_add_name(different, name);
	}
	json_object_foreach(now, name, value)
	{
		if (then && !json_object_get(then, name))
			surroundings_add_name(different, name);
	}
	json_decref(then);
	json_decref(now);
}
