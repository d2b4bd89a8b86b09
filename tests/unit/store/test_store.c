#include "support/store_scene.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>

/* ---- plain behaviour ---- */

static void test_store__keeps_findings_across_processes(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	struct finding finding = numbered_finding(1), back;
	struct error err;
	char *before, *after, *path;
	bool is_new = false;

	(void)state;
	assert_int_equal(store_add_finding(store, 7, &finding, &is_new, &err), 0);
	assert_true(is_new);
	assert_string_equal(finding.id, "F1");
	store_close(store);
	store = open_store(STORE_READ);
	assert_int_equal(store_load_finding(store, "F1", &back, &err), 0);
	before = finding_to_json(&finding);
	after = finding_to_json(&back);
	assert_string_equal(after, before);
	path = store_finding_path(store, "F1", "schedule.txt");
	assert_int_equal(access(path, R_OK), 0);
	free(path);
	free(before);
	free(after);
	finding_release(&finding);
	finding_release(&back);
	store_close(store);
}

static void test_store__counts_a_known_finding_and_keeps_the_shorter(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	struct store_finding_row *rows;
	uint32_t count, preemptions = 0;
	struct error err;
	bool is_new;
	char id[32];

	(void)state;
	assert_int_equal(add(store, 1, 5, &is_new, id), 0);
	assert_int_equal(add(store, 2, 5, &is_new, id), 0);
	assert_string_equal(id, "F2");
	assert_int_equal(add(store, 1, 2, &is_new, id), 0);
	assert_false(is_new);
	assert_string_equal(id, "F1");
	assert_int_equal(add(store, 1, 9, &is_new, id), 0);
	assert_int_equal(store_list_findings(store, &rows, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].times_seen, 3);
	assert_string_equal(rows[0].kind, "deadlock");
	assert_string_equal(rows[0].command, "./bank 'two words' $'\\xff\\xfe'");
	store_rows_free(rows, count);
	store_close(store);
	assert_int_equal(check_store(&preemptions), 2);
	assert_int_equal(preemptions, 2);
}

static void test_store__keeps_the_trace_of_the_run_that_it_keeps(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	struct finding finding = numbered_finding(1);
	char *path = store_finding_path(store, "F1", "trace");
	char bytes[4] = {0};
	struct error err;
	bool is_new;
	FILE *file;

	(void)state;
	finding.trace = strdup("abc");
	finding.trace_size = 3;
	finding.preemptions = 5;
	assert_int_equal(store_add_finding(store, 1, &finding, &is_new, &err), 0);
	file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, sizeof bytes, file), 3);
	(void)fclose(file);
	assert_string_equal(bytes, "abc");
	/* A shorter one without a trace takes its location. */
	assert_int_equal(add(store, 1, 2, &is_new, NULL), 0);
	assert_int_equal(access(path, F_OK), -1);
	free(path);
	finding_release(&finding);
	store_close(store);
}

static void test_store__distinguishes_equal_signatures_of_other_programs(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	struct finding finding = numbered_finding(1);
	struct error err;
	bool is_new = false;

	(void)state;
	assert_int_equal(store_add_finding(store, 1, &finding, &is_new, &err), 0);
	free(finding.argv[0]);
	finding.argv[0] = strdup("./shop");
	assert_int_equal(store_add_finding(store, 1, &finding, &is_new, &err), 0);
	assert_true(is_new);
	assert_string_equal(finding.id, "F2");
	finding_release(&finding);
	store_close(store);
}

static void test_store__keeps_campaigns(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	char command[] = "./bank 3", options[] = "{}", strategy[] = "pct", running[] = "running",
	     done[] = "done";
	struct store_campaign campaign = {.command = command,
		.options = options,
		.strategy = strategy,
		.state = running,
		.seed = UINT64_MAX,
		.started = 1700000000};
	struct store_campaign *rows;
	struct error err;
	uint32_t count;

	(void)state;
	assert_int_equal(store_campaign_begin(store, &campaign, &err), 0);
	campaign.runs = 1000;
	campaign.seconds = 0.5;
	campaign.state = done;
	assert_int_equal(store_campaign_update(store, &campaign, &err), 0);
	assert_int_equal(store_list_campaigns(store, &rows, &count, &err), 0);
	assert_int_equal(count, 1);
	assert_int_equal(rows[0].id, campaign.id);
	assert_string_equal(rows[0].command, "./bank 3");
	assert_string_equal(rows[0].state, "done");
	assert_int_equal(rows[0].runs, 1000);
	assert_true(rows[0].seed == UINT64_MAX);
	assert_string_equal(rows[0].restart, "");
	campaign.id = 99;
	assert_int_equal(store_campaign_update(store, &campaign, &err), ERROR_NOTFOUND);
	store_campaign_release(&rows[0]);
	free(rows);
	store_close(store);
}

