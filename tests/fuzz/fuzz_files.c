/* Readers of single files: what they accept can be written and read again as the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bug.h"
#include "plan/memory/memory_view.h"
#include "findings/finding.h"
#include "findings/suppressions.h"
#include "fuzz/fuzz_targets.h"
#include "branches/record/record_file.h"
#include "support/sample_finding.h"
#include "support/sample_record.h"
#include "support/sample_sites.h"
#include "symbols/tables/site_table.h"
#include "trace/schedule_text.h"

static bool schedule_run(const uint8_t *bytes, size_t size)
{
	struct schedule_file file, again;
	struct error err = {0};
	struct strbuf first, second;
	int status = schedule_text_parse((const char *)bytes, size, "fuzz", &file, &err);

	if (status) {
		fuzz_check_refusal(status, &err);
		return false;
	}
	strbuf_init(&first);
	strbuf_init(&second);
	schedule_text_write(&file, &first);
	BUG_ON(schedule_text_parse(first.text, first.length, "again", &again, &err));
	schedule_text_write(&again, &second);
	BUG_ON(strcmp(first.text, second.text));
	schedule_file_release(&file);
	schedule_file_release(&again);
	strbuf_release(&first);
	strbuf_release(&second);
	return true;
}

static size_t schedule_make_seed(uint8_t *bytes, size_t capacity)
{
	static const char text[] = "raddle schedule 1\n# by hand\nprogram ./bank \\x41\n"
				   "outcome deadlock\nsteps 20\nmain 12\nmain.0 3 preempts\n"
				   "value 1 of 3\nmain 1\nmain.0.2 4\n";

	BUG_ON(sizeof text > capacity);
	memcpy(bytes, text, sizeof text - 1);
	return sizeof text - 1;
}

const struct fuzz_target fuzz_target_schedule = {
	.name = "schedule", .run = schedule_run, .make_seed = schedule_make_seed};

static bool finding_run(const uint8_t *bytes, size_t size)
{
	struct finding finding, again;
	struct error err = {0};
	char *first, *second;
	int status = finding_from_json((const char *)bytes, size, &finding, &err);

	if (status) {
		fuzz_check_refusal(status, &err);
		return false;
	}
	first = finding_to_json(&finding);
	BUG_ON(finding_from_json(first, strlen(first), &again, &err));
	second = finding_to_json(&again);
	BUG_ON(strcmp(first, second) || finding_signature(&finding) != finding_signature(&again));
	free(first);
	free(second);
	finding_release(&finding);
	finding_release(&again);
	return true;
}

static size_t finding_make_seed(uint8_t *bytes, size_t capacity)
{
	struct finding finding = sample_finding();
	char *text = finding_to_json(&finding);
	const size_t size = strlen(text);

	BUG_ON(size > capacity / 2);
	memcpy(bytes, text, size);
	free(text);
	finding_release(&finding);
	return size;
}

const struct fuzz_target fuzz_target_finding = {
	.name = "finding", .run = finding_run, .make_seed = finding_make_seed};

static bool memory_run(const uint8_t *bytes, size_t size)
{
	char *text = strndup((const char *)bytes, size);
	struct memory_view view, again;
	struct error err = {0};
	char *first, *second;
	int status;

	BUG_ON(!text);
	status = memory_view_from_json(text, &view, &err);
	free(text);
	if (status) {
		fuzz_check_refusal(status, &err);
		return false;
	}
	first = memory_view_to_json(&view);
	memory_view_release(&view);
	if (!first) /* the view is empty */
		return true;
	BUG_ON(memory_view_from_json(first, &again, &err));
	second = memory_view_to_json(&again);
	BUG_ON(strcmp(first, second));
	free(first);
	free(second);
	memory_view_release(&again);
	return true;
}

