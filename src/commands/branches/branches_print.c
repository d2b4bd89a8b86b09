/* Text output of `raddle branches`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/branches/branches_result.h"
#include "cli/next_command.h"
#include "findings/source_lines.h"

const char *const sensitive_kind_words[SENSITIVE_KIND_COUNT] = {
	[SENSITIVE_BRANCH] = "branch",
	[SENSITIVE_SWITCH] = "switch",
	[SENSITIVE_CHOICE] = "choice",
	[SENSITIVE_ASSERTION] = "assertion",
	[SENSITIVE_TARGET] = "call",
	[SENSITIVE_NULL] = "null pointer",
	[SENSITIVE_DIVISOR] = "division by zero",
	[SENSITIVE_INDEX] = "index out of bounds",
};

static void branches_print_line(const struct sensitive_branch *branch)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	if (source_lines_get(NULL, branch->path, branch->line, &text))
		printf("    %s\n", text.text);
}

static void branches_print_outcomes(const struct sensitive_branch *branch)
{
	if (branch->kind == SENSITIVE_BRANCH || branch->kind == SENSITIVE_CHOICE ||
		branch->kind == SENSITIVE_ASSERTION)
		printf("    %s in the recorded run, %s under the schedule below\n",
			branch->was_taken ? "true" : "false", branch->was_taken ? "false" : "true");
	else if (branch->kind == SENSITIVE_INDEX)
		printf("    inside the array in the recorded run, outside under the schedule below\n");
	else if (branch->kind == SENSITIVE_TARGET)
		printf("    another function is called under the schedule below\n");
	else if (branch->kind == SENSITIVE_NULL)
		printf("    memory in the recorded run, a null pointer under the schedule below\n");
	else if (branch->kind == SENSITIVE_DIVISOR)
		printf("    not zero in the recorded run, zero under the schedule below\n");
	else
		printf("    another case under the schedule below\n");
	if (branch->round)
		printf("    in a run after %u flipped %s\n", branch->round,
			branch->round == 1 ? "branch" : "branches");
}

static void branches_print_finding(const struct sensitive_branch *branch, const char *store)
{
	switch (branch->kept) {
	case KEPT_NOT:
		printf("    no finding: the failure did not repeat in fresh processes\n");
		break;
	case KEPT_NOT_LOOKED_AT:
		printf("    no finding: no time was left to investigate the failure; give a longer --time\n");
		break;
	case KEPT_AS_IT_WAS:
		printf("    %s: raddle replay %s%s (not minimal: a longer --time makes it shorter)\n",
			branch->finding, branch->finding, store);
		break;
	default:
		printf("    %s: raddle replay %s%s\n", branch->finding, branch->finding, store);
	}
}

static void branches_print_class(const struct sensitive_branch *branch, const char *store)
{
	printf("    %s", branch_class_words[branch->class]);
	if (branch->class == CLASS_BUG)
		printf(": the run%s ends as %s",
			branch->delayed	       ? ""
			: branch->failing_seed ? " that continues at random"
					       : " that continues without preemptions",
			outcome_descriptions[branch->outcome.kind].word);
	else if (branch->delayed)
		printf(": the run passed");
	else
		printf(": %u random runs from this branch on passed", branch->continuations);
	fputc('\n', stdout);
	if (branch->class != CLASS_BUG)
		return;
	branches_print_finding(branch, store);
}

static void branches_print_schedule(const char *schedule);

static void branches_print_early(const struct sensitive_branch *branch, const char *store)
{
	printf("failure: %s, before a run reached %s:%u in %s (%s)\n",
		outcome_descriptions[branch->outcome.kind].word, branch->file, branch->line,
		branch->function, branch->thread);
	branches_print_schedule(branch->schedule);
	branches_print_finding(branch, store);
	fputc('\n', stdout);
}

/* Maximum number of printed segments. The JSON has all segments. */
#define SEGMENTS_MOST 40

static void branches_print_schedule(const char *schedule)
{
	const char *end = schedule;
	uint64_t left = 0;

	/* "(1 of 2)" counts as one segment. */
	for (uint32_t i = 0; i < SEGMENTS_MOST && *end; i++) {
		end += strcspn(end + 1, end[*end == ' '] == '(' ? ")" : " ") + 1;
		end += *end == ')';
	}
	for (const char *at = end; *at; at++)
		left += *at == ' ';
	printf("    schedule: %.*s", (int)(end - schedule), schedule);
	if (left)
		printf(" and %" PRIu64 " more (--json)", left);
	printf("\n");
}

static void branches_print_branch(const struct sensitive_branch *branch, const char *store)
{
	if (branch->line)
		printf("%s: %s:%u in %s (%s)\n", sensitive_kind_words[branch->kind], branch->file,
			branch->line, branch->function, branch->thread);
	else
		printf("%s: in %s (%s), whose lines are not known: compile with -g\n",
			sensitive_kind_words[branch->kind], branch->function, branch->thread);
	branches_print_line(branch);
	if (branch->called_from)
		printf("    called from %s\n", branch->called_from);
	if (*branch->variables)
		printf("    depends on %s\n", branch->variables);
	branches_print_outcomes(branch);
	if (branch->delayed)
		printf("    in a run under TSO, where other threads see late: %s\n",
			branch->delayed);
	branches_print_schedule(branch->schedule);
	branches_print_class(branch, store);
	fputc('\n', stdout);
}

