/*
 * The store: an input is a store's files, each a part whose tag is an index in `files`. Reading, merging and writing
 * such a store never touches a file outside of it, and each refusal has a cause and a remedy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "store/store.h"
#include "fuzz/fuzz_targets.h"
#include "support/sample_finding.h"
#include "trace/trace_reader.h"

/* Files in the folder .raddle. The database must be first, because its damage has the widest
 * effects. */
static const char *const files[] = {"raddle.db", "findings/F1/finding.json",
	"findings/F1/schedule.txt", "findings/F1/trace", "findings/F1/output.txt", "state-1",
	"raddle.db-journal", "raddle.db-wal", "findings/F2/finding.json"};

#define FILE_COUNT (sizeof files / sizeof *files)

static char store_folder[96], merged_folder[96], precious[96];

/* Makes an empty folder of that name. */
static void store_renew_folder(const char *folder)
{
	fuzz_remove(folder);
	BUG_ON(mkdir(folder, 0700));
}

static void store_make_folders(void)
{
	FILE *file;

	if (*store_folder)
		return;
	(void)snprintf(store_folder, sizeof store_folder, "%s/store", fuzz_folder());
	(void)snprintf(merged_folder, sizeof merged_folder, "%s/merged", fuzz_folder());
	(void)snprintf(precious, sizeof precious, "%s/precious", fuzz_folder());
	BUG_ON(setenv("XDG_STATE_HOME", fuzz_folder(), 1)); /* the key of the seals */
	file = fopen(precious, "w");
	BUG_ON(!file || fputs("precious", file) < 0 || fclose(file));
}

static void store_put_file(const char *name, const void *bytes, size_t size)
{
	char path[160];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/.raddle/%s", store_folder, name); /* short */
	file = fopen(path, "w");
	BUG_ON(!file || (size && fwrite(bytes, size, 1, file) != 1) || fclose(file));
}

static void store_lay_out(const uint8_t *bytes, size_t size)
{
	static const char *const folders[] = {"", "/.raddle", "/.raddle/findings",
		"/.raddle/findings/F1", "/.raddle/findings/F2"};
	struct fuzz_part part;
	char path[160];
	size_t at = 0;

	fuzz_remove(store_folder);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		(void)snprintf(path, sizeof path, "%s%s", store_folder, folders[i]); /* short */
		BUG_ON(mkdir(path, 0700));
	}
	while (fuzz_part_next(&part, bytes, size, &at))
		store_put_file(files[part.tag % FILE_COUNT], part.bytes, part.size);
}

static void store_check_precious(void)
{
	char text[16] = "";
	FILE *file = fopen(precious, "r");

	BUG_ON(!file || !fgets(text, sizeof text, file) || strcmp(text, "precious") != 0);
	(void)fclose(file); /* the file was opened for reading */
}

/* ---- operations of the commands on a store ---- */

static void store_read_findings(struct store *store)
{
	struct store_finding_row *rows;
	struct finding finding;
	struct error err = {0};
	uint32_t count;
	bool is_edited;
	int status = store_list_findings(store, &rows, &count, &err);

	if (status) {
		fuzz_check_refusal(status, &err);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		status = store_load_finding(store, rows[i].id, &finding, &err);
		if (status) {
			fuzz_check_refusal(status, &err);
			continue;
		}
		status = store_read_schedule(store, &finding, &is_edited, &err);
		if (status)
			fuzz_check_refusal(status, &err);
		finding_release(&finding);
	}
	store_rows_free(rows, count);
}

static void store_read_rows(struct store *store)
{
	struct store_campaign *campaigns;
	struct store_document *documents;
	struct error err = {0};
	uint32_t count;
	int status = store_list_campaigns(store, &campaigns, &count, &err);

	if (status)
		fuzz_check_refusal(status, &err);
	for (uint32_t i = 0; status == 0 && i < count; i++)
		store_campaign_release(&campaigns[i]);
	if (status == 0)
		free(campaigns);
	status = store_list_documents(store, &documents, &count, &err);
	if (status)
		fuzz_check_refusal(status, &err);
	else
		store_documents_free(documents, count);
}

