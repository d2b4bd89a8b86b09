/* Stores of parts of a campaign, put together. */
#include "support/sample_trace.h"
#include "support/store_scene.h"

#include <sqlite3.h>

static struct store *open_part(const char *name, enum store_access access)
{
	struct store *store = NULL;
	char path[128];
	struct error err;

	(void)snprintf(path, sizeof path, "%s/%s", folder, name); /* short */
	if (access == STORE_WRITE)
		run_or_fail("mkdir -p %s", path);
	if (store_open(&store, path, access, &err))
		fail_msg("%s", err.text);
	return store;
}

static struct store_campaign campaign_of(uint64_t first, uint64_t end)
{
	return (struct store_campaign){
		.command = "./bank 3",
		.options = "{}",
		.strategy = "random",
		.state = "done",
		.restart = "rewind",
		.seed = 7,
		.runs = end - first,
		.failures = 2,
		.run_first = first,
		.run_end = end,
		.target = 0xfedcba9876543210,
	};
}

/* A store with one campaign and the findings with these numbers; 0 ends them. */
static void make_part(const char *name, struct store_campaign campaign, const unsigned *findings,
	uint32_t preemptions)
{
	struct store *store = open_part(name, STORE_WRITE);
	struct error err;
	bool is_new;
	char id[32];

	assert_int_equal(store_campaign_begin(store, &campaign, &err), 0);
	for (; *findings; findings++)
		assert_int_equal(add(store, *findings, preemptions, &is_new, id), 0);
	store_close(store);
}

static void write_sample(const char *path)
{
	size_t size;
	char *bytes = make_sample_trace(1000, &size);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	free(bytes);
}

static int merge(const char *from_name, struct store_merged *merged, struct error *err)
{
	struct store *into = open_part("all", STORE_WRITE),
		     *from = open_part(from_name, STORE_READ);
	const char *const folders[2] = {"all", from_name};
	int status = store_merge(into, from, folders, merged, err);

	store_close(from);
	store_close(into);
	return status;
}

static void assert_refused(const char *from_name, const char *words)
{
	struct store_merged merged;
	struct store_campaign *campaigns;
	uint32_t before, after, known;
	struct store *store;
	struct error err;

	store = open_part("all", STORE_WRITE);
	assert_int_equal(store_list_campaigns(store, &campaigns, &before, &err), 0);
	known = before;
	while (before)
		store_campaign_release(&campaigns[--before]);
	free(campaigns);
	assert_true(merge(from_name, &merged, &err) < 0);
	if (!strstr(err.text, words) || !strstr(err.text, "; "))
		fail_msg("%s", err.text);
	assert_int_equal(store_list_campaigns(store, &campaigns, &after, &err), 0);
	assert_int_equal(after, known);
	while (after)
		store_campaign_release(&campaigns[--after]);
	free(campaigns);
	store_close(store);
}

