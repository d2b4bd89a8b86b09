#include "fuzz/fuzz_targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "campaign/memory_view.h"
#include "findings/finding.h"
#include "findings/suppressions.h"
#include "record/record_file.h"
#include "symbols/site_table.h"
#include "trace/schedule_text.h"
#include "trace/trace_reader.h"

static void check_refusal(int status, const struct error *err)
{
	BUG_ON(status >= 0 || err->code != status);
	BUG_ON(!strstr(err->text, "; ") || strchr(err->text, '\n'));
}

bool fuzz_schedule(const uint8_t *bytes, size_t size)
{
	struct schedule_file file, again;
	struct error err = {0};
	struct strbuf first, second;
	int status = schedule_text_parse((const char *)bytes, size, "fuzz", &file, &err);

	if (status) {
		check_refusal(status, &err);
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

bool fuzz_trace(const uint8_t *bytes, size_t size)
{
	struct trace_reader *reader;
	const struct trace_event *events;
	struct error err = {0};
	uint64_t seen = 0;
	uint32_t count = 1;
	int status = trace_reader_open_memory(&reader, bytes, size, "fuzz", &err);

	if (status) {
		check_refusal(status, &err);
		return false;
	}
	while (!(status = trace_reader_next(reader, &events, &count, &err)) && count) {
		const struct trace_run *run = trace_reader_run(reader);

		seen += count;
		for (uint32_t i = 0; i < count; i++)
			BUG_ON(events[i].thread >= run->thread_count ||
				events[i].kind >= OP_KIND_COUNT);
	}
	if (status)
		check_refusal(status, &err);
	else
		BUG_ON(seen != trace_reader_run(reader)->event_count);
	trace_reader_close(reader);
	return !status;
}

bool fuzz_finding(const uint8_t *bytes, size_t size)
{
	struct finding finding, again;
	struct error err = {0};
	char *first, *second;
	int status = finding_from_json((const char *)bytes, size, &finding, &err);

	if (status) {
		check_refusal(status, &err);
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

bool fuzz_memory(const uint8_t *bytes, size_t size)
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
		check_refusal(status, &err);
		return false;
	}
	first = memory_view_to_json(&view);
	memory_view_release(&view);
	if (!first) /* of nothing at all */
		return true;
	BUG_ON(memory_view_from_json(first, &again, &err));
	second = memory_view_to_json(&again);
	BUG_ON(strcmp(first, second));
	free(first);
	free(second);
	memory_view_release(&again);
	return true;
}

bool fuzz_suppressions(const uint8_t *bytes, size_t size)
{
	struct suppressions suppressions;
	struct error err = {0};
	int status = suppressions_parse(&suppressions, (const char *)bytes, size, "fuzz", &err);

	if (status) {
		check_refusal(status, &err);
		return false;
	}
	for (uint32_t i = 0; i < suppressions.count; i++) {
		const char *pattern = suppressions.list[i].pattern;

		/* What has no special characters is part of itself. */
		if (!strpbrk(pattern, "*^$"))
			BUG_ON(!suppression_pattern_matches(pattern, pattern));
		(void)suppression_pattern_matches(pattern, "std::vector<int>::push_back");
	}
	suppressions_release(&suppressions);
	return true;
}

bool fuzz_sites(const uint8_t *bytes, size_t size)
{
	struct site_table *table = NULL;
	struct error err = {0};
	int status = site_table_read(&table, bytes, size, "fuzz", &err);

	if (status) {
		check_refusal(status, &err);
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

bool fuzz_record(const uint8_t *bytes, size_t size)
{
	struct run_record record;
	struct error err = {0};
	uint8_t *first, *second;
	size_t first_size, second_size;
	int status = record_contents_read(&record, bytes, size, "fuzz", &err);

	if (status) {
		check_refusal(status, &err);
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
