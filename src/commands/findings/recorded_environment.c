#include "commands/findings/recorded_environment.h"

#include "store/store.h"
#include "store/surroundings.h"
#include "cli/terminal.h"
#include "commands/findings/trust.h"

/* Restores the environment variables that libraries read, and prints which ones change. */
static void recorded_environment_restore(const struct finding *finding)
{
	STRBUF_SCOPED names = STRBUF_EMPTY;

	surroundings_restore(finding->environment, &names);
	if (names.length)
		terminal_hint("note: environment variables set as when %s was found: %s\n",
			finding->id, names.text);
}

void recorded_environment_compare(const struct finding *finding)
{
	STRBUF_SCOPED names = STRBUF_EMPTY;

	surroundings_compare(finding->environment, finding->is_own, &names);
	if (names.length)
		terminal_hint(
			"note: environment variables that differ from when %s was found: %s\n",
			finding->id, names.text);
}

static int recorded_environment_read_schedule(
	struct store *store, struct finding *finding, struct error *err)
{
	bool is_edited;
	const int result = store_read_schedule(store, finding, &is_edited, err);

	if (result == 0 && is_edited)
		terminal_hint(
			"note: the schedule.txt of %s has been edited; the runs follow the edited schedule\n",
			finding->id);
	return result;
}

int recorded_finding_load(
	struct finding *finding, const struct recorded_source *source, struct error *err)
{
	struct schedule_file schedule;
	struct store *store;
	int result = store_open(&store, source->directory, STORE_READ, err);

	if (result < 0)
		return result;
	result = store_load_finding(store, source->id, finding, err);
	if (result < 0) {
		store_close(store);
		return result;
	}
	result = source->schedule ? schedule_text_read(source->schedule, &schedule, err)
				  : recorded_environment_read_schedule(store, finding, err);
	store_close(store);
	if (result == 0 && source->schedule) {
		schedule_file_release(&finding->schedule);
		finding->schedule = schedule;
	}
	if (result == 0)
		result = trust_finding(finding, source->is_trusted, err);
	if (result < 0)
		finding_release(finding);
	else
		recorded_environment_restore(finding);
	return result;
}
