#include <errno.h>
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
	char *path = store_finding_path(store, finding->id, "schedule.txt");
	struct schedule_file schedule;
	int status;

	*is_edited = false;
	if (!path) /* the id was checked when the finding was loaded */
		return error_set(err, ERROR_NOTFOUND, "%s is not the id of a finding", finding->id);
	if (access(path, F_OK) != 0 && errno == ENOENT)
		status = error_set(err, ERROR_NOTFOUND,
			"the schedule of %s is gone: there is no %s any more; restore the file, give "
			"another one (raddle replay %s --schedule FILE), or find the failure again",
			finding->id, path, finding->id);
	else
		status = schedule_text_read(path, &schedule, err);
	free(path);
	if (status < 0)
		return status;
	*is_edited = !store_schedule_is_same(&schedule, &finding->schedule);
	schedule_file_release(&finding->schedule);
	finding->schedule = schedule;
	return 0;
}
