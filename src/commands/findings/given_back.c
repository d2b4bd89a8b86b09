#include "commands/findings/given_back.h"

#include "store/store.h"
#include "store/surroundings.h"
#include "cli/terminal.h"

static void hint(const char *what, struct strbuf *names)
{
	if (names->length)
		terminal_hint("note: %s: %s\n", what, names->text);
	strbuf_release(names);
}

void give_environment_back(const struct finding *finding)
{
	struct strbuf names;

	strbuf_init(&names);
	surroundings_restore(finding->environment, &names);
	hint("as when it was found", &names);
}

void hint_environment(const struct finding *finding)
{
	struct strbuf names;

	strbuf_init(&names);
	surroundings_compare(finding->environment, finding->is_own, &names);
	hint("other environment variables than when it was found", &names);
}

int read_own_schedule(struct store *store, struct finding *finding, struct error *err)
{
	bool is_edited;
	const int result = store_read_schedule(store, finding, &is_edited, err);

	if (result == 0 && is_edited)
		terminal_hint(
			"note: the schedule.txt of %s has been edited; the runs follow the edited schedule\n",
			finding->id);
	return result;
}
