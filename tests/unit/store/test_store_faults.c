/* The store under attack: killed, or with a failing disk, at every call that changes files. */
#include "support/storage_faults.h"

#include <sys/wait.h>

#include "support/store_scene.h"

/* Reads what a killed process left, without changing any of it. Returns how many findings there are. */
static uint32_t read_store(void)
{
	struct store *store = open_store(STORE_READ);
	struct store_finding_row *rows = NULL;
	uint32_t count = 0;
	struct error err;

	assert_int_equal(store_list_findings(store, &rows, &count, &err), 0);
	store_rows_free(rows, count);
	store_close(store);
	return count;
}

/* Size and time of the last write of everything in the store. */
static void list_store(char *list, size_t bytes)
{
	char command[160];
	FILE *pipe;

	(void)snprintf(command, sizeof command,
		"cd %s/.raddle && find . -printf '%%p %%s %%T@\\n' | sort", folder); /* short */
	pipe = popen(command, "r");
	assert_non_null(pipe);
	list[fread(list, 1, bytes - 1, pipe)] = '\0';
	assert_int_equal(pclose(pipe), 0);
}

/* Steps of storing a finding; far more than there are, so that a loop that never ends is noticed. */
#define STEPS_MAX 500

/* Runs in a child: opens the store and adds a finding while the disk fails at call n. */
static void add_under_fault(enum storage_fault fault, unsigned at, unsigned number)
{
	struct store *store = NULL;
	struct error err = {0};
	bool is_new;
	int status;

	storage.fault = fault;
	storage.at = at;
	storage.calls = 0;
	status = store_open(&store, folder, STORE_WRITE, &err);
	if (!status) {
		status = add(store, number, 1, &is_new, NULL);
		store_close(store);
	}
	if (storage.calls < at)
		_exit(2); /* the fault lay behind the end */
	_exit(status ? 1 : 0);
}

/*
 * Stores finding `number` with the fault at every call in turn. After each the store must open,
 * hold what was committed before, and hold the new one if that was said to be stored.
 */
static void storm(enum storage_fault fault, unsigned number)
{
	uint32_t preemptions = 0;
	bool is_new;

	for (unsigned at = 1; at < STEPS_MAX; at++) {
		struct store *store = open_store(STORE_WRITE);
		char before[4096], after[4096];
		pid_t child;
		uint32_t read, count;
		int status;

		assert_int_equal(add(store, 1, 3, &is_new, NULL), 0);
		store_close(store);
		child = fork();
		if (!child)
			add_under_fault(fault, at, number);
		assert_int_equal(waitpid(child, &status, 0), child);
		list_store(before, sizeof before);
		read = read_store();
		list_store(after, sizeof after);
		assert_string_equal(before, after);
		count = check_store(&preemptions);
		assert_int_equal(read, count);
		if (number == 1) {
			assert_int_equal(count, 1);
			assert_true(preemptions == 3 || preemptions == 1);
			if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
				assert_int_equal(preemptions, 1);
		} else {
			assert_in_range(count, 1, 2);
			if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
				assert_int_equal(count, 2);
		}
		if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
			assert_in_range(at, 10, STEPS_MAX - 1); /* the faults did strike */
			return;
		}
		if (fault == FAULT_KILL)
			assert_true(WIFSIGNALED(status));
		run_or_fail("rm -rf %s/.raddle", folder);
	}
	fail_msg("storing a finding took more than %d steps", STEPS_MAX);
}

static void test_store__survives_a_kill_at_every_step(void **state)
{
	(void)state;
	storm(FAULT_KILL, 2);
}

static void test_store__survives_a_kill_while_it_replaces(void **state)
{
	(void)state;
	storm(FAULT_KILL, 1);
}

static void test_store__survives_a_disk_that_fills_up_at_every_step(void **state)
{
	(void)state;
	storm(FAULT_FULL, 2);
}

static void test_store__survives_an_error_at_every_step(void **state)
{
	(void)state;
	storm(FAULT_ONCE, 2);
}

static void test_store__says_that_the_disk_is_full(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	struct finding finding = numbered_finding(3);
	struct error err;
	bool is_new;

	(void)state;
	storage.fault = FAULT_FULL;
	storage.at = 0;
	assert_int_equal(store_add_finding(store, 1, &finding, &is_new, &err), ERROR_STORE);
	storage.fault = FAULT_NONE;
	assert_non_null(strstr(err.text, "free some space"));
	assert_int_equal(store_add_finding(store, 1, &finding, &is_new, &err), 0);
	assert_true(is_new);
	finding_release(&finding);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_store__survives_a_kill_at_every_step),
		WITH_FOLDER(test_store__survives_a_kill_while_it_replaces),
		WITH_FOLDER(test_store__survives_a_disk_that_fills_up_at_every_step),
		WITH_FOLDER(test_store__survives_an_error_at_every_step),
		WITH_FOLDER(test_store__says_that_the_disk_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