/* Prints the branches that random runs have shown and the search has missed. */
static void branches_print_samples(const struct branches_result *result)
{
	uint32_t missed = 0;

	for (uint32_t i = 0; i < result->observed_count; i++)
		missed += !result->observed[i].is_found;
	printf("%u random runs took the other side of %u branches, %u of which the solver did not find\n",
		result->samples, result->observed_count, missed);
	for (uint32_t i = 0; i < result->observed_count; i++) {
		const struct observed_branch *item = &result->observed[i];

		if (!item->is_found)
			printf("    %s:%u in %s, in %u runs%s\n", item->file, item->line,
				item->function, item->runs,
				item->is_modelled ? ""
						  : "; it depends on nothing that is followed");
	}
}

static void branches_print_defects(const struct branches_result *result)
{
	if (result->unproven_count)
		printf("%u solutions did not happen in a run, because of a defect of raddle's model:\n",
			result->unproven_count);
	for (uint32_t i = 0; i < result->unproven_count; i++)
		printf("    %s\n", result->unproven[i]);
	if (result->samples_lost)
		printf("%u random runs could not be followed: a defect of raddle\n",
			result->samples_lost);
	if (result->figures.is_model_wrong)
		printf("the recorded run contradicts raddle's own model: a defect of raddle\n");
}

static void branches_print_limits(const struct branches_result *result)
{
	const struct sensitivity_figures *figures = &result->figures;

	if (result->cut_count)
		printf("%u %s not shown, because the run that should show it did not end in time: perhaps it waited for something outside the program\n",
			result->cut_count,
			result->cut_count == 1 ? "solution was" : "solutions were");
	if (!figures->shared_words)
		printf("no memory that one thread writes is accessed by another, so no branch can "
		       "depend on the schedule\n");
	if (figures->timeouts)
		printf("%llu queries were too hard for the solver; give it more time (--query-time)\n",
			(unsigned long long)figures->timeouts);
	if (figures->unasked)
		printf("%llu branch events were not examined, because of --queries and --time; give more of them\n",
			(unsigned long long)figures->unasked);
	if (figures->unknown_writes)
		printf("%llu %s to shared memory that raddle does not follow (%s): the written values are those of the recorded run\n",
			(unsigned long long)figures->unknown_writes,
			figures->unknown_writes == 1 ? "write" : "writes", figures->unknown);
	if (figures->unknown_uses)
		printf("%llu %s of shared memory in functions that raddle does not follow (%s): their arguments and results are those of the recorded run\n",
			(unsigned long long)figures->unknown_uses,
			figures->unknown_uses == 1 ? "use" : "uses", figures->unknown_users);
	if (figures->unfinished_threads)
		printf("%u of %u threads were followed only in part: %s\n",
			figures->unfinished_threads, figures->threads, figures->unfinished);
	if (*figures->unmatched)
		printf("no function, file or library is called %s (--exclude)\n",
			figures->unmatched);
	if (result->is_failing)
		printf("the recorded run ended as %s, so nothing after that was examined; raddle run stores the failure\n",
			outcome_descriptions[result->outcome.kind].word);
	if (result->is_partial)
		printf("the record holds only the beginning of the run, so only that was examined; free space in /var/tmp, or record with a later end of --points\n");
	if (result->points_from || result->points_to)
		printf("only a part of the run was examined: its scheduling points %llu to %llu (--points)\n",
			(unsigned long long)result->points_from,
			(unsigned long long)(result->points_to ? result->points_to
							       : figures->points));
	if (result->is_interrupted)
		printf("interrupted: the results are incomplete\n");
}

void branches_print(const struct branches_result *result, const char *directory, bool is_quiet)
{
	const struct sensitivity_figures *figures = &result->figures;
	const uint32_t proven = result->count - result->buffered_count;
	struct strbuf stores[2]; /* option that names the command's store, and the fallback store */

	strbuf_init(&stores[0]);
	strbuf_init(&stores[1]);
	next_add_store(&stores[0], directory);
	next_add_store(&stores[1], result->fallback);
	for (uint32_t i = 0; i < result->count; i++)
		branches_print_branch(
			&result->items[i], stores[result->items[i].is_in_fallback].text);
	for (uint32_t i = 0; i < result->early_count; i++)
		branches_print_early(
			&result->early[i], stores[result->early[i].is_in_fallback].text);
	strbuf_release(&stores[0]);
	strbuf_release(&stores[1]);
	if (is_quiet)
		return;
	printf("%u sensitive %s; %llu branch events, %llu events of %u threads, "
	       "%llu scheduling points, %llu instructions\n",
		proven, proven == 1 ? "branch" : "branches", (unsigned long long)figures->branches,
		(unsigned long long)figures->critical_events, figures->threads,
		(unsigned long long)figures->points, (unsigned long long)figures->instructions);
	if (result->buffered_count)
		printf("%u more in runs under TSO (store buffers)\n", result->buffered_count);
	if (result->has_no_buffered_runs)
		printf("no runs with store buffers were made, because the run is analysed in parts\n");
	if (result->traces > 1)
		printf("%u runs were analysed\n", result->traces);
	if (result->samples)
		branches_print_samples(result);
	branches_print_defects(result);
	branches_print_limits(result);
}
