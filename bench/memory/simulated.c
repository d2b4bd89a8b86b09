/*
 * simulated FOLDER STRATEGY WORKERS RUNS [leak]: a campaign whose program is simulated (tests/support). The command does all
 * its usual work for runs: workers, rounds, lessons, digests, coverage, and a store in FOLDER. The runs alone cost nothing:
 * ten million runs take some seconds. Prints one line with the peak memory of the command and of a worker's process, the
 * maximum size of the strategy's state, and the size of the store, all in kB.
 *
 * `leak`: keeps sixteen bytes of each run, as a control for tests of growth.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "explore/campaign.h"
#include "plan/strategy_option.h"
#include "strategies/strategy.h"
#include "support/fake_guest.h"

/* Three threads that update what they share in several steps: many orders, and none of them fails. */
static const struct simulated_op updates[] = {LOCK(0), ADD(1, 1), UNLOCK(0), ADD(2, 1), READ(1)};
static const struct simulated_code update_codes[] = {CODE(updates), CODE(updates), CODE(updates)};
static const struct simulated_program small = {
	.codes = update_codes, .code_count = 3, .initial_count = 3};

/* More runs than can be made, for exhaustive strategies. */
static const struct simulated_code many_codes[] = {CODE_REPEATED(updates, 8),
	CODE_REPEATED(updates, 8), CODE_REPEATED(updates, 8), CODE_REPEATED(updates, 8)};
static const struct simulated_program large = {
	.codes = many_codes, .code_count = 4, .initial_count = 4};

static uint64_t bytes_in_store;

static int add_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)path;
	(void)walk;
	if (kind == FTW_F)
		bytes_in_store += 512 * (uint64_t)status->st_blocks;
	return 0;
}

static long peak_kb(int who)
{
	struct rusage used;

	(void)getrusage(who, &used); /* cannot fail */
	return used.ru_maxrss;
}

struct leak {
	char *kept;
	uint64_t runs, size;
};

static void keep_runs(void *context, struct contract *contract)
{
	struct leak *leak = context;
	const uint64_t runs = contract->totals.runs;

	if (runs <= leak->runs)
		return;
	leak->kept = realloc(leak->kept, 16 * runs);
	if (!leak->kept)
		abort();
	memset(leak->kept + 16 * leak->runs, 1, 16 * (runs - leak->runs));
	leak->runs = runs;
}

static int campaign(char **argv, bool leaks)
{
	static const volatile int is_interrupted;
	char *own[] = {realpath("/proc/self/exe", NULL), (char *)"guest", NULL, NULL};
	struct leak leak = {0};
	const struct campaign_listener listener = {
		.run_context = &leak, .ran = leaks ? keep_runs : NULL};
	struct campaign_options options;
	struct campaign_result result;
	struct error err;
	uint64_t state_bytes;

	campaign_options_init(&options);
	if (strategy_parse(argv[2], &options.strategy, &options.strategy_config, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	own[2] = (char *)(strategy_is_sequential(strategies[options.strategy]) ? "large" : "small");
	options.argv = own;
	options.directory = argv[1];
	options.workers = (unsigned)strtoul(argv[3], NULL, 10);
	options.schedules = strtoull(argv[4], NULL, 10);
	options.time_ns = 0;
	options.has_digest = !strategy_is_sequential(strategies[options.strategy]);
	options.is_interrupted = &is_interrupted;
	state_bytes = strategy_state_bytes(strategies[options.strategy], &options.strategy_config);
	if (campaign_run(&options, &listener, &result, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	if (result.total.runs != options.schedules) {
		(void)fprintf(stderr, "%llu runs instead of %s\n",
			(unsigned long long)result.total.runs, argv[4]);
		return 1;
	}
	if (nftw(argv[1], add_entry, 8, FTW_PHYS) != 0)
		return 2;
	(void)printf("%ld %ld %llu %llu\n", peak_kb(RUSAGE_SELF), peak_kb(RUSAGE_CHILDREN),
		(unsigned long long)(state_bytes / 1024),
		(unsigned long long)(bytes_in_store / 1024));
	settings_release(&options.settings);
	free(leak.kept);
	free(own[0]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "guest") == 0)
		return fake_guest_main("run", strcmp(argv[2], "large") == 0 ? &large : &small);
	if (argc < 5) {
		(void)fprintf(stderr, "usage: simulated FOLDER STRATEGY WORKERS RUNS [leak]\n");
		return 2;
	}
	return campaign(argv, argc > 5 && strcmp(argv[5], "leak") == 0);
}
