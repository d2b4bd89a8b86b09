/* One-time notices and warnings about the target. */
#include <inttypes.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "explore/services.h"
#include "model/feature.h"
#include "symbols/symbols.h"

/* Limit for functions inlined at one address. */
#define FRAMES_MAX 32

#define LIBRARIES_NAMED 3

void notices_libraries(struct campaign *campaign, const struct campaign_worker *worker)
{
	struct contract *contract = worker->worker.contract;
	STRBUF_SCOPED text = STRBUF_EMPTY;
	struct symbols *symbols;
	const char *names[LIBRARIES_NAMED];
	unsigned count, named;

	if (!contract->has_memory_sites || campaign->program.target.traits.tsan != TSAN_NONE ||
		symbols_from_process(&symbols, (pid_t)contract->guest_pid, NULL))
		return;
	count = symbols_opaque_libraries(symbols, names, LIBRARIES_NAMED);
	named = count < LIBRARIES_NAMED ? count : LIBRARIES_NAMED;
	for (unsigned i = 0; i < named; i++)
		strbuf_addf(&text, "%s%s", !i ? "" : i + 1 == count ? " and " : ", ", names[i]);
	if (count > named)
		strbuf_addf(&text, " and %u more", count - named);
	if (count > campaign->noticed.libraries) {
		campaign->noticed.libraries = count;
		(void)snprintf(campaign->result->opaque_libraries,
			sizeof campaign->result->opaque_libraries, "%s", text.text);
		contract->features |= FEATURE_UNSEEN_ACCESSES;
	}
	symbols_free(symbols);
}

static void notices_sight(struct campaign *campaign, const struct campaign_worker *worker)
{
	struct contract *contract = worker->worker.contract;
	struct campaign_start start = {
		.program = campaign->program.target.path,
		.has_memory_sites = contract->has_memory_sites,
		.has_tsan_calls = campaign->program.target.traits.tsan != TSAN_NONE,
		.has_dispatch = contract->has_dispatch,
		.restart = campaign->restart,
		.chosen_variables = campaign->program.chosen.variable_count,
		.chosen_sites = campaign->program.chosen.site_count,
		.resumed_runs = campaign->result->resumed_runs,
	};

	if (campaign->noticed.start)
		return;
	campaign->noticed.start = true;
	/* A rewind without dispatch would miss the effects of system calls; a fork restart needs no
	 * dispatch. */
	if (campaign->restart == RESTART_REWIND && !contract->has_dispatch) {
		start.restart = campaign->restart = RESTART_FORK_CREATE;
		campaign_notice(campaign,
			"%s: raddle does not see waits inside the C library, and restarts runs by fork",
			campaign->options->settings.without_dispatch
				? "system calls are not trapped (--no-dispatch)"
				: "this kernel has no Syscall User Dispatch (Linux 5.11)");
	}
	if (contract->has_random_addresses)
		campaign_notice(campaign,
			"addresses differ in each process, because the kernel refuses personality() and the program cannot be relocated: findings may not repeat; in a container use docker run --security-opt seccomp=unconfined");
	if (!start.has_memory_sites)
		contract->features |= FEATURE_UNSEEN_ACCESSES;
	notices_libraries(campaign, worker);
	if (campaign->listener->started)
		campaign->listener->started(campaign->listener->context, &start);
}

/* Warns that the runtime could not switch sites on, so the run did not see all accesses. */
static void notices_refusal(struct campaign *campaign, const struct campaign_worker *worker)
{
	const char *refusal = contract_memory(worker->worker.contract)->refusal;

	if (campaign->noticed.refusal || !*refusal)
		return;
	campaign->noticed.refusal = true;
	campaign_warn(campaign,
		"not all memory accesses are seen: %s; scheduling points are the other accesses and the synchronisation operations",
		refusal);
}

void notices_start(struct campaign *campaign, const struct campaign_worker *worker)
{
	notices_sight(campaign, worker);
	notices_refusal(campaign, worker);
}

/* Warns only of a waiting loop that slows the campaign down. A long computation looks the same to
 * the runtime. */
