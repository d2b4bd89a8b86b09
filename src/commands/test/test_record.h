/*
 * The result of a suite as JSON: the output of --json, and the document of kind "test" by which
 * --resume and --since find earlier results. A document is that of a suite if command, programs
 * and settings are the same.
 */
#pragma once

#include <jansson.h>

#include "commands/test/suite/test_suite.h"
#include "plan/settings.h"
#include "store/store.h"

struct test_record {
	struct test_suite *suite;
	char *const *argv;
	const char *framework;		 /* NULL: none */
	const struct settings *settings; /* of the cases' campaigns */
	uint64_t bytes;			 /* hash of the program and its libraries */
	uint64_t elapsed_ns;
	bool is_interrupted;
};

/* Computes a hash of the bytes of the program and of the libraries that it is linked with. */
int test_record_hash_program(char *const *argv, uint64_t *bytes, struct error *err);

/* The caller frees the text. */
char *test_record_to_json(const struct test_record *record);
int test_record_keep(
	const struct test_record *record, struct store *store, int64_t campaign, struct error *err);
/*
 * Adds the results that the store has of these cases. `since`: folder of the store, whose cases
 * become CASE_UNCHANGED; NULL: the cases continue. *count: number of cases with a result.
 */
int test_record_load(const struct test_record *record, struct store *store, const char *since,
	uint32_t *count, struct error *err);
