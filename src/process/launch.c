#include "process/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files/inherited.h"
#include "base/files/installed.h"
#include "base/strbuf.h"
#include "abi/contract.h"

extern char **environ;

/* Error report of the vfork child. Volatile, because the compiler could otherwise remove the
 * child's writes. */
struct launch_failure {
	int number; /* errno */
	bool is_directory, is_network;
};

/* Runs between vfork and exec, in the parent's memory: makes system calls only, and changes only
 * *failure. */
static void launch_become_target(const struct launch *launch, pid_t command, const sigset_t *mask,
	volatile struct launch_failure *failure)
{
	const struct rlimit no_core = {0, 0};

	if (launch->network) {
		failure->number = private_network_enter(launch->network);
		failure->is_network = failure->number;
		if (failure->number)
			_exit(127);
	}
	/* Each of these fails only where the kernel forbids it; the run is still useful then. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)personality(ADDR_NO_RANDOMIZE);
	(void)setrlimit(RLIMIT_CORE, &no_core);
	inherited_close_others_on_exec();
	if (getppid() != command)
		_exit(127); /* the command died before the death signal was set */
	if (launch->directory && chdir(launch->directory) != 0) {
		failure->number = errno;
		failure->is_directory = true;
		_exit(127);
	}
	if (dup2(launch->input, 0) >= 0 && dup2(launch->output, 1) >= 0 &&
		dup2(launch->error_output, 2) >= 0) {
		(void)sigprocmask(SIG_SETMASK, mask, NULL); /* a valid call: cannot fail */
		(void)execve(launch->path, launch->argv, launch->environment);
	}
	failure->number = errno;
	_exit(127);
}

static int launch_explain(const struct launch *launch,
	const volatile struct launch_failure *failure, struct error *err)
{
	if (failure->is_directory)
		return error_set(err, ERROR_TARGET,
			"the working folder %s cannot be entered (%s); the program ran there",
			launch->directory, strerror(failure->number));
	if (failure->is_network)
		return error_set(err, ERROR_TARGET,
			"%s cannot be started in a network of its own (%s); use -j 1", launch->path,
			strerror(failure->number));
	if (failure->number == E2BIG)
		return error_set(err, ERROR_TARGET,
			"%s cannot be started: arguments and environment are too large together; shorten them",
			launch->path);
	return error_set(err, ERROR_TARGET, "%s cannot be started (%s)", launch->path,
		strerror(failure->number));
}

pid_t launch_process(const struct launch *launch, struct error *err)
{
	volatile struct launch_failure failure = {0, false, false};
	pid_t command = getpid();
	sigset_t all;
	sigset_t old;
	pid_t child;

	/* A handler must not run in the child, which shares the command's memory until exec. */
	(void)sigfillset(&all); /* cannot fail */
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	child = vfork();
	if (child == 0)
		launch_become_target(launch, command, &old, &failure);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	if (child < 0)
		return error_set(err, ERROR_IO,
			"no new process (%s); end others or raise ulimit -u", strerror(errno));
	if (failure.number != 0) {
		(void)waitpid(child, NULL, 0); /* the child has already exited */
		return launch_explain(launch, &failure, err);
	}
	return child;
}

#define SANITIZER_STATUS 66
#define SANITIZER_STATUS_TEXT "66"

int launch_sanitizer_status(const struct target_traits *traits)
{
	return traits->has_address_sanitizer ? SANITIZER_STATUS : 0;
}

struct environment {
	char **entries;
	size_t count;
};

static void launch_environment_add(struct environment *to, const char *name, const char *first,
	const char *separator, const char *then)
{
	struct strbuf entry = STRBUF_EMPTY;

	strbuf_addf(&entry, "%s=%s", name, first);
	if (then && *then)
		strbuf_addf(&entry, "%s%s", separator, then);
	to->entries[to->count++] = entry.text;
}

static bool launch_is_replaced(const char *entry, const struct target_traits *traits)
{
	return strncmp(entry, "LD_PRELOAD=", 11) == 0 || strncmp(entry, "LD_AUDIT=", 9) == 0 ||
	       strncmp(entry, CONTRACT_ENVIRONMENT "=", sizeof CONTRACT_ENVIRONMENT) == 0 ||
	       strncmp(entry, CONTRACT_FILLER "=", sizeof CONTRACT_FILLER) == 0 ||
	       (traits->has_address_sanitizer && strncmp(entry, "ASAN_OPTIONS=", 13) == 0);
}

/*
 * The environment lies above the stack. A filler variable, which the runtime removes, rounds its
 * size up to a multiple of this number: stack addresses then stay the same.
 */
#define ENVIRONMENT_ROUNDED_BYTES ((size_t)16 * 1024)

static void launch_environment_fill_up(struct environment *out)
{
	size_t bytes = sizeof "" + strlen(CONTRACT_FILLER "=") + sizeof(char *);
	STRBUF_SCOPED filler = STRBUF_EMPTY;

	/* The kernel aligns strings and pointers to 16 bytes: an even number needs no padding. */
	if (out->count % 2 == 0)
		launch_environment_add(out, CONTRACT_FILLER, "", "", NULL);
	for (size_t i = 0; i < out->count; i++)
		bytes += strlen(out->entries[i]) + 1 + sizeof(char *);
	while ((bytes + filler.length) % ENVIRONMENT_ROUNDED_BYTES)
		strbuf_add(&filler, "x", 1);
	launch_environment_add(out, CONTRACT_FILLER, filler.text, "", NULL);
}

