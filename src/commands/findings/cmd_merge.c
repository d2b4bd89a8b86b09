#include <stdio.h>

#include "base/array.h"
#include "explore/schemes/shards.h"
#include "base/text.h"
#include "store/store.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/verdict.h"

struct merge_arguments {
	const char *directory;
	char *const *others;
	int other_count;
	bool is_quiet;
};

static const struct command_option merge_options[] = {
	{"store", 0, "DIR", "Merge into DIR/.raddle, which raddle creates if it is missing (.)",
		OPTION_OF(TEXT, merge_arguments, directory)},
	{"quiet", 'q', NULL, "Print errors only", OPTION_OF(QUIET, merge_arguments, is_quiet)},
	{0},
};

static int cmd_merge_one(
	struct store *into, const char *directory, const char *other, struct store_merged *total)
{
	const char *const folders[2] = {directory, other};
	struct store_merged merged;
	struct store *from;
	struct error err;
	int status = store_open(&from, other, STORE_READ, &err);

	if (status < 0)
		return command_fail("%s", err.text);
	status = store_merge(into, from, folders, &merged, &err);
	store_close(from);
	if (status < 0)
		return command_fail("%s", err.text);
	total->campaigns += merged.campaigns;
	total->findings += merged.findings;
	total->new_findings += merged.new_findings;
	total->runs += merged.runs;
	total->failures += merged.failures;
	return 0;
}

static void cmd_merge_say_merged(
	const struct merge_arguments *arguments, const struct store_merged *total)
{
	char runs[32], failures[32];

	terminal_hint(
		"%d store%s: %u campaign%s of %s schedules, %s of which failed; %u finding%s, %u of them new here\n",
		arguments->other_count, arguments->other_count == 1 ? "" : "s", total->campaigns,
		total->campaigns == 1 ? "" : "s", text_grouped(total->runs, runs),
		text_grouped(total->failures, failures), total->findings,
		total->findings == 1 ? "" : "s", total->new_findings);
	terminal_hint("next: raddle list %s\n", total->findings ? "findings" : "campaigns");
}

static void cmd_merge_say_together(const struct shards *shards)
{
	char prefix[320];

	if (shards->here < shards->count) {
		terminal_hint(
			"%s: of %u shards %u %s here, so there is no verdict about all schedules; missing: %s\n",
			shards->strategy, shards->count, shards->here,
			shards->here == 1 ? "is" : "are", shards->absent);
		if (shards->stranger)
			terminal_hint(
				"%s: a shard %u of %u is here, but its campaign %s; give all the same\n",
				shards->strategy, shards->stranger, shards->count,
				shards->difference);
		return;
	}
	if (!shards->is_one_memory) {
		terminal_hint(
			"%s: its %u shards saw different shared variables, so schedules may be missing; use -j or --mpi instead of --shard\n",
			shards->strategy, shards->count);
		return;
	}
	(void)snprintf(
		prefix, sizeof prefix, "%s, all %u shards: ", shards->strategy, shards->count);
	verdict_say(&shards->verdict, shards->failures,
		shards->memory_model ? memory_model_titles[shards->memory_model] : NULL, prefix);
	if (shards->cut[0] && !shards->verdict.missing)
		terminal_hint("%s: not finished, and to continue with --resume: shard %s of %u\n",
			shards->strategy, shards->cut, shards->count);
}

static int cmd_merge_say_all_together(struct store *store)
{
	FREE_SCOPED struct shards *shards = NULL;
	struct error err;
	uint32_t count;
	const int status = shards_list(store, &shards, &count, &err);

	for (uint32_t i = 0; status == 0 && i < count; i++)
		cmd_merge_say_together(&shards[i]);
	return status < 0 ? command_fail("%s", err.text) : 0;
}

static int cmd_merge_run(int argc, char **argv)
{
	struct merge_arguments arguments = {.directory = "."};
	struct store_merged total = {0};
	struct store *into;
	struct error err;
	int status = 0;

	options_parse(&command_merge, argc, argv, &arguments);
	while (arguments.others[arguments.other_count])
		arguments.other_count++;
	if (store_open(&into, arguments.directory, STORE_WRITE, &err) < 0)
		return command_fail("%s", err.text);
	for (int i = 0; status == 0 && i < arguments.other_count; i++)
		status = cmd_merge_one(into, arguments.directory, arguments.others[i], &total);
	if (status == 0 && !arguments.is_quiet)
		status = cmd_merge_say_all_together(into);
	store_close(into);
	if (status)
		return status;
	cmd_merge_say_merged(&arguments, &total);
	return total.findings ? EXIT_FAILURE_FOUND : EXIT_NOTHING_FOUND;
}

const struct command command_merge = {
	.name = "merge",
	.summary = "combine the stores of a campaign's shards",
	.doc = "Combines the stores FOLDER/.raddle of one campaign's shards, which raddle run --shard "
	       "made. Equal findings become one.\v"
	       "raddle only reads the folders, and merges each store as a whole or not at all. An error names "
	       "the store that could not be merged; the stores before it are merged.",
	.usage = "FOLDER...",
	.options = merge_options,
	.operands = {OPERANDS_LIST, offsetof(struct merge_arguments, others),
		"no folder given; each contains a .raddle, such as shard-*/"},
	.run = cmd_merge_run,
};
