#include "investigate/replay_setting.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "process/children.h"
#include "exchange/contract_exchange.h"

#define GDB_ARGUMENTS_MAX 32

struct gdb_command {
	char *argv[GDB_ARGUMENTS_MAX];
	unsigned count;
};

static void replay_gdb_add(struct gdb_command *command, const char *argument)
{
	BUG_ON(command->count == GDB_ARGUMENTS_MAX - 1);
	command->argv[command->count] = string_copy(argument);
	command->count++;
}

static void replay_gdb_execute(struct gdb_command *command, const char *what)
{
	replay_gdb_add(command, "-ex");
	replay_gdb_add(command, what);
}

/* A frame filter that hides raddle's libraries from backtraces. */
static const char gdb_filter[] =
	"python exec('''\n"
	"class RaddleFrames:\n"
	"    def __init__(self):\n"
	"        self.name, self.priority, self.enabled = 'raddle', 100, True\n"
	"        gdb.frame_filters[self.name] = self\n"
	"    def filter(self, frames):\n"
	"        return (each for each in frames if 'libraddle' not in\n"
	"                (gdb.solib_name(each.inferior_frame().pc()) or ''))\n"
	"RaddleFrames()\n"
	"''')";

/* The innermost frame with a source outside of /usr, in no library of the system or raddle. */
static const char gdb_select[] =
	"python exec('''\n"
	"frame = gdb.newest_frame() if gdb.selected_thread() else None\n"
	"while frame:\n"
	"    source, library = frame.find_sal().symtab, gdb.solib_name(frame.pc()) or ''\n"
	"    if source and 'libraddle' not in library and not library.startswith(('/lib', '/usr/lib')) "
	"and not source.fullname().startswith('/usr/'):\n"
	"        frame.select()\n"
	"        break\n"
	"    frame = frame.older()\n"
	"''')";

/* Returns false for a fault by which the runtime reads the time stamp counter (rdtsc, rdtscp). */
static const char gdb_is_failure[] =
	"python exec('''\n"
	"class RaddleIsFailure(gdb.Function):\n"
	"    def invoke(self):\n"
	"        if gdb.parse_and_eval('$_siginfo.si_code') != 128:\n"
	"            return True\n"
	"        code = gdb.selected_inferior().read_memory(gdb.newest_frame().pc(), 3).tobytes()\n"
	"        return code[:2] != bytes([15, 49]) and code != bytes([15, 1, 249])\n"
	"RaddleIsFailure('raddle_is_failure')\n"
	"''')";

/* Quotes the text for the shell in which gdb starts the program. */
static void replay_gdb_add_quoted(struct strbuf *out, const char *text)
{
	strbuf_adds(out, "'");
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_adds(out, "'\\''");
		else
			strbuf_add(out, text, 1);
	}
	strbuf_adds(out, "'");
}

/* gdb starts the target through a shell; `env` sets our variables for the target only. */
static void replay_gdb_describe(struct gdb_command *command, const struct replay_setting *setting,
	const struct worker *worker)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	replay_gdb_add(command, "gdb");
	replay_gdb_add(command, "-q");
	replay_gdb_add(command, "-iex");
	replay_gdb_add(command, "set debuginfod enabled off");
	strbuf_adds(&text, "set exec-wrapper env");
	for (char *const *entry = worker->environment; *entry; entry++) {
		if (strncmp(*entry, "LD_PRELOAD=", 11) != 0 &&
			strncmp(*entry, "RADDLE_CONTRACT=", 16) != 0 &&
			strncmp(*entry, "ASAN_OPTIONS=", 13) != 0)
			continue;
		strbuf_adds(&text, " ");
		replay_gdb_add_quoted(&text, *entry);
	}
	replay_gdb_execute(command, text.text);
	replay_gdb_execute(command, "set disable-randomization on");
	/* Signals that the runtime uses itself are hidden from the user. */
	replay_gdb_execute(command, "handle SIGSYS nostop noprint pass");
	replay_gdb_execute(command, "handle SIGSEGV nostop noprint pass");
	replay_gdb_execute(command, "catch signal SIGSEGV");
	replay_gdb_execute(command, gdb_is_failure);
	replay_gdb_execute(command, "condition $bpnum $raddle_is_failure()");
	strbuf_clear(&text);
	strbuf_adds(&text, "set args");
	for (char *const *argument = worker->params.argv + 1; *argument; argument++) {
		strbuf_adds(&text, " ");
		replay_gdb_add_quoted(&text, *argument);
	}
	strbuf_adds(&text, " < ");
	replay_gdb_add_quoted(&text, worker->params.input ? worker->params.input : "/dev/null");
	replay_gdb_execute(command, text.text);
	replay_gdb_execute(command, gdb_filter);
	replay_gdb_execute(command, "run");
	replay_gdb_execute(command, "bt");
	replay_gdb_execute(command, gdb_select);
	replay_gdb_execute(command, "frame");
	replay_gdb_add(command, setting->target.path);
}

/* gdb owns the terminal meanwhile, and handles SIGINT, which the command ignores. */
static int replay_gdb_run(struct gdb_command *command, struct error *err)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction old;
	pid_t pid;
	int status;

	(void)sigaction(SIGINT, &ignore, &old); /* a valid call: cannot fail */
	pid = fork();
	if (pid == 0) {
		(void)signal(SIGINT, SIG_DFL); /* a valid call: cannot fail */
		(void)execvp("gdb", command->argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)sigaction(SIGINT, &old, NULL); /* a valid call: cannot fail */
	children_kill_strays();		     /* a target process that gdb has left running */
	if (pid < 0)
		return error_set(err, ERROR_IO,
			"no new process (%s); end others or raise ulimit -u", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(
			err, ERROR_MISSING, "gdb cannot be run; install it (apt-get install gdb)");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int replay_under_gdb(
	const struct finding *finding, const struct replay_options *options, struct error *err)
{
	struct gdb_command command = {0};
	struct replay_setting setting;
	struct probe probe;
	struct contract_plan *plan;
	int result = replay_prepare(&setting, finding, options, err);

	if (result < 0)
		return result;
	result = probe_open(&probe, &setting.probe, err);
	if (result < 0) {
		replay_setting_release(&setting);
		return result;
	}
	plan = &probe.worker.contract->plan;
	plan->executor = EXECUTOR_KERNEL;
	plan->stop_for_debugger = true;
	plan->run_first = 0;
	probe_fill(&probe, &setting.plan);
	contract_publish(&probe.worker.block);
	probe.worker.block.shared->command = COMMAND_RUN; /* gdb starts the process later */
	replay_gdb_describe(&command, &setting, &probe.worker);
	result = replay_gdb_run(&command, err);
	for (unsigned i = 0; i < command.count; i++)
		free(command.argv[i]);
	probe_close(&probe);
	replay_setting_release(&setting);
	return result;
}