static void test_merge__takes_findings_and_campaigns_over(void **state)
{
	struct store_merged merged;
	struct store_finding_row *rows;
	struct store_campaign *campaigns;
	struct finding finding;
	struct store *store;
	struct error err;
	uint32_t count;

	(void)state;
	make_part("one", campaign_of(0, 100), (const unsigned[]){1, 2, 0}, 9);
	make_part("two", campaign_of(1000, 1200), (const unsigned[]){2, 3, 3, 0}, 4);
	assert_int_equal(merge("one", &merged, &err), 0);
	assert_int_equal(merge("two", &merged, &err), 0);
	assert_int_equal(merged.campaigns, 1);
	assert_int_equal(merged.runs, 200);
	assert_int_equal(merged.findings, 2);
	assert_int_equal(merged.new_findings, 1);
	store = open_part("all", STORE_READ);
	assert_int_equal(store_list_findings(store, &rows, &count, &err), 0);
	assert_int_equal(count, 3);
	assert_int_equal(rows[0].times_seen, 1);
	assert_int_equal(rows[1].times_seen, 2); /* in both stores */
	assert_int_equal(rows[2].times_seen, 2);
	assert_int_equal(rows[2].campaign, 2);
	store_rows_free(rows, count);
	/* The shorter one, whole. */
	assert_int_equal(store_load_finding(store, "F2", &finding, &err), 0);
	assert_int_equal(finding.preemptions, 4);
	assert_string_equal(finding.id, "F2");
	finding_release(&finding);
	assert_int_equal(store_list_campaigns(store, &campaigns, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(campaigns[1].run_first, 1000);
	assert_int_equal(campaigns[1].run_end, 1200);
	assert_int_equal(campaigns[1].target, 0xfedcba9876543210);
	while (count)
		store_campaign_release(&campaigns[--count]);
	free(campaigns);
	store_close(store);
}

#define TRACE_PATH 128 /* bytes, enough for every folder of a test */

/* Makes the part "one", whose finding has a trace at `path`. */
static void make_part_with_trace(char path[TRACE_PATH])
{
	make_part("one", campaign_of(0, 100), (const unsigned[]){1, 0}, 9);
	(void)snprintf(path, TRACE_PATH, "%s/one/.raddle/findings/F1/trace", folder);
	write_sample(path);
}

static void test_merge__keeps_traces(void **state)
{
	struct store_merged merged;
	struct error err;
	char path[TRACE_PATH];

	(void)state;
	make_part_with_trace(path);
	assert_int_equal(merge("one", &merged, &err), 0);
	run_or_fail("cmp %s/one/.raddle/findings/F1/trace %s/all/.raddle/findings/F1/trace", folder,
		folder);
}

static void test_merge__copies_no_file_that_is_no_trace(void **state)
{
	static const char *const attacks[] = {
		"printf 'some\\000bytes' >", "truncate -s -40", "ln -sf /etc/passwd", "mkfifo"};

	(void)state;
	make_part("one", campaign_of(0, 100), (const unsigned[]){1, 0}, 9);
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
		char path[128];

		(void)snprintf(
			path, sizeof path, "%s/one/.raddle/findings/F1/trace", folder); /* short */
		(void)unlink(path);
		write_sample(path);
		if (i > 1)
			assert_int_equal(unlink(path), 0);
		run_or_fail("%s %s", attacks[i], path);
		assert_refused("one", "trace");
	}
}

static void test_merge__names_a_trace_of_another_version(void **state)
{
	struct store_merged merged;
	struct error err;
	char path[TRACE_PATH];

	(void)state;
	make_part_with_trace(path);
	run_or_fail("printf '\\001' | dd of=%s bs=1 seek=8 conv=notrunc status=none", path);
	assert_int_equal(merge("one", &merged, &err), ERROR_STORE);
	assert_non_null(strstr(err.text, "has the format of another version of raddle"));
}

static void test_merge__refuses_the_same_runs(void **state)
{
	const unsigned none[] = {0};
	struct store_campaign other = campaign_of(99, 100);
	struct store_merged merged;
	struct error err;

	(void)state;
	make_part("one", campaign_of(0, 100), none, 1);
	make_part("same", campaign_of(99, 150), none, 1);
	make_part("next", campaign_of(100, 150), none, 1);
	other.seed = 8;
	make_part("seed", other, none, 1);
	other = campaign_of(0, 100);
	other.command = "./bank 4";
	make_part("words", other, none, 1);
	assert_int_equal(merge("one", &merged, &err), 0);
	assert_refused("one", "the same runs");
	assert_refused("same", "the same runs");
	assert_int_equal(merge("next", &merged, &err), 0);
	assert_int_equal(merge("seed", &merged, &err), 0);
	assert_int_equal(merge("words", &merged, &err), 0);
}

static void test_merge__refuses_other_programs(void **state)
{
	const unsigned some[] = {5, 0};
	struct store_campaign other = campaign_of(500, 600);
	struct store_merged merged;
	struct error err;

	(void)state;
	make_part("one", campaign_of(0, 100), some, 1);
	other.target++;
	make_part("build", other, some, 1);
	other = campaign_of(500, 600);
	other.command = "./pool 3";
	make_part("program", other, some, 1);
	other = campaign_of(500, 600);
	other.command = "/elsewhere/bank 3";
	make_part("folder", other, some, 1);
	other.target = 0;
	make_part("old", other, some, 1);
	assert_int_equal(merge("one", &merged, &err), 0);
	assert_refused("build", "another file");
	assert_refused("program", "pool");
	assert_refused("old", "fingerprint");
	assert_int_equal(merge("folder", &merged, &err), 0);
}

/* The documents of a finding move with it, under its new name. */
static void test_merge__takes_documents_over(void **state)
{
	struct store_document reported = {.kind = "predict",
		.campaign = 1,
		.text = "{\"candidates\": [{\"finding\": \"F1\"}, {\"finding\": \"F2\"},"
			" {\"finding\": null}]}"};
	struct store_document explained = {
		.kind = "explain", .finding = "F1", .text = "{\"finding\": \"F1\"}"};
	struct store_document *rows;
	struct store_merged merged;
	struct store *store;
	struct error err;
	uint32_t count;

	(void)state;
	make_part("one", campaign_of(0, 100), (const unsigned[]){1, 2, 0}, 9);
	make_part("two", campaign_of(1000, 1200), (const unsigned[]){2, 3, 0}, 4);
	store = open_part("two", STORE_WRITE);
	assert_int_equal(store_keep_document(store, &reported, &err), 0);
	assert_int_equal(store_keep_document(store, &explained, &err), 0);
	store_close(store);
	assert_int_equal(merge("one", &merged, &err), 0);
	assert_int_equal(merge("two", &merged, &err), 0);
	store = open_part("all", STORE_READ);
	assert_int_equal(store_list_documents(store, &rows, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(rows[0].kind, "predict");
	assert_int_equal(rows[0].campaign, 2);
	assert_null(rows[0].finding);
	assert_string_equal(rows[0].text,
		"{\"candidates\":[{\"finding\":\"F2\"},{\"finding\":\"F3\"},{\"finding\":null}]}");
	assert_string_equal(rows[1].finding, "F2");
	assert_string_equal(rows[1].text, "{\"finding\":\"F2\"}");
	store_documents_free(rows, count);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_merge__takes_findings_and_campaigns_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_merge__keeps_traces, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_merge__names_a_trace_of_another_version, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_merge__copies_no_file_that_is_no_trace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_merge__takes_documents_over, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_merge__refuses_the_same_runs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_merge__refuses_other_programs, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
