/* Runs on kernel threads, under the noise runtime: observed from outside, not repeatable. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/bug.h"
#include "base/installed.h"
#include "commands/explain/explain_internal.h"
#include "detectors/patterns.h"
#include "platform/platform.h"

/* Interval for reading accesses: a thread that does nothing else fills its ring in this time. */
#define READ_EVERY_NS UINT64_C(1000000)
/* Interval of checks for blocked threads, and the number of consecutive checks that decide. */
#define LOOK_EVERY_NS UINT64_C(20000000)
#define STUCK_LOOKS 3u
/* A run hangs if it exceeds this multiple of the longest passing run, and the limit for hangs. */
#define LONGEST_TIMES 10u
/* Learning runs end when LEARN_STABLE in a row found no new shared site, within these limits. */
#define LEARN_STABLE 12u
#define LEARN_MOST 60u
#define LEARN_NS UINT64_C(5000000000)

/* Is the thread in a futex wait without time limit: "202 0xWORD 0xOP 0xVALUE 0x0 ..."? */
static bool thread_waits(const char *path)
{
	unsigned long arguments[4];
	long number = -1;
	FILE *file = fopen(path, "re");
	int fields;

	if (!file)
		return false;
	fields = fscanf(file, "%ld %lx %lx %lx %lx", &number, &arguments[0], &arguments[1],
		&arguments[2], &arguments[3]);
	(void)fclose(file); /* only read from */
	return fields == 5 && number == SYS_futex && arguments[3] == 0;
}

/* Do all threads wait like that? Only a signal or another process could wake one. */
static bool all_wait(pid_t pid)
{
	char path[300];
	struct dirent *entry;
	uint32_t waiting = 0, others = 0;
	DIR *tasks;

	(void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !others && (entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(
			path, sizeof path, "/proc/%d/task/%s/syscall", (int)pid, entry->d_name);
		if (thread_waits(path))
			waiting++;
		else
			others++;
	}
	if (tasks)
		(void)closedir(tasks); /* only read from */
	return waiting && !others;
}

struct noise_run {
	uint64_t began_ns, looked_ns;
	uint32_t stuck_looks;
};

static bool end_if_stuck(struct explain *explain, struct noise_run *run)
{
	const uint64_t now_ns = platform_monotonic_ns();
	const uint64_t limit_ns =
		explain->setting.settings.hang_ns + LONGEST_TIMES * explain->longest_ns;
	enum outcome_kind kind = OUTCOME_HANG;

	if (now_ns - run->looked_ns < LOOK_EVERY_NS)
		return false;
	run->looked_ns = now_ns;
	run->stuck_looks = all_wait(explain->slots[0].worker.pid) ? run->stuck_looks + 1 : 0;
	if (run->stuck_looks >= STUCK_LOOKS)
		kind = OUTCOME_DEADLOCK;
	else if (!explain->setting.settings.hang_ns || now_ns - run->began_ns < limit_ns)
		return false;
	worker_kill(&explain->slots[0].worker);
	outcome_set(&explain->slots[0].worker.contract->outcome, kind, THREAD_NONE, 0);
	return true;
}

/* Reads the modules' addresses while the process is stopped at its first thread creation. */
static void explain_noise_read_symbols(struct explain *explain)
{
	explain->slots[0].worker.contract->plan.inspect = false;
	(void)symbols_from_process(
		&explain->symbols, (pid_t)explain->slots[0].worker.contract->guest_pid, NULL);
	explain_places_release(&explain->places);
	explain_places_init(&explain->places, explain->symbols);
}

static int watch_run(struct explain *explain, struct error *err)
{
	struct worker *worker = &explain->slots[0].worker;
	struct noise_run run = {.began_ns = platform_monotonic_ns()};
	enum contract_report report = REPORT_NONE;
	int result = 0;

	while (result == 0) {
		result = worker_poll(worker, &report, err);
		noise_log_read(&explain->noise, false);
		if (result < 0 || report != REPORT_NONE || end_if_stuck(explain, &run))
			break;
		if (*explain->options->is_interrupted) {
			worker_kill(worker);
			return error_set(err, ERROR_INTERRUPTED, "interrupted");
		}
		/* Keeps the watchdog, which expects controlled runs, from firing. */
		__atomic_add_fetch(&worker->block.shared->heartbeat, 1, __ATOMIC_RELAXED);
		worker_sleep(&worker, 1, READ_EVERY_NS);
	}
	if (result == 0 && report == REPORT_REFUSED)
		return error_set(err, ERROR_TARGET, "%s", worker->contract->outcome.text);
	if (result == 0 && report == REPORT_DIED)
		return error_set(err, ERROR_TARGET,
			"the program was killed from outside; is there enough memory?");
	if (result == 0 && report == REPORT_INSPECT)
		return REPORT_INSPECT;
	explain->last_ns = platform_monotonic_ns() - run.began_ns;
	return result;
}

int explain_noise_run(struct explain *explain, struct error *err)
{
	struct contract *contract = explain->slots[0].worker.contract;
	int result;

	contract->plan.run_first = explain->run_next++;
	contract->plan.run_limit = 1;
	contract->plan.inspect = !explain->symbols;
	noise_log_begin(
		&explain->noise, contract, explain_patterns_state(&explain->slots[0].worker));
	result = worker_begin(&explain->slots[0].worker, err);
	if (result == 0)
		result = watch_run(explain, err);
	if (result == REPORT_INSPECT) {
		explain_noise_read_symbols(explain);
		explain->run_next--;
		return explain_noise_run(explain, err);
	}
	if (result < 0)
		return result;
	noise_log_read(&explain->noise, true);
	if (!worker_is_failure(&explain->slots[0].worker) && explain->last_ns > explain->longest_ns)
		explain->longest_ns = explain->last_ns;
	return 0;
}

static uint32_t shared_sites(const struct contract_memory *memory)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < memory->site_count; i++)
		count += (memory->sites[i] & SITE_SHARED) != 0;
	return count;
}