static void test_store__knows_only_ids_of_findings(void **state)
{
	static const char *const wrong[] = {"F2", "F0", "F01", "1", "", "F", "F1/../F1", "../F1",
		"F99999999999999999999", "f1"};
	struct store *store = open_store(STORE_WRITE);
	struct finding finding;
	struct error err;
	bool is_new;

	(void)state;
	assert_int_equal(add(store, 1, 1, &is_new, NULL), 0);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(
			store_load_finding(store, wrong[i], &finding, &err), ERROR_NOTFOUND);
		assert_non_null(strstr(err.text, "raddle list findings"));
	}
	assert_null(store_finding_path(store, "../F1", "trace"));
	store_close(store);
}

/* ---- stores that cannot be used ---- */

static void assert_refused(enum store_access access, int code, const char *cause)
{
	struct store *store = NULL;
	struct error err = {0};

	assert_int_equal(store_open(&store, folder, access, &err), code);
	assert_null(store);
	if (!strstr(err.text, cause))
		fail_msg("\"%s\" does not say \"%s\"", err.text, cause);
	assert_non_null(strstr(err.text, "; "));
	assert_null(strchr(err.text, '\n'));
}

static void execute(const char *sql)
{
	sqlite3 *database;
	char path[128];

	(void)snprintf(path, sizeof path, "%s/.raddle/raddle.db", folder); /* short */
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

static void test_store__says_that_there_is_none(void **state)
{
	(void)state;
	assert_refused(STORE_READ, ERROR_NOTFOUND, "raddle run");
}

/* The last one of a kind that was said of a campaign or of a finding. */
static void test_store__keeps_the_last_document(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	struct store_document document = {
		.kind = "explain", .finding = "F12", .text = "{\"a\": 1}"};
	struct store_document *rows;
	struct error err;
	uint32_t count;

	(void)state;
	assert_int_equal(store_list_documents(store, &rows, &count, &err), 0);
	assert_int_equal(count, 0);
	store_documents_free(rows, count);
	assert_int_equal(store_keep_document(store, &document, &err), 0);
	document.text = "{\"a\": 2}";
	assert_int_equal(store_keep_document(store, &document, &err), 0);
	document = (struct store_document){.kind = "predict", .campaign = 12, .text = "[]"};
	assert_int_equal(store_keep_document(store, &document, &err), 0);
	store_close(store);
	store = open_store(STORE_READ);
	assert_int_equal(store_list_documents(store, &rows, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(rows[0].text, "{\"a\":2}");
	assert_string_equal(rows[0].finding, "F12");
	assert_int_equal(rows[0].campaign, 0);
	assert_string_equal(rows[1].kind, "predict");
	assert_int_equal(rows[1].campaign, 12);
	assert_null(rows[1].finding);
	store_documents_free(rows, count);
	store_close(store);
}

static void test_store__refuses_other_versions(void **state)
{
	(void)state;
	store_close(open_store(STORE_WRITE));
	execute("PRAGMA user_version=5");
	assert_refused(STORE_WRITE, ERROR_VERSION, "newer raddle");
	assert_refused(STORE_READ, ERROR_VERSION, "store version 5");
	execute("PRAGMA user_version=3");
	assert_refused(STORE_WRITE, ERROR_VERSION, "older raddle");
	assert_refused(STORE_READ, ERROR_VERSION, "store version 3");
}

static void test_store__refuses_databases_of_others(void **state)
{
	(void)state;
	run_or_fail("mkdir %s/.raddle", folder);
	execute("CREATE TABLE recipes(name TEXT)");
	assert_refused(STORE_WRITE, ERROR_STORE, "not raddle's");
}

static void test_store__refuses_a_damaged_database(void **state)
{
	char path[128];
	unsigned char noise[4096];
	int fd;
	struct store *store = open_store(STORE_WRITE);
	bool is_new;

	(void)state;
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(add(store, i, 1, &is_new, NULL), 0);
	store_close(store);
	(void)snprintf(path, sizeof path, "%s/.raddle/raddle.db", folder); /* short */
	memset(noise, 0xa5, sizeof noise);
	fd = open(path, O_WRONLY);
	/* The damage leaves out the first page: the file still has the header of a database. */
	assert_int_equal(pwrite64(fd, noise, sizeof noise, 4096), sizeof noise);
	assert_int_equal(pwrite64(fd, noise, sizeof noise, 8192), sizeof noise);
	assert_refused(STORE_WRITE, ERROR_STORE, "damaged");
	assert_int_equal(pwrite64(fd, noise, sizeof noise, 0), sizeof noise);
	assert_refused(STORE_WRITE, ERROR_STORE, "damaged");
	(void)close(fd);
}

static void test_store__reports_a_file_in_place_of_the_folder(void **state)
{
	(void)state;
	run_or_fail("touch %s/.raddle", folder);
	assert_refused(STORE_WRITE, ERROR_STORE, "in the way");
}

static void test_store__says_that_a_finding_was_damaged_by_hand(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	struct finding finding;
	struct error err;
	bool is_new;

	(void)state;
	assert_int_equal(add(store, 1, 1, &is_new, NULL), 0);
	run_or_fail("echo '{' > %s/.raddle/findings/F1/finding.json", folder);
	assert_int_equal(store_load_finding(store, "F1", &finding, &err), ERROR_FORMAT);
	run_or_fail("rm -r %s/.raddle/findings/F1", folder);
	assert_int_equal(store_load_finding(store, "F1", &finding, &err), ERROR_NOTFOUND);
	assert_non_null(strstr(err.text, "F1"));
	/* Found again, it is whole again. */
	assert_int_equal(add(store, 1, 1, &is_new, NULL), 0);
	assert_false(is_new);
	assert_int_equal(store_load_finding(store, "F1", &finding, &err), 0);
	finding_release(&finding);
	store_close(store);
}

/* ---- long texts are compressed ---- */

#define LONG_SEGMENTS 100000u

static struct finding long_finding(void)
{
	struct finding finding = numbered_finding(1);
	struct schedule_file *schedule = &finding.schedule;

	schedule->segments =
		realloc(schedule->segments, LONG_SEGMENTS * sizeof *schedule->segments);
	assert_non_null(schedule->segments);
	for (uint32_t i = 0; i < LONG_SEGMENTS; i++)
		schedule->segments[i] =
			(struct schedule_segment){.thread = (uint16_t)(i % 2), .count = 1 + i % 7};
	schedule->segment_count = LONG_SEGMENTS;
	schedule->step_count = 0;
	for (uint32_t i = 0; i < LONG_SEGMENTS; i++)
		schedule->step_count += schedule->segments[i].count;
	return finding;
}

static bool has_file(const char *name)
{
	char path[192];

	(void)snprintf(path, sizeof path, "%s/.raddle/findings/F1/%s", folder, name); /* short */
	return access(path, F_OK) == 0;
}

static void test_store__compresses_a_long_schedule(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	struct finding finding = long_finding(), back;
	char *before = NULL, *after = NULL;
	bool is_new = false, is_edited = true;
	struct error err;

	(void)state;
	assert_int_equal(store_add_finding(store, 7, &finding, &is_new, &err), 0);
	assert_true(has_file("finding.json.zst") && has_file("schedule.txt.zst"));
	assert_false(has_file("finding.json") || has_file("schedule.txt"));
	assert_int_equal(store_load_finding(store, "F1", &back, &err), 0);
	before = finding_to_json(&finding);
	after = finding_to_json(&back);
	assert_string_equal(after, before);
	assert_true(back.is_own); /* the seal is that of the text */
	assert_int_equal(store_read_schedule(store, &back, &is_edited, &err), 0);
	assert_false(is_edited);
	/* A person's edit takes precedence. */
	run_or_fail("printf 'raddle schedule 1\nmain 3\n' > %s/.raddle/findings/F1/schedule.txt",
		folder);
	assert_int_equal(store_read_schedule(store, &back, &is_edited, &err), 0);
	assert_true(is_edited);
	assert_int_equal(back.schedule.segment_count, 1);
	free(before);
	free(after);
	finding_release(&finding);
	finding_release(&back);
	store_close(store);
}

static void test_store__refuses_damaged_compressed_texts(void **state)
{
	static const char *const damage[] = {
		"truncate -s 100", "truncate -s 0", "cp /bin/sh", "cp /proc/self/cmdline"};
	struct store *store = open_store(STORE_WRITE);
	struct finding finding = long_finding();
	bool is_new = false;
	struct error err;

	(void)state;
	assert_int_equal(store_add_finding(store, 7, &finding, &is_new, &err), 0);
	finding_release(&finding);
	for (unsigned i = 0; i < sizeof damage / sizeof *damage; i++) {
		run_or_fail("%s %s/.raddle/findings/F1/finding.json.zst", damage[i], folder);
		assert_int_equal(store_load_finding(store, "F1", &finding, &err), ERROR_STORE);
		assert_non_null(strstr(err.text, "changed by hand"));
	}
	store_close(store);
}

/* Runs in a child that has given up root, which may write anywhere. */
static int try_read_only(void)
{
	struct store *store = NULL;
	struct store_finding_row *rows;
	uint32_t count;
	struct error err;
	bool is_new;

	if (!geteuid() && setresuid(65534, 65534, 65534))
		return 10;
	if (!store_open(&store, folder, STORE_WRITE, &err) || !strstr(err.text, "writable"))
		return 11;
	if (store_open(&store, folder, STORE_READ, &err))
		return 12;
	if (store_list_findings(store, &rows, &count, &err) || count != 1)
		return 13;
	store_rows_free(rows, count);
	if (!add(store, 2, 1, &is_new, NULL))
		return 14;
	store_close(store);
	return 0;
}

static void test_store__is_readable_where_it_cannot_be_written(void **state)
{
	struct store *store = open_store(STORE_WRITE);
	bool is_new;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(add(store, 1, 1, &is_new, NULL), 0);
	store_close(store);
	run_or_fail("chmod -R a-w,a+rX %s", folder);
	child = fork();
	if (!child)
		_exit(try_read_only());
	assert_int_equal(waitpid(child, &status, 0), child);
	run_or_fail("chmod -R u+w %s", folder);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_store__is_shared_by_processes(void **state)
{
	enum { PROCESSES = 3, EACH = 8 };
	pid_t children[PROCESSES];
	int status;

	(void)state;
	for (unsigned process = 0; process < PROCESSES; process++) {
		children[process] = fork();
		if (children[process])
			continue;
		for (unsigned i = 0; i < EACH; i++) {
			struct store *store = open_store(STORE_WRITE);
			bool is_new;

			/* Half of them are found by all processes. */
			if (add(store, i % 2 ? i : 100 * process + i, 1, &is_new, NULL))
				_exit(1);
			store_close(store);
		}
		_exit(0);
	}
	for (unsigned process = 0; process < PROCESSES; process++) {
		assert_int_equal(waitpid(children[process], &status, 0), children[process]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(check_store(NULL), EACH / 2 + PROCESSES * EACH / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_store__keeps_findings_across_processes),
		WITH_FOLDER(test_store__counts_a_known_finding_and_keeps_the_shorter),
		WITH_FOLDER(test_store__keeps_the_trace_of_the_run_that_it_keeps),
		WITH_FOLDER(test_store__distinguishes_equal_signatures_of_other_programs),
		WITH_FOLDER(test_store__keeps_campaigns),
		WITH_FOLDER(test_store__knows_only_ids_of_findings),
		WITH_FOLDER(test_store__says_that_there_is_none),
		WITH_FOLDER(test_store__keeps_the_last_document),
		WITH_FOLDER(test_store__refuses_other_versions),
		WITH_FOLDER(test_store__refuses_databases_of_others),
		WITH_FOLDER(test_store__refuses_a_damaged_database),
		WITH_FOLDER(test_store__reports_a_file_in_place_of_the_folder),
		WITH_FOLDER(test_store__says_that_a_finding_was_damaged_by_hand),
		WITH_FOLDER(test_store__compresses_a_long_schedule),
		WITH_FOLDER(test_store__refuses_damaged_compressed_texts),
		WITH_FOLDER(test_store__is_readable_where_it_cannot_be_written),
		WITH_FOLDER(test_store__is_shared_by_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