static size_t memory_make_seed(uint8_t *bytes, size_t capacity)
{
	static const char text[] =
		"{\"mode\":\"shared\",\"modules\":[{\"name\":\"00000000000000ab\",\"fingerprint\":"
		"\"00000000000000cd\",\"count\":90,\"on\":\"0-12,15,80-89\"}],\"points\":"
		"\"00000000000000110000000000000384ffffffffffffffff\","
		"\"racy\":\"0000000000000384\"}";

	BUG_ON(sizeof text > capacity);
	memcpy(bytes, text, sizeof text - 1);
	return sizeof text - 1;
}

const struct fuzz_target fuzz_target_memory = {
	.name = "memory", .run = memory_run, .make_seed = memory_make_seed};

static bool suppressions_run(const uint8_t *bytes, size_t size)
{
	struct suppressions suppressions;
	struct error err = {0};
	int status = suppressions_parse(&suppressions, (const char *)bytes, size, "fuzz", &err);

	if (status) {
		fuzz_check_refusal(status, &err);
		return false;
	}
	for (uint32_t i = 0; i < suppressions.count; i++) {
		const char *pattern = suppressions.list[i].pattern;

		/* A pattern without special characters matches itself. */
		if (!strpbrk(pattern, "*^$"))
			BUG_ON(!suppression_pattern_matches(pattern, pattern));
		(void)suppression_pattern_matches(pattern, "std::vector<int>::push_back");
	}
	suppressions_release(&suppressions);
	return true;
}

static size_t suppressions_make_seed(uint8_t *bytes, size_t capacity)
{
	static const char text[] = "# known\nrace:^counter$\nrace:std::*::push\nrace_top:log\n"
				   "called_from_lib:libz.so\nmutex:m\ndeadlock:d\n";

	BUG_ON(sizeof text > capacity);
	memcpy(bytes, text, sizeof text - 1);
	return sizeof text - 1;
}

const struct fuzz_target fuzz_target_suppressions = {
	.name = "suppressions", .run = suppressions_run, .make_seed = suppressions_make_seed};

static bool sites_run(const uint8_t *bytes, size_t size)
{
	struct site_table *table = NULL;
	struct error err = {0};
	char path[32];
	const int fd = memfd_create("fuzz", 0);
	int status;

	BUG_ON(fd < 0 || write(fd, bytes, size) != (ssize_t)size);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* short */
	status = site_table_open(&table, path, &err);
	BUG_ON(close(fd));
	if (status) {
		fuzz_check_refusal(status, &err);
		return false;
	}
	for (uint32_t i = 0; i < site_table_count(table); i++) {
		const struct site *site = site_table_at(table, i);

		(void)site_table_function(table, site);
		BUG_ON(site->index != i);
		BUG_ON(site->point && !site_table_find(table, site->point));
	}
	site_table_free(table);
	return true;
}

static size_t sites_make_seed(uint8_t *bytes, size_t capacity)
{
	return sample_sites(bytes, capacity);
}

const struct fuzz_target fuzz_target_sites = {
	.name = "sites", .run = sites_run, .make_seed = sites_make_seed};

static bool record_run(const uint8_t *bytes, size_t size)
{
	struct run_record record;
	struct error err = {0};
	uint8_t *first, *second;
	size_t first_size, second_size;
	int status = record_contents_read(&record, bytes, size, "fuzz", &err);

	if (status) {
		fuzz_check_refusal(status, &err);
		return false;
	}
	first = record_contents(&record, &first_size);
	run_record_release(&record);
	BUG_ON(record_contents_read(&record, first, first_size, "again", &err));
	second = record_contents(&record, &second_size);
	BUG_ON(first_size != second_size || memcmp(first, second, first_size) != 0);
	run_record_release(&record);
	free(first);
	free(second);
	return true;
}

/* The contents without the file's checksum, which would hide them from damage. */
static size_t record_make_seed(uint8_t *bytes, size_t capacity)
{
	struct run_record record = sample_record();
	size_t size;
	uint8_t *contents = record_contents(&record, &size);

	BUG_ON(size > capacity / 2);
	memcpy(bytes, contents, size);
	free(contents);
	run_record_release(&record);
	return size;
}

const struct fuzz_target fuzz_target_record = {
	.name = "record", .run = record_run, .make_seed = record_make_seed};
