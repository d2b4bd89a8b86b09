#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "store/store_internal.h"
#include "trace/schedule_text.h"

static bool store_schedule_is_same(
	const struct schedule_file *one, const struct schedule_file *other)
{
	struct strbuf texts[2];
	bool is_same;

	strbuf_init(&texts[0]);
	strbuf_init(&texts[1]);
	schedule_text_write(one, &texts[0]);
	schedule_text_write(other, &texts[1]);
	is_same = strcmp(texts[0].text, texts[1].text) == 0;
	strbuf_release(&texts[0]);
	strbuf_release(&texts[1]);
	return is_same;
}

int store_read_schedule(
	struct store *store, struct finding *finding, bool *is_edited, struct error *err)
{
	const char *const name[2] = {finding->id, "schedule.txt"};
	char *text = NULL, *path = store_finding_path(store, name[0], name[1]);
	struct schedule_file schedule;
	size_t size;
	int status = 0;

	*is_edited = false;
	if (!store_has_file(store, name[0], name[1]))
		status = error_set(err, ERROR_NOTFOUND,
			"the schedule of %s is gone: there is no %s any more; restore the file, give "
			"another one (raddle replay %s --schedule FILE), or find the failure again",
			finding->id, path, finding->id);
	if (!status)
		status = store_read_file(store, name, FINDING_BYTES_MAX, &text, &size, err);
	if (!status)
		status = schedule_text_parse(text, size, path, &schedule, err);
	free(text);
	free(path);
	if (status < 0)
		return status;
	*is_edited = !store_schedule_is_same(&schedule, &finding->schedule);
	schedule_file_release(&finding->schedule);
	finding->schedule = schedule;
	return 0;
}
