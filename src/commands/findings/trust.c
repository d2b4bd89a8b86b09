#include "commands/findings/trust.h"

#include <stdio.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "store/surroundings.h"
#include "cli/next_command.h"
#include "cli/terminal.h"

/* Describes everything that decides which command a replay runs. */
static void trust_describe(const struct finding *finding, struct strbuf *out)
{
	STRBUF_SCOPED names = STRBUF_EMPTY;

	surroundings_list(finding->environment, &names);
	if (names.length)
		strbuf_addf(out, "env %s ", names.text);
	strbuf_adds(out, "raddle run");
	next_add_finding(out, finding, NULL);
}

static void trust_show(const char *id, const char *command)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	strbuf_addf(&text,
		"%s was made by another user, on another machine or without a home folder for your key (XDG_STATE_HOME), or was changed; it runs:\n  %s\n",
		id, command);
	terminal_put(stderr, text.text);
}

static bool trust_ask(void)
{
	char answer[16] = "";

	(void)fputs("Run it? [y/N] ", stderr); /* a terminal */
	(void)fflush(stderr);
	return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

int trust_finding(const struct finding *finding, bool is_trusted, struct error *err)
{
	STRBUF_SCOPED command = STRBUF_EMPTY;

	if (finding->is_own || is_trusted)
		return 0;
	trust_describe(finding, &command);
	trust_show(finding->id, command.text);
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO) && trust_ask())
		return 0;
	return error_set(err, ERROR_STORE,
		"%s was not run, because somebody else may have written its command; read the command, and add --trust to run it",
		finding->id);
}