static void notices_warn_spinning(struct campaign *campaign, const struct contract *contract)
{
	if (campaign->noticed.spinning ||
		!__atomic_load_n(&contract->spin.is_unseen, __ATOMIC_RELAXED))
		return;
	campaign->noticed.spinning = true;
	campaign_warn(campaign,
		"a thread used 1 s of processor time without an operation, so other threads run in between; if it waits in a loop that only reads memory, %s",
		contract->has_memory_sites
			? "build the code of this loop with raddle-cc, too"
			: "build the program with raddle-cc, which notices such loops at once");
}

/* Returns the innermost call site in the user's code. Locks are often called by templates of the
 * C++ library. */
static uint64_t notices_user_site(struct symbols *symbols, const uint64_t sites[UNSEEN_SITES])
{
	for (unsigned i = 0; i < UNSEEN_SITES && sites[i]; i++) {
		struct symbols_frame frames[FRAMES_MAX];
		const unsigned count = symbols_lookup(symbols, sites[i], true, frames, FRAMES_MAX);

		for (unsigned j = 0; j < count; j++)
			if (!frames[j].is_system && frames[j].file)
				return sites[i];
	}
	return sites[0];
}

/* Returns false if the process has ended, so that the location has no name, and another process may follow. */
static bool notices_warn_locks(
	const struct campaign *campaign, const struct contract *contract, bool is_last)
{
	struct symbols *symbols = NULL;
	STRBUF_SCOPED location = STRBUF_EMPTY;

	if (symbols_from_process(&symbols, (pid_t)contract->guest_pid, NULL) == 0)
		symbols_describe_code(symbols, notices_user_site(symbols, contract->unseen_sites),
			true, &location);
	else if (is_last)
		strbuf_adds(&location, "an unknown location");
	else
		return false;
	campaign_warn(campaign,
		"the program has its own locks or waits (futex calls in %s), and raddle sees them only when they block or wake; build %s to make their atomic operations scheduling points",
		location.text,
		contract->has_memory_sites ? "the code with these calls by raddle-cc, too,"
					   : "it with raddle-cc");
	symbols_free(symbols);
	return true;
}

static void notices_warn_limit(struct campaign *campaign, const struct contract *contract)
{
	struct symbols *symbols = NULL;
	STRBUF_SCOPED location = STRBUF_EMPTY;
	char number[32];

	if (campaign->noticed.steps || !(contract->features & FEATURE_STEPS_CUT))
		return;
	campaign->noticed.steps = true;
	if (symbols_from_process(&symbols, (pid_t)contract->guest_pid, NULL) == 0)
		symbols_describe_code(symbols, contract->limit_site, true, &location);
	else
		strbuf_adds(&location, "an unknown location");
	campaign_warn(campaign,
		"a run did not end within %s steps, last in %s, and counts as no failure, because its threads did more than wait; give it more (--max-steps N), or fewer scheduling points (without --memory all, or a smaller input)",
		text_grouped(campaign->options->settings.step_limit, number), location.text);
	symbols_free(symbols);
}

static void notices_warn_calls(
	struct campaign *campaign, const struct contract *contract, bool is_last)
{
	/* Acquire: pairs with the release store by which the guest publishes unseen_sites. */
	uint32_t unseen = __atomic_load_n(&contract->unseen, __ATOMIC_ACQUIRE);

	campaign->result->has_own_locks |= (unseen & UNSEEN_LOCKS) != 0;
	unseen &= ~campaign->noticed.unseen;
	if (unseen & UNSEEN_THREAD)
		campaign_warn(campaign,
			"a thread created without pthread_create (raw clone) runs in parallel: raddle does not schedule its steps");
	if (unseen & UNSEEN_LOCKS && !notices_warn_locks(campaign, contract, is_last))
		unseen &= ~UNSEEN_LOCKS;
	if (unseen & UNSEEN_CALLS)
		campaign_warn(campaign,
			"the program loads a library by dlmopen or with RTLD_DEEPBIND, and raddle sees only its system calls; load it without");
	campaign->noticed.unseen |= unseen;
}

void notices_warn(struct campaign *campaign, bool is_last)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		const struct contract *contract = campaign->workers[i].worker.contract;

		if (!contract)
			continue;
		notices_warn_spinning(campaign, contract);
		notices_warn_calls(campaign, contract, is_last);
		notices_warn_limit(campaign, contract);
	}
}
