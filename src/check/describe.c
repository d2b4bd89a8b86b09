/* A failing run in words. Places are those of the dynamic symbol table, else module and offset. */
#include "check/check_internal.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "model/op.h"
#include "model/outcome.h"

static void add_place(struct strbuf *out, uint64_t site)
{
	Dl_info found;
	const char *module;

	/* The call, not what comes behind it. */
	if (!site || !dladdr((void *)(uintptr_t)(site - 1), &found) || !found.dli_fname) {
		strbuf_adds(out, "an unknown place");
		return;
	}
	module = strrchr(found.dli_fname, '/');
	module = module ? module + 1 : found.dli_fname;
	if (found.dli_sname)
		strbuf_addf(out, "%s (%s+0x%" PRIxPTR ")", found.dli_sname, module,
			(uintptr_t)(site - 1) - (uintptr_t)found.dli_fbase);
	else
		strbuf_addf(out, "%s+0x%" PRIxPTR, module,
			(uintptr_t)(site - 1) - (uintptr_t)found.dli_fbase);
}

static void add_thread(struct strbuf *out, const struct contract_thread *threads, uint32_t index)
{
	if (!index) {
		strbuf_adds(out, "main");
		return;
	}
	add_thread(out, threads, threads[index].parent.index);
	strbuf_addf(out, ".%u", threads[index].ordinal);
}

static void add_outcome(struct strbuf *out, const struct outcome *outcome)
{
	switch (outcome->kind) {
	case OUTCOME_EXIT:
		strbuf_addf(out, "the function returned %d", outcome->code);
		return;
	case OUTCOME_CHECK_FAILED:
		strbuf_adds(out, outcome->text);
		return;
	case OUTCOME_ABORT:
		strbuf_adds(out, "the function aborted: a failed assertion, or an exception "
				 "that nobody caught");
		break;
	case OUTCOME_CRASH:
		strbuf_addf(out, "%s%s%s", strsignal(outcome->code), outcome->text[0] ? ": " : "",
			outcome->text);
		break;
	default:
		strbuf_adds(out, outcome_descriptions[outcome->kind].sentence);
	}
	if (outcome->kind == OUTCOME_ABORT ? outcome->other_site : outcome->site) {
		strbuf_adds(out, ", at ");
		add_place(
			out, outcome->kind == OUTCOME_ABORT ? outcome->other_site : outcome->site);
	}
}

void describe_failure(struct strbuf *out)
{
	add_outcome(out, &room_contract()->outcome);
}

static void add_wait(
	struct strbuf *out, const struct contract_thread *threads, const struct wait_edge *edge)
{
	strbuf_adds(out, "  ");
	add_thread(out, threads, edge->waiter.index);
	strbuf_addf(out, " waits where it %s, at ", op_descriptions[edge->op].verb);
	add_place(out, edge->site);
	if (edge->holder.index != THREAD_NONE.index) {
		strbuf_adds(out, ", for ");
		add_thread(out, threads, edge->holder.index);
		if (edge->holder_site) {
			strbuf_adds(out, " since ");
			add_place(out, edge->holder_site);
		}
	}
	if (edge->lost_signals)
		strbuf_addf(out, ", which was signalled %u times before", edge->lost_signals);
	strbuf_adds(out, "\n");
}

#define SEGMENTS_SHOWN 24

void describe_run(struct strbuf *out)
{
	struct contract *contract = room_contract();
	const struct contract_thread *threads = contract_threads(contract);
	const struct schedule *schedule = contract_schedule(contract);
	uint32_t first = 0;

	for (uint32_t i = 0; i < contract->outcome.wait_count; i++)
		add_wait(out, threads, &contract->outcome.waits[i]);
	strbuf_adds(out, "  in the order ");
	if (schedule->count > SEGMENTS_SHOWN) {
		first = schedule->count - SEGMENTS_SHOWN;
		strbuf_adds(out, "... ");
	}
	for (uint32_t i = first; i < schedule->count; i++) {
		const struct schedule_segment *segment = &schedule->segments[i];

		if (segment->flags & SEGMENT_VALUE) {
			strbuf_addf(out, "(value %u of %u) ", segment->thread, segment->count);
			continue;
		}
		add_thread(out, threads, segment->thread);
		strbuf_addf(out, " %u%s ", segment->count, i + 1 < schedule->count ? "," : "");
	}
	strbuf_adds(out, "steps\n");
}