static void store_read_state(struct store *store)
{
	struct error err = {0};
	uint64_t size;
	int fd, status;

	if (!store_state_exists(store, 1))
		return;
	status = store_state_open(store, 1, &fd, &size, &err);
	if (status)
		fuzz_check_refusal(status, &err);
	else
		(void)close(fd); /* the file was opened for reading */
}

static void store_merge_into_another(struct store *from)
{
	const char *const names[2] = {"merged", "store"};
	struct store_merged merged;
	struct error err = {0};
	struct store *into;
	int status;

	store_renew_folder(merged_folder);
	BUG_ON(store_open(&into, merged_folder, STORE_WRITE, &err));
	status = store_merge(into, from, names, &merged, &err);
	if (status)
		fuzz_check_refusal(status, &err);
	store_close(into);
}

static bool store_run(const uint8_t *bytes, size_t size)
{
	struct store *store;
	struct error err = {0};
	int status;

	store_make_folders();
	store_lay_out(bytes, size);
	status = store_open(&store, store_folder, STORE_READ, &err);
	if (status) {
		fuzz_check_refusal(status, &err);
	} else {
		store_read_findings(store);
		store_read_rows(store);
		store_read_state(store);
		store_merge_into_another(store);
		store_close(store);
	}
	if (store_open(&store, store_folder, STORE_WRITE, &err) == 0)
		store_close(store);
	store_check_precious();
	return status == 0;
}

/* ---- a valid store ---- */

static void store_make(void)
{
	static const char document[] = "{\"raddle\": \"0.1.0\"}";
	struct store_campaign campaign = {.command = strdup("./bank"),
		.options = strdup("{}"),
		.strategy = strdup("random"),
		.state = strdup("done"),
		.restart = strdup("rewind"),
		.runs = 10,
		.run_end = 10};
	struct finding finding = sample_finding();
	struct store *store;
	struct error err;
	bool is_new;
	int fd;

	store_renew_folder(store_folder);
	BUG_ON(store_open(&store, store_folder, STORE_WRITE, &err));
	BUG_ON(store_campaign_begin(store, &campaign, &err));
	finding.trace = malloc(FUZZ_CAPACITY);
	BUG_ON(!finding.trace);
	finding.trace_size = fuzz_target_trace.make_seed((uint8_t *)finding.trace, FUZZ_CAPACITY);
	BUG_ON(store_add_finding(store, campaign.id, &finding, &is_new, &err));
	BUG_ON(store_keep_document(store,
		&(struct store_document){
			.kind = "explain", .finding = finding.id, .text = (char *)document},
		&err));
	fd = store_state_create(store, campaign.id);
	BUG_ON(fd < 0 || write(fd, document, sizeof document) != sizeof document);
	BUG_ON(!store_state_publish(store, campaign.id, fd, true));
	finding_release(&finding);
	store_campaign_release(&campaign);
	store_close(store);
}

static size_t store_make_seed(uint8_t *bytes, size_t capacity)
{
	static uint8_t contents[FUZZ_CAPACITY];
	size_t size = 0;

	store_make_folders();
	store_make();
	for (size_t i = 0; i < FILE_COUNT; i++) {
		char path[160];
		FILE *file;

		(void)snprintf(
			path, sizeof path, "%s/.raddle/%s", store_folder, files[i]); /* short */
		file = fopen(path, "r");
		if (!file)
			continue;
		size = fuzz_part_add(bytes, size, capacity, (uint8_t)i, contents,
			fread(contents, 1, sizeof contents, file));
		(void)fclose(file); /* the file was opened for reading */
	}
	return size;
}

const struct fuzz_target fuzz_target_store = {.name = "store",
	.run = store_run,
	.make_seed = store_make_seed,
	.damage = fuzz_part_damage};