int explain_noise_learn(struct explain *explain, struct error *err)
{
	struct contract_memory *memory = contract_memory(explain->slots[0].worker.contract);
	const uint64_t began_ns = platform_monotonic_ns();
	uint32_t quiet = 0;

	for (uint32_t i = 0; i < LEARN_MOST && quiet < LEARN_STABLE; i++) {
		const uint32_t known = shared_sites(memory);
		int result = explain_noise_run(explain, err);

		if (result < 0)
			return result;
		/* Runs of this phase were slower: most sites are switched off later. */
		explain->longest_ns = 0;
		quiet = shared_sites(memory) == known ? quiet + 1 : 0;
		if (platform_monotonic_ns() - began_ns > LEARN_NS)
			break;
	}
	memory->is_frozen = true;
	return 0;
}

/* From outside, these kinds look the same. */
static bool stands_still(uint32_t kind)
{
	return kind == OUTCOME_DEADLOCK || kind == OUTCOME_SELF_DEADLOCK ||
	       kind == OUTCOME_LOST_WAKEUP || kind == OUTCOME_HANG || kind == OUTCOME_LIVELOCK ||
	       kind == OUTCOME_JOIN_SELF;
}

bool explain_noise_is_kind(const struct explain *explain, const struct outcome *outcome)
{
	const struct outcome *own = &explain->failure;

	if (own->kind == OUTCOME_NONE)
		return stands_still(explain->finding->kind)
			       ? stands_still(outcome->kind)
			       : outcome->kind == explain->finding->kind &&
					 outcome->code == explain->finding->code;
	if (stands_still(own->kind))
		return stands_still(outcome->kind);
	return outcome->kind == own->kind && outcome->code == own->code;
}

int explain_noise_find_runtime(char **path, struct error *err)
{
	return installed_find("libraddle-noise.so", path, err);
}

uint64_t explain_class_site(const struct explain *explain, uint32_t class)
{
	return explain->noise.noise ? noise_class_site(explain->noise.noise, class) : 0;
}
