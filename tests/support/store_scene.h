/* A folder with a store in it, for the tests of the store. */
#pragma once

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store.h"
#include "support/sample_finding.h"

/* Folder of the test, which contains the store's .raddle. */
static char folder[64];

static inline void run_or_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline void run_or_fail(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(command, sizeof command, format, args); /* short */
	va_end(args);
	if (system(command))
		fail_msg("failed: %s", command);
}

static inline int set_up(void **state)
{
	(void)state;
	/* The folder lies in memory if possible: thousands of syncs cost nothing there. */
	strcpy(folder,
		access("/dev/shm", W_OK) ? "/tmp/test_store.XXXXXX" : "/dev/shm/test_store.XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755))
		return -1;
	return setenv("XDG_STATE_HOME", folder, 1); /* the key of the stores lies there */
}

static inline int tear_down(void **state)
{
	(void)state;
	run_or_fail("rm -rf %s", folder);
	return 0;
}

static inline struct store *open_store(enum store_access access)
{
	struct store *store = NULL;
	struct error err;

	if (store_open(&store, folder, access, &err))
		fail_msg("%s", err.text);
	return store;
}

/* The sample at another line, so that numbers differ in their signature. */
static inline struct finding numbered_finding(unsigned number)
{
	struct finding finding = sample_finding();

	finding.waits[0].at.frames[1].line = 1000 + number;
	finding.signature = finding_signature(&finding);
	return finding;
}

static inline int add(
	struct store *store, unsigned number, uint32_t preemptions, bool *is_new, char *id)
{
	struct finding finding = numbered_finding(number);
	struct error err;
	int status;

	finding.preemptions = preemptions;
	status = store_add_finding(store, 1, &finding, is_new, &err);
	if (id)
		strcpy(id, finding.id);
	finding_release(&finding);
	return status;
}

static inline unsigned folder_count(void)
{
	char path[128];
	unsigned count = 0;
	struct dirent *entry;
	DIR *findings;

	(void)snprintf(path, sizeof path, "%s/.raddle/findings", folder); /* short */
	findings = opendir(path);
	assert_non_null(findings);
	while ((entry = readdir(findings)))
		count += entry->d_name[0] != '.' || entry->d_name[1] == 'n';
	(void)closedir(findings);
	return count;
}

/*
 * Opens the store anew, which removes folders without a row, and checks that rows and folders say the same. Returns how
 * many there are.
 */
static inline uint32_t check_store(uint32_t *preemptions_of_first)
{
	struct store *store = open_store(STORE_WRITE);
	struct store_finding_row *rows = NULL;
	uint32_t count = 0;
	struct finding finding;
	struct error err;

	assert_int_equal(store_list_findings(store, &rows, &count, &err), 0);
	for (uint32_t i = 0; i < count; i++) {
		if (store_load_finding(store, rows[i].id, &finding, &err))
			fail_msg("%s", err.text);
		assert_string_equal(finding.id, rows[i].id);
		if (!i && preemptions_of_first)
			*preemptions_of_first = finding.preemptions;
		finding_release(&finding);
	}
	assert_int_equal(folder_count(), count);
	store_rows_free(rows, count);
	store_close(store);
	return count;
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
