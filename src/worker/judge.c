#include "worker/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/launch.h"

extern char **environ;

int judge_open(struct judge *judge, const char *command, struct error *err)
{
	*judge = (struct judge){.command = command, .output = -1};
	if (!command)
		return 0;
	while (environ[judge->variables])
		judge->variables++;
	judge->environment = calloc(judge->variables + 3, sizeof *judge->environment);
	judge->output = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!judge->environment || judge->output < 0) {
		judge_close(judge);
		return error_set(err, ERROR_IO, "/dev/null cannot be opened");
	}
	memcpy(judge->environment, environ, judge->variables * sizeof *judge->environment);
	return 0;
}

void judge_close(struct judge *judge)
{
	free(judge->environment); /* its strings belong to the process environment */
	judge->environment = NULL;
	if (judge->output >= 0)
		(void)close(judge->output); /* /dev/null */
	judge->output = -1;
}

/* Runs the judge. Returns its exit status, or a negative error code. */
static int judge_wait_for(pid_t pid, const char *command, struct error *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, ERROR_IO, "--check cannot be waited for");
	if (!WIFEXITED(status))
		return error_set(err, ERROR_USAGE,
			"--check %s was stopped by signal %d; mend the command", command,
			WTERMSIG(status));
	/* the shell could not run the command, which is no judgement */
	if (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127)
		return error_set(err, ERROR_USAGE,
			"--check %s cannot be run; check the command by hand", command);
	return WEXITSTATUS(status);
}

int judge_run(const struct judge *judge, int printed, struct outcome *outcome, struct error *err)
{
	char word[64];
	char status[64];
	char *argv[] = {"sh", "-c", (char *)judge->command, NULL};
	struct launch launch = {
		.path = "/bin/sh",
		.argv = argv,
		.environment = judge->environment,
		.output = judge->output,
		.error_output = judge->output,
	};
	char path[64];
	pid_t pid;
	int verdict;

	if (!judge->command || (outcome->kind != OUTCOME_PASSED && outcome->kind != OUTCOME_EXIT))
		return 0;
	(void)snprintf(
		word, sizeof word, "RADDLE_OUTCOME=%s", outcome_descriptions[outcome->kind].word);
	(void)snprintf(status, sizeof status, "RADDLE_STATUS=%d", outcome->code);
	judge->environment[judge->variables] = word;
	judge->environment[judge->variables + 1] = status;
	/*
	 * A new open file description: the judge reads from the beginning, the run's offset stays.
	 */
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", printed);
	launch.input = open(path, O_RDONLY | O_CLOEXEC);
	if (launch.input < 0)
		return error_set(err, ERROR_IO, "the run's output cannot be read again (%s)",
			strerror(errno));
	pid = launch_process(&launch, err);
	(void)close(launch.input); /* the file was opened for reading */
	if (pid < 0)
		return pid;
	verdict = judge_wait_for(pid, judge->command, err);
	if (verdict < 0)
		return verdict;
	if (verdict == 0) {
		outcome->kind = OUTCOME_PASSED;
	} else {
		outcome->kind = OUTCOME_CHECK_FAILED;
		outcome->code = verdict;
	}
	return 0;
}
