#include "commands/test/test_record.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/visible.h"
#include "commands/test/suite/test_output.h"
#include "process/target.h"
#include "report/json_value.h"

#define KIND "test"

/* Combines the hash with the bytes of a file. A file that cannot be read counts by its path. */
static uint64_t test_record_hash_file(uint64_t hash, const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;
	struct stat status;

	hash = hash_pair(hash, hash_bytes(path, strlen(path)));
	if (file < 0)
		return hash;
	if (fstat(file, &status) == 0 && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	(void)close(file); /* the file was opened for reading */
	if (bytes == MAP_FAILED)
		return hash;
	hash = hash_pair(hash, hash_bytes(bytes, (size_t)status.st_size));
	(void)munmap(bytes, (size_t)status.st_size); /* mapped above: cannot fail */
	return hash;
}

int test_record_hash_program(char *const *argv, uint64_t *bytes, struct error *err)
{
	/* the program interpreter then lists the libraries instead of starting the program */
	char trace[] = "LD_TRACE_LOADED_OBJECTS=1";
	char *const environment[] = {trace, NULL};
	struct target target;
	STRBUF_SCOPED text = STRBUF_EMPTY;
	char *rest = NULL;
	int status = target_find(&target, argv[0], err);

	if (status < 0)
		return status;
	*bytes = test_record_hash_file(1, target.path);
	target_release(&target);
	status = test_output_of_program(argv, environment, &text, err);
	for (char *line = strtok_r(text.text, "\n", &rest); line && status == 0;
		line = strtok_r(NULL, "\n", &rest)) {
		char *path = strchr(line, '/'), *end = path ? strrchr(path, ' ') : NULL;

		if (!end)
			continue;
		*end = '\0';
		*bytes = test_record_hash_file(*bytes, path);
	}
	return status;
}

static const char *test_record_word(const struct test_case *test)
{
	if (test->state == CASE_BROKEN)
		return "error";
	if (test->state == CASE_SKIPPED)
		return "skipped";
	if (test->kinds || test->failures)
		return "failed";
	if (test->state == CASE_UNCHANGED)
		return "unchanged";
	return test->runs ? "passed" : "not run";
}

static json_t *test_record_words(char *const *words)
{
	json_t *array = json_array();

	for (; words && *words; words++)
		json_append(array, json_text(*words));
	return array;
}

/* The programs that the case executes and that are explored. */
static json_t *test_record_children(const struct test_suite *suite, uint32_t number)
{
	json_t *array = json_array();

	for (uint32_t i = suite->count; i < suite->total; i++) {
		const struct test_case *child = &suite->cases[i];
		json_t *object;

		if (child->owner != number)
			continue;
		object = json_object();
		json_put(object, "command", test_record_words(child->argv));
		json_put(object, "environment", test_record_words(child->environment));
		json_put(object, "directory", json_text(child->directory));
		json_put(object, "schedules", json_count(child->runs));
		json_put(object, "failures", json_count(child->failures));
		json_append(array, object);
	}
	return array;
}

static json_t *test_record_case(const struct test_suite *suite, uint32_t number)
{
	const struct test_case *test = &suite->cases[number];
	json_t *object = json_object(), *findings = json_array();

	json_put(object, "name", json_text(test->name));
	json_put(object, "command", test_record_words(test->argv));
	if (test->environment && test->environment[0])
		json_put(object, "environment", test_record_words(test->environment));
	json_put(object, "result", json_text(test_record_word(test)));
	json_put(object, "state",
		json_integer(test_suite_is_live(suite, number) ? CASE_LIVE : test->state));
	json_put(object, "schedules", json_count(test->runs));
	json_put(object, "failures", json_count(test->failures));
	json_put(object, "depends_on_schedule",
		test->failures ? json_boolean(test_case_depends_on_schedule(test)) : json_null());
	json_put(object, "seconds", json_real((double)test->spent_ns / 1e9));
	json_put(object, "real_clocks", json_boolean(test->has_real_clocks));
	if (test->error)
		json_put(object, "error", json_text(test->error));
	json_put(object, "children", test_record_children(suite, number));
	for (uint32_t i = 0; i < suite->finding_count; i++)
		for (uint32_t j = 0; j < suite->findings[i].case_count; j++)
			if (suite->findings[i].cases[j] == number)
				json_append(findings, json_text(suite->findings[i].id));
	json_put(object, "findings", findings);
	return object;
}

static json_t *test_record_finding(
	const struct test_suite *suite, const struct test_finding *finding)
{
	json_t *object = json_object(), *cases = json_array();

	json_put(object, "id", json_text(finding->id));
	json_put(object, "kind", json_text(outcome_descriptions[finding->kind].word));
	json_put(object, "title", json_text(finding->title));
	json_put(object, "signature", json_textf("%016" PRIx64, finding->signature));
	json_put(object, "repeatable", json_boolean(finding->is_repeatable));
	json_put(object, "own_code", json_boolean(finding->is_own_code));
	json_put(object, "store", json_text(finding->fallback));
	for (uint32_t i = 0; i < finding->case_count; i++)
		json_append(cases, json_text(suite->cases[finding->cases[i]].name));
	json_put(object, "cases", cases);
	return object;
}

/* Returns the settings that decide what a run shows. */
static json_t *test_record_settings(const struct test_record *record)
{
	struct settings settings = *record->settings;
	FREE_SCOPED char *text = NULL;

	settings.random_seed = 0; /* each campaign has its own */
	text = settings_to_json(&settings);
	return json_loads(text, 0, NULL);
}

char *test_record_to_json(const struct test_record *record)
{
	const struct test_suite *suite = record->suite;
	json_t *root = json_object(), *cases = json_array(), *findings = json_array();

	for (uint32_t i = 0; i < suite->count; i++)
		json_append(cases, test_record_case(suite, i));
	for (uint32_t i = 0; i < suite->finding_count; i++)
		json_append(findings, test_record_finding(suite, &suite->findings[i]));
	json_put(root, "command", test_record_words(record->argv));
	json_put(root, "framework", json_text(record->framework));
	json_put(root, "bytes", json_textf("%016" PRIx64, record->bytes));
	json_put(root, "settings", test_record_settings(record));
	json_put(root, "seconds", json_real((double)record->elapsed_ns / 1e9));
	json_put(root, "interrupted", json_boolean(record->is_interrupted));
	json_put(root, "cases", cases);
	json_put(root, "findings", findings);
	return json_document(root);
}

int test_record_keep(
	const struct test_record *record, struct store *store, int64_t campaign, struct error *err)
{
	char *text = test_record_to_json(record);
	const struct store_document document = {
		.kind = (char *)(uintptr_t)KIND, .campaign = campaign, .text = text};
	const int status = store_keep_document(store, &document, err);

	free(text);
	return status;
}

static bool test_record_is_same(const struct test_record *record, const json_t *root)
{
	json_auto_t *settings = test_record_settings(record);
	json_auto_t *command = test_record_words(record->argv);
	char bytes[20];
	const char *text = json_string_value(json_object_get(root, "bytes"));

	(void)snprintf(bytes, sizeof bytes, "%016" PRIx64, record->bytes); /* fits */
	return text && !strcmp(text, bytes) &&
	       json_equal(command, json_object_get(root, "command")) &&
	       json_equal(settings, json_object_get(root, "settings"));
}

static uint64_t test_record_count(const json_t *object, const char *name)
{
	const json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (uint64_t)value : 0;
}

/* Returns the number of the case; the suite's count: it has no such case. */
static uint32_t test_record_find(const struct test_suite *suite, const json_t *name)
{
	uint32_t number = 0;
	bool is_found = false;

	while (!is_found && number < suite->count) {
		json_auto_t *own = json_text(suite->cases[number].name);

		is_found = json_equal(own, name);
		number += !is_found;
	}
	return number;
}

static bool test_record_load_case(struct test_suite *suite, const json_t *object, const char *since)
{
	const uint32_t number = test_record_find(suite, json_object_get(object, "name"));
	const uint64_t runs = test_record_count(object, "schedules");
	const uint64_t state = test_record_count(object, "state");
	const double seconds = json_number_value(json_object_get(object, "seconds"));
	struct test_case *test;

	/* What a skipped case needs may be there now. */
	if (number == suite->count || !runs || state == CASE_SKIPPED)
		return false;
	test = &suite->cases[number];
	test->runs = runs;
	test->failures = test_record_count(object, "failures");
	test->has_real_clocks = json_is_true(json_object_get(object, "real_clocks"));
	/* a time that no number of nanoseconds can express counts as none */
	test->spent_ns = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
	test->state = since					       ? CASE_UNCHANGED
		      : state == CASE_SINGLE || state == CASE_COMPLETE ? (enum test_case_state)state
								       : CASE_LIVE;
	return true;
}

static bool test_record_parse_kind(const json_t *object, enum outcome_kind *kind)
{
	const char *word = json_string_value(json_object_get(object, "kind"));

	for (unsigned i = 0; word && i < OUTCOME_KIND_COUNT; i++)
		if (!strcmp(word, outcome_descriptions[i].word)) {
			*kind = (enum outcome_kind)i;
			return true;
		}
	return false;
}

static void test_record_load_finding(
	struct test_suite *suite, const json_t *object, const char *since)
{
	const char *id = json_string_value(json_object_get(object, "id"));
	const char *title = json_string_value(json_object_get(object, "title"));
	const char *signature = json_string_value(json_object_get(object, "signature"));
	const char *store = json_string_value(json_object_get(object, "store"));
	const json_t *name;
	struct test_finding finding = {0};
	size_t index;

	/* the identifier becomes part of a command that the user may run */
	if (!id || *id != 'F' || strlen(id) >= sizeof finding.id ||
		id[1 + strspn(id + 1, "0123456789")] || !title || !signature ||
		!test_record_parse_kind(object, &finding.kind))
		return;
	memcpy(finding.id, id, strlen(id));
	/* a line feed in a store of others would forge lines of the report */
	finding.title = visible_text(title, false);
	finding.fallback = (char *)(uintptr_t)(store ? store : since);
	finding.signature = strtoull(signature, NULL, 16);
	finding.is_repeatable = json_is_true(json_object_get(object, "repeatable"));
	finding.is_own_code = json_is_true(json_object_get(object, "own_code"));
	json_array_foreach(json_object_get(object, "cases"), index, name)
	{
		const uint32_t number = test_record_find(suite, name);

		if (number < suite->count && suite->cases[number].runs)
			(void)test_suite_add_finding(suite, number, &finding);
	}
	free(finding.title);
}

int test_record_load(const struct test_record *record, struct store *store, const char *since,
	uint32_t *count, struct error *err)
{
	struct store_document *documents = NULL;
	uint32_t document_count = 0;
	const int status = store_list_documents(store, &documents, &document_count, err);

	*count = 0;
	if (status < 0)
		return status;
	for (uint32_t i = 0; i < document_count; i++) {
		json_auto_t *root = strcmp(documents[i].kind, KIND)
					    ? NULL
					    : json_loads(documents[i].text, 0, NULL);
		const json_t *object;
		size_t index;

		if (test_record_is_same(record, root)) {
			json_array_foreach(json_object_get(root, "cases"), index, object) *count +=
				test_record_load_case(record->suite, object, since);
			json_array_foreach(json_object_get(root, "findings"), index, object)
				test_record_load_finding(record->suite, object, since);
		}
	}
	store_documents_free(documents, document_count);
	return 0;
}
