/*
 * Stores that another user made with the intent to harm. Reading them changes nothing, here or
 * elsewhere; opening them for writing changes nothing outside of them (docs/security.md).
 */
#include "support/store_scene.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>

/* A file outside of the store that an attack aims at. */
static char victim[96];

static void make_victim(void)
{
	(void)snprintf(victim, sizeof victim, "%s/outside/precious", folder); /* short */
	run_or_fail("mkdir %s/outside && echo precious > %s", folder, victim);
}

static void assert_victim_is_whole(void)
{
	run_or_fail("test \"$(cat %s)\" = precious", victim);
}

static void make_store(unsigned findings)
{
	struct store *store = open_store(STORE_WRITE);
	bool is_new;

	for (unsigned i = 1; i <= findings; i++)
		assert_int_equal(add(store, i, 1, &is_new, NULL), 0);
	store_close(store);
}

static void assert_refused(enum store_access access, const char *cause)
{
	struct store *store = NULL;
	struct error err = {0};

	assert_int_equal(store_open(&store, folder, access, &err), ERROR_STORE);
	assert_null(store);
	if (!strstr(err.text, cause))
		fail_msg("\"%s\" does not say \"%s\"", err.text, cause);
	assert_non_null(strstr(err.text, "; "));
	assert_victim_is_whole();
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

/* ---- folders ---- */

static void test_store__removes_nothing_behind_a_link_among_the_findings(void **state)
{
	struct stat status;
	char path[128];

	(void)state;
	make_victim();
	make_store(1);
	run_or_fail("ln -s %s/outside %s/.raddle/findings/F9", folder, folder);
	run_or_fail("ln -s %s/outside %s/.raddle/findings/.new-F2", folder, folder);
	store_close(open_store(STORE_READ));
	assert_victim_is_whole();
	(void)snprintf(path, sizeof path, "%s/.raddle/findings/F9", folder); /* short */
	assert_int_equal(lstat(path, &status), 0);
	store_close(open_store(STORE_WRITE));
	assert_victim_is_whole();
	assert_int_equal(lstat(path, &status), -1); /* the link itself is a left-over */
}

static void test_store__refuses_links_in_location_of_its_folders(void **state)
{
	(void)state;
	make_victim();
	make_store(1);
	run_or_fail("cd %s/.raddle && mv findings ../moved && ln -s ../moved findings", folder);
	assert_refused(STORE_READ, "findings");
	assert_refused(STORE_WRITE, "findings");
	run_or_fail("cd %s && rm .raddle/findings && mv moved .raddle/findings && mv .raddle moved"
		    " && ln -s moved .raddle",
		folder);
	assert_refused(STORE_READ, ".raddle");
	assert_refused(STORE_WRITE, ".raddle");
}

static void test_store__removes_no_orphan_when_it_is_only_read(void **state)
{
	char path[128];

	(void)state;
	make_store(1);
	run_or_fail("cp -r %s/.raddle/findings/F1 %s/.raddle/findings/F7", folder, folder);
	store_close(open_store(STORE_READ));
	(void)snprintf(
		path, sizeof path, "%s/.raddle/findings/F7/finding.json", folder); /* short */
	assert_int_equal(access(path, F_OK), 0);
}

static void test_store__reads_only_regular_files_of_findings(void **state)
{
	static const char *const attacks[] = {"ln -s /etc/passwd", "mkfifo", "mkdir"};
	struct finding finding;
	struct store *store;
	struct error err;

	(void)state;
	make_store(1);
	store = open_store(STORE_READ);
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
		run_or_fail("cd %s/.raddle/findings/F1 && rm -rf finding.json && %s finding.json",
			folder, attacks[i]);
		assert_int_equal(store_load_finding(store, "F1", &finding, &err), ERROR_STORE);
	}
	store_close(store);
}

/* Otherwise opening a FIFO would wait for its writer, and a link could name a private file. */
static void test_store__reads_only_regular_files_as_schedules(void **state)
{
	static const char *const attacks[] = {"ln -s /etc/passwd", "mkfifo", "mkdir"};
	struct finding finding;
	struct store *store;
	struct error err;
	bool is_edited;

	(void)state;
	make_store(1);
	store = open_store(STORE_READ);
	assert_int_equal(store_load_finding(store, "F1", &finding, &err), 0);
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
		run_or_fail("cd %s/.raddle/findings/F1 && rm -rf schedule.txt && %s schedule.txt",
			folder, attacks[i]);
		assert_int_equal(
			store_read_schedule(store, &finding, &is_edited, &err), ERROR_STORE);
	}
	run_or_fail("rm -r %s/.raddle/findings/F1/schedule.txt", folder);
	assert_int_equal(store_read_schedule(store, &finding, &is_edited, &err), ERROR_NOTFOUND);
	finding_release(&finding);
	store_close(store);
}

