#include "commands/findings/recorded_environment.h"

#include "store/store.h"
#include "store/surroundings.h"
#include "cli/terminal.h"

void recorded_environment_restore(const struct finding *finding)
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

int stored_schedule_read(struct store *store, struct finding *finding, struct error *err)
{
	bool is_edited;
	const int result = store_read_schedule(store, finding, &is_edited, err);

	if (result == 0 && is_edited)
		terminal_hint(
			"note: the schedule.txt of %s has been edited; the runs follow the edited schedule\n",
			finding->id);
	return result;
}