static bool launch_has_random_addresses(void)
{
	const int persona = personality(0xffffffff);

	if (persona >= 0 && personality((unsigned long)persona | ADDR_NO_RANDOMIZE) >= 0) {
		(void)personality((unsigned long)persona); /* was permitted before */
		return false;
	}
	return true;
}

/* Adds the path of a library that lies beside the runtime. */
static void launch_add_beside(struct strbuf *to, const char *runtime, const char *name)
{
	strbuf_addf(to, "%.*s/%s", (int)(strrchr(runtime, '/') - runtime), runtime, name);
}

/* Adds the relocator as an audit library, which runs before anything else. */
static void launch_add_audit(struct environment *to, const char *runtime)
{
	const char *users = getenv("LD_AUDIT");
	STRBUF_SCOPED path = STRBUF_EMPTY;

	if (!runtime || !launch_has_random_addresses()) {
		if (users)
			launch_environment_add(to, "LD_AUDIT", users, "", NULL);
		return;
	}
	launch_add_beside(&path, runtime, "libraddle-relocate.so");
	launch_environment_add(to, "LD_AUDIT", path.text, ":", users);
}

/* Preloads the runtime. The loader takes libraddle-libtsan.so for the libtsan.so.2 that a program
 * needs, because that is the name inside it (DT_SONAME). */
static void launch_add_preloads(
	struct environment *to, const struct target_traits *traits, const char *runtime)
{
	STRBUF_SCOPED paths = STRBUF_EMPTY;

	if (!runtime)
		return;
	strbuf_addf(&paths, "%s", runtime);
	if (traits->tsan == TSAN_SERVED) {
		strbuf_addf(&paths, ":");
		launch_add_beside(&paths, runtime, "libraddle-libtsan.so");
	}
	launch_environment_add(to, "LD_PRELOAD", paths.text, ":", getenv("LD_PRELOAD"));
}

char **launch_environment(
	const struct target_traits *traits, const char *runtime, const char *contract_path)
{
	struct environment out = {0};
	size_t inherited = 0;

	while (environ[inherited])
		inherited++;
	out.entries = array_new(inherited + 11, sizeof *out.entries);
	for (size_t i = 0; i < inherited; i++) {
		if (launch_is_replaced(environ[i], traits))
			continue;
		out.entries[out.count] = string_copy(environ[i]);
		out.count++;
	}
	launch_add_preloads(&out, traits, runtime);
	launch_add_audit(&out, runtime);
	launch_environment_add(&out, CONTRACT_ENVIRONMENT, contract_path, "", NULL);
	/*
	 * ASan refuses to be preloaded second; its leak checker, symbolizer process and signal
	 * stacks do not work with many threads on one kernel thread. The user's options override
	 * these.
	 */
	if (traits->has_address_sanitizer)
		launch_environment_add(&out, "ASAN_OPTIONS",
			"verify_asan_link_order=0:detect_leaks=0:symbolize=0:use_sigaltstack=0:exitcode=" SANITIZER_STATUS_TEXT,
			":", getenv("ASAN_OPTIONS"));
	/* libgomp spins before it blocks, which is useless where one thread runs at a time. */
	if (traits->has_gnu_openmp && !getenv("OMP_WAIT_POLICY"))
		launch_environment_add(&out, "OMP_WAIT_POLICY", "passive", "", NULL);
	if (traits->has_gnu_openmp && !getenv("GOMP_SPINCOUNT"))
		launch_environment_add(&out, "GOMP_SPINCOUNT", "0", "", NULL);
	launch_environment_fill_up(&out);
	return out.entries;
}

void launch_environment_free(char **environment)
{
	if (!environment)
		return;
	for (char **entry = environment; *entry; entry++)
		free(*entry);
	free(environment);
}

/* The loader only warns if a library is missing, and the program then seems to fail by itself. */
static int launch_check_beside(const char *runtime, const char *name, struct error *err)
{
	STRBUF_SCOPED path = STRBUF_EMPTY;
	int result = 0;

	launch_add_beside(&path, runtime, name);
	if (access(path.text, R_OK))
		result = error_set(
			err, ERROR_MISSING, "%s is missing; install raddle again", path.text);
	return result;
}

int launch_find_runtime(char **path, struct error *err)
{
	int result = installed_find("libraddle.so", path, err);

	if (result < 0)
		return result;
	if (strpbrk(*path, ": \t"))
		result = error_set(err, ERROR_MISSING,
			"the path of libraddle.so holds a blank or a colon, which LD_PRELOAD cannot express; install raddle elsewhere");
	if (result == 0)
		result = launch_check_beside(*path, "libraddle-libtsan.so", err);
	if (result == 0)
		result = launch_check_beside(*path, "libraddle-relocate.so", err);
	if (result == 0)
		return 0;
	free(*path);
	*path = NULL;
	return result;
}