static void test_store__refuses_the_file_of_another_finding(void **state)
{
	struct finding finding;
	struct store *store;
	struct error err;

	(void)state;
	make_store(2);
	run_or_fail("cd %s/.raddle/findings && cp F1/finding.json F2", folder);
	store = open_store(STORE_READ);
	assert_int_equal(store_load_finding(store, "F1", &finding, &err), 0);
	finding_release(&finding);
	assert_int_equal(store_load_finding(store, "F2", &finding, &err), ERROR_STORE);
	assert_non_null(strstr(err.text, "not that of finding F2"));
	store_close(store);
}

static void test_store__writes_no_state_through_a_link(void **state)
{
	struct store *store;
	struct error err;
	uint64_t size;
	int fd;

	(void)state;
	make_victim();
	make_store(1);
	run_or_fail("ln -s %s %s/.raddle/state-1.new && ln -s %s %s/.raddle/state-2", victim,
		folder, victim, folder);
	store = open_store(STORE_WRITE);
	fd = store_state_create(store, 1);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_true(store_state_publish(store, 1, fd, true));
	assert_int_equal(store_state_open(store, 2, &fd, &size, &err), ERROR_NOTFOUND);
	assert_victim_is_whole();
	store_close(store);
}

/* Sets where this user's key lies. */
static void set_key_folder(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof path, "%s/%s", folder, name); /* short */
	(void)mkdir(path, 0700);				  /* the folder may exist */
	assert_int_equal(setenv("XDG_STATE_HOME", path, 1), 0);
}

static bool is_own_finding(const char *id)
{
	struct store *store = open_store(STORE_READ);
	struct finding finding;
	struct error err;
	bool is_own;

	if (store_load_finding(store, id, &finding, &err))
		fail_msg("%s", err.text);
	is_own = finding.is_own;
	finding_release(&finding);
	store_close(store);
	return is_own;
}

static void test_store__knows_the_findings_of_its_user(void **state)
{
	(void)state;
	set_key_folder("mine");
	make_store(2);
	assert_true(is_own_finding("F1"));
	/* The store is a clone of a repository, or on another machine. */
	set_key_folder("theirs");
	assert_false(is_own_finding("F1"));
	store_close(open_store(STORE_WRITE)); /* makes a key */
	assert_false(is_own_finding("F1"));
	set_key_folder("mine");
	assert_true(is_own_finding("F1"));
	run_or_fail("sed -i s/bank/banK/ %s/.raddle/findings/F1/finding.json", folder);
	assert_false(is_own_finding("F1"));
	run_or_fail("cd %s/.raddle/findings && cp F1/seal F2/seal", folder);
	assert_false(is_own_finding("F2"));
	run_or_fail("chmod 0644 %s/mine/raddle/key", folder); /* others may know the key */
	assert_false(is_own_finding("F2"));
}

static int open_state(const char *change)
{
	struct store *store = open_store(STORE_WRITE);
	char bytes[100000] = "a state";
	struct error err;
	uint64_t size;
	int fd, status;

	fd = store_state_create(store, 1);
	assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
	assert_true(store_state_publish(store, 1, fd, true));
	run_or_fail("cd %s/.raddle && %s", folder, change);
	status = store_state_open(store, 1, &fd, &size, &err);
	if (!status) {
		assert_int_equal(size, sizeof bytes);
		assert_int_equal(read(fd, bytes, 8), 8);
		assert_string_equal(bytes, "a state");
		(void)close(fd);
	}
	store_close(store);
	return status;
}

static void test_store__resumes_from_no_state_that_was_changed(void **state)
{
	(void)state;
	set_key_folder("mine");
	assert_int_equal(open_state("true"), 0);
	assert_int_equal(
		open_state("printf x | dd of=state-1 seek=77777 bs=1 conv=notrunc 2> /dev/null"),
		ERROR_FORMAT);
	assert_int_equal(open_state("truncate -s -1 state-1"), ERROR_FORMAT);
	assert_int_equal(open_state("echo more >> state-1"), ERROR_FORMAT);
	assert_int_equal(open_state(": > state-1"), ERROR_FORMAT);
	assert_int_equal(open_state("rm state-1"), ERROR_NOTFOUND);
}

