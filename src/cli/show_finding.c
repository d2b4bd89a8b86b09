#include "cli/show_finding.h"

#include "cli/terminal.h"

void show_finding(const struct finding *finding, FILE *stream)
{
	bool has_color = terminal_has_color(stream);

	(void)fprintf(stream, "\n%s%s: %s%s\n", has_color ? "\033[1;31m" : "", finding->id,
		finding->title, has_color ? "\033[0m" : "");
	if (finding->detail)
		(void)fprintf(stream, "%s\n", finding->detail);
	if (finding->replays_failed_again < finding->replays)
		(void)fprintf(stream, "not repeatable: %u of %u replays failed again\n",
			finding->replays_failed_again, finding->replays);
	(void)fprintf(stream, "%u preemptions, %u context switches (found with %u, %u)\n",
		finding->preemptions, finding->switches, finding->preemptions_found,
		finding->switches_found);
	(void)fprintf(stream, "replay: raddle replay %s\n", finding->id);
}