static void test_store__is_private_whatever_the_umask(void **state)
{
	const mode_t old = umask(0);

	(void)state;
	make_store(1);
	(void)umask(0777);
	run_or_fail("rm -rf %s/.raddle", folder);
	make_store(1);
	(void)umask(old);
	run_or_fail("test -z \"$(find %s/.raddle -type d ! -perm 0700 -o -type f ! -perm 0600)\"",
		folder);
}

/* ---- the database ---- */

static void append_to_journal(const char *victim_name)
{
	static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/.raddle/raddle.db-journal", folder); /* short */
	file = fopen(path, "ab");
	assert_non_null(file);
	(void)fprintf(file, "%s", victim_name);
	assert_int_equal(fwrite(magic, sizeof magic, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void test_store__refuses_a_journal_with_a_super_journal(void **state)
{
	(void)state;
	make_victim();
	make_store(1);
	append_to_journal(victim);
	assert_refused(STORE_READ, "super-journal");
	assert_refused(STORE_WRITE, "super-journal");
}

static void test_store__refuses_a_schema_of_others(void **state)
{
	static const char *const attacks[] = {
		"CREATE TRIGGER t AFTER INSERT ON findings BEGIN DELETE FROM campaigns; END",
		"CREATE VIEW v AS SELECT * FROM findings", "CREATE TABLE t(a)",
		"CREATE INDEX i ON findings(kind)", "ALTER TABLE findings ADD COLUMN more TEXT"};

	(void)state;
	make_victim();
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
		make_store(1);
		execute(attacks[i]);
		assert_refused(STORE_READ, "tables, views or triggers");
		assert_refused(STORE_WRITE, "tables, views or triggers");
		run_or_fail("rm -r %s/.raddle", folder);
	}
}

static void test_store__refuses_a_write_ahead_log(void **state)
{
	(void)state;
	make_victim();
	make_store(1);
	execute("PRAGMA journal_mode=WAL");
	assert_refused(STORE_READ, "write-ahead log");
	assert_refused(STORE_WRITE, "write-ahead log");
	execute("PRAGMA journal_mode=DELETE");
	store_close(open_store(STORE_READ));
	run_or_fail("touch %s/.raddle/raddle.db-wal", folder);
	assert_refused(STORE_READ, "write-ahead log");
}

static void test_store__refuses_a_database_that_is_no_regular_file(void **state)
{
	static const char *const attacks[] = {"mkfifo raddle.db",
		"ln -s ../outside/precious raddle.db", "ln -s /dev/zero raddle.db",
		"mkfifo raddle.db-journal", "ln -s ../outside/precious raddle.db-journal"};

	(void)state;
	make_victim();
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
		make_store(1);
		run_or_fail("cd %s/.raddle && rm -f %s && %s", folder, strrchr(attacks[i], ' ') + 1,
			attacks[i]);
		assert_refused(STORE_READ, "no regular file");
		assert_refused(STORE_WRITE, "no regular file");
		run_or_fail("rm -r %s/.raddle", folder);
	}
}

/* Values that the schema forbids, written past it. */
static void test_store__reads_missing_values_without_a_crash(void **state)
{
	struct store_campaign *campaigns;
	struct store_finding_row *rows;
	struct store *store = NULL;
	struct error err;
	uint32_t count;

	(void)state;
	make_store(1);
	execute("INSERT INTO campaigns(seed, runs, failures, steps, seconds, started)"
		" VALUES('', 'many', x'00', -1, 'long', 9e99)");
	execute("UPDATE findings SET title=NULL, command=NULL, kind='\n', times_seen=-1, found='x'");
	if (store_open(&store, folder, STORE_READ, &err))
		return; /* refused as damaged: as good */
	assert_int_equal(store_list_findings(store, &rows, &count, &err), 0);
	store_rows_free(rows, count);
	assert_int_equal(store_list_campaigns(store, &campaigns, &count, &err), 0);
	for (uint32_t i = 0; i < count; i++)
		store_campaign_release(&campaigns[i]);
	free(campaigns);
	store_close(store);
}

/* Returns the page at which the table of findings begins. */
static unsigned root_of_findings(void)
{
	const char *query = "SELECT rootpage FROM sqlite_schema WHERE name='findings'";
	sqlite3_stmt *statement;
	sqlite3 *database;
	char path[128];
	unsigned root;

	(void)snprintf(path, sizeof path, "%s/.raddle/raddle.db", folder); /* short */
	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(database, query, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	root = (unsigned)sqlite3_column_int(statement, 0);
	assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
	assert_int_equal(sqlite3_close(database), SQLITE_OK);
	return root;
}

/* Writes an interior page of a table, all of whose cells lead to the page `child`. */
static void write_interior_page(FILE *file, unsigned number, unsigned child)
{
	enum { PAGE = 4096, CELLS = 600, HEADER = 12, CELL = PAGE - 8 };
	unsigned char page[PAGE] = {5, 0, 0, CELLS >> 8, CELLS & 255, CELL >> 8, CELL & 255};

	for (unsigned i = 0; i < CELLS; i++) {
		page[HEADER + 2 * i] = CELL >> 8;
		page[HEADER + 2 * i + 1] = CELL & 255;
	}
	page[11] = page[CELL + 3] = (unsigned char)child;
	page[CELL + 4] = 1;
	assert_int_equal(fseek(file, (long)(number - 1) * PAGE, SEEK_SET), 0);
	assert_int_equal(fwrite(page, sizeof page, 1, file), 1);
}

/* A few pages whose paths lead to more rows than anybody can read. */
static void test_store__refuses_a_table_that_shares_its_pages(void **state)
{
	const unsigned levels = 6;
	unsigned char leaf[4096];
	unsigned root, next;
	char path[128];
	FILE *file;

	(void)state;
	make_victim();
	make_store(1);
	root = root_of_findings();
	(void)snprintf(path, sizeof path, "%s/.raddle/raddle.db", folder); /* short */
	file = fopen(path, "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, (long)(root - 1) * (long)sizeof leaf, SEEK_SET), 0);
	assert_int_equal(fread(leaf, sizeof leaf, 1, file), 1);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	next = (unsigned)ftell(file) / (unsigned)sizeof leaf + 1;
	assert_int_equal(fwrite(leaf, sizeof leaf, 1, file), 1);
	for (unsigned i = 1; i < levels; i++)
		write_interior_page(file, next + i, next + i - 1);
	write_interior_page(file, root, next + levels - 1);
	/* The number of pages in the header. */
	assert_int_equal(fseek(file, 31, SEEK_SET), 0);
	assert_int_equal(fputc((int)(next + levels - 1), file), (int)(next + levels - 1));
	assert_int_equal(fclose(file), 0);
	assert_refused(STORE_READ, "the database");
	assert_refused(STORE_WRITE, "the database");
}

/* A sound database of so many rows that raddle cannot have written them. */
static void test_store__stops_a_statement_without_an_end(void **state)
{
	(void)state;
	make_victim();
	make_store(1);
	execute("INSERT INTO campaigns(seed, runs, failures, steps, seconds, started)"
		" WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n LIMIT 2000000)"
		" SELECT '', 0, 0, 0, 0, 0 FROM n");
	assert_refused(STORE_READ, "keeps SQLite busy");
	assert_refused(STORE_WRITE, "keeps SQLite busy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_store__removes_nothing_behind_a_link_among_the_findings),
		WITH_FOLDER(test_store__refuses_links_in_location_of_its_folders),
		WITH_FOLDER(test_store__removes_no_orphan_when_it_is_only_read),
		WITH_FOLDER(test_store__reads_only_regular_files_of_findings),
		WITH_FOLDER(test_store__reads_only_regular_files_as_schedules),
		WITH_FOLDER(test_store__refuses_the_file_of_another_finding),
		WITH_FOLDER(test_store__writes_no_state_through_a_link),
		WITH_FOLDER(test_store__knows_the_findings_of_its_user),
		WITH_FOLDER(test_store__resumes_from_no_state_that_was_changed),
		WITH_FOLDER(test_store__is_private_whatever_the_umask),
		WITH_FOLDER(test_store__refuses_a_journal_with_a_super_journal),
		WITH_FOLDER(test_store__refuses_a_schema_of_others),
		WITH_FOLDER(test_store__refuses_a_write_ahead_log),
		WITH_FOLDER(test_store__refuses_a_database_that_is_no_regular_file),
		WITH_FOLDER(test_store__reads_missing_values_without_a_crash),
		WITH_FOLDER(test_store__refuses_a_table_that_shares_its_pages),
		WITH_FOLDER(test_store__stops_a_statement_without_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
