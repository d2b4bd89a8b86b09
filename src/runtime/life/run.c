/*
 * The life of a run. Runs in the moving thread, or in a restart server, which outlives its runs.
 *
 * runtime_begin_run() seeds strategy and engine and begins control. A run ends in
 * runtime_finish_run() (run_end.c), which completes the outcome in the contract and never returns:
 * restart->finish() leaves for the next run. runtime_account_run() then counts the run and gives
 * its summary to the strategy. Outcome and schedule then lie in the contract, so a crash of the
 * target loses neither.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/outcome/failure_key.h"
#include "runtime/contexts.h"
#include "runtime/focus.h"
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/record.h"
#include "runtime/quick.h"
#include "runtime/returned.h"
#include "runtime/runtime.h"
#include "runtime/spinning.h"
#include "runtime/libc/world.h"
#include "strategies/history.h"

/* libstdc++'s atomic waits, latches and semaphores read 16 times, with four yields, before they block.
 * If memory accesses are scheduling points, spinning.c delays such a loop like one that waits for
 * ever, and others move before it gives up. In runs with interruption points they need not. Other
 * runs, and exhaustive searches, have fewer steps. */
#define FREE_YIELDS 4
#define FREE_REPEATS 20

static const struct strategy *run_strategy(const struct contract *contract)
{
	return strategies[contract->plan.strategy];
}

static void *run_strategy_state(struct contract *contract)
{
	return contract_area(contract, contract->strategy_offset);
}

static struct schedule *run_schedule(struct contract *contract)
{
	return contract_area(contract, contract->schedule_offset);
}

/* Removes the pages, because a large state is mostly untouched. */
static void run_clear_strategy_state(struct contract *contract)
{
	void *state = run_strategy_state(contract);

	if (platform_call(SYS_madvise, (uintptr_t)state, contract->strategy_bytes, MADV_REMOVE))
		memset(state, 0, contract->strategy_bytes);
}

bool runtime_renew_strategy(void)
{
	struct contract *contract = runtime.contract;
	struct contract_plan *plan = &contract->plan;
	const struct strategy *strategy = run_strategy(contract);
	void *state = run_strategy_state(contract);
	bool is_renewed = plan->is_fresh_state;

	if (plan->is_fresh_state) {
		strategy_begin_campaign(strategy, state, &plan->strategy_config);
		/* The only field of the plan that the guest writes. */
		plan->is_fresh_state = false;
	}
	/* An exhaustive strategy begins again when the program has new scheduling points. */
	if (strategy->search.is_exhausted && memory_take_change()) {
		run_clear_strategy_state(contract);
		strategy_begin_campaign(strategy, state, &plan->strategy_config);
		contract->features &= ~(uint32_t)FEATURES_OF_CUTS;
		is_renewed = true;
	}
	return is_renewed;
}

void runtime_note_feature(enum feature feature)
{
	struct contract *contract = runtime.contract;

	/* The processes of a run share the word: it is written once. */
	if (contract && !(__atomic_load_n(&contract->features, __ATOMIC_RELAXED) & feature))
		__atomic_or_fetch(&contract->features, feature, __ATOMIC_RELAXED);
}

void runtime_begin_position(uint64_t number)
{
	const struct contract_plan *plan = &runtime.contract->plan;
	const struct strategy *strategy = run_strategy(runtime.contract);

	if (strategy->learning.begin_position)
		strategy->learning.begin_position(run_strategy_state(runtime.contract),
			plan->round_runs ? (uint32_t)(number - plan->round_first) : 0);
}

uint64_t runtime_seed(uint64_t number)
{
	return hash_pair(runtime.contract->plan.seed, number);
}

static void run_clear_evidence(struct contract *contract)
{
	contract->heartbeat = 0;
	contract->trace_count = 0;
	contract->thread_count = 1;
	contract->stalls.count = 0;
	contract->stalls.thread_count = 0;
	contract->stalls.total_ns = 0;
	contract->delayed.count = 0;
	contract->known_failure = 0;
	outcome_set(&contract->outcome, OUTCOME_NONE, THREAD_NONE, 0);
}

void runtime_await_run(void)
{
	struct contract *contract = runtime.contract;

	run_clear_evidence(contract);
	schedule_clear(run_schedule(contract));
	contract->is_live = 0;
}

/* Called when a run begins or continues from a checkpoint. */
static void run_announce(struct contract *contract, uint64_t number)
{
	contract->run_number = number;
	contract->run_seed = runtime_seed(number);
	run_clear_evidence(contract);
	stuck_children_begin_run();
	__atomic_store_n(&contract->is_live, 1,
		__ATOMIC_RELEASE); /* the command then sees the fields that were written before */
}

static bool run_is_unvaried(struct contract *contract)
{
	const struct strategy *strategy = run_strategy(contract);

	return strategy->is_unvaried ? strategy->is_unvaried(run_strategy_state(contract))
				     : strategy->search.is_exhausted != NULL;
}

/* Returns the interruption points of this run, after the strategy has begun the run: all in the second and
 * fourth of each STALL_RUNS runs, and in every other run with stalls, which is the fifth of them. An exhaustive
 * search changes the order of independent steps. Whether an operation wakes a thread depends on that order,
 * but no call that uses a file does. */
static enum interruption_points run_choose_points(struct contract *contract, uint64_t number)
{
	const uint64_t turn = number % STALL_RUNS;
	const uint64_t counted = turn == STALL_RUNS - 1 ? number / STALL_RUNS : turn;

	if (contract->plan.interruption_points != INTERRUPTION_POINTS_IN_PART)
		return (enum interruption_points)contract->plan.interruption_points;
	if (run_is_unvaried(contract))
		return INTERRUPTION_POINTS_FILES;
	return counted % 2 ? INTERRUPTION_POINTS_ALL : INTERRUPTION_POINTS_NONE;
}

static uint8_t run_free_yields(const struct contract *contract)
{
	if (!contract->has_memory_sites)
		return FREE_YIELDS;
	return runtime.interruption_points == INTERRUPTION_POINTS_ALL ? FREE_REPEATS : 0;
}

/* The limit of a run with stalls takes STALL_LIMITS values in turn. The shortest comes first, because
 * short stalls are more probable on a real machine. */
#define STALL_LIMITS 5
#define STALL_LIMIT_FIRST_NS UINT64_C(1000000)

/* Returns the limit of stalls in this run, after the strategy has begun the run. An exhaustive search
 * needs the same stalls in all its runs. */
static uint64_t run_stall_ns(struct contract *contract, uint64_t number)
{
	const struct contract_plan *plan = &contract->plan;
	uint64_t limit_ns = STALL_LIMIT_FIRST_NS;

	if (plan->stall_ns == STALL_ANY || plan->without_virtual_time)
		return plan->without_virtual_time ? 0 : STALL_ANY;
	if (number % STALL_RUNS != STALL_RUNS - 1 || run_is_unvaried(contract))
		return 0;
	for (uint64_t i = number / STALL_RUNS % STALL_LIMITS; i; i--)
		limit_ns *= 10;
	return limit_ns < plan->stall_ns ? limit_ns : plan->stall_ns;
}

void runtime_begin_run(uint64_t number, struct history *history)
{
	struct contract *contract = runtime.contract;
	struct contract_plan *plan = &contract->plan;
	struct engine_run run = {
		.strategy = history ? &history_strategy : run_strategy(contract),
		.strategy_state = history ? history : run_strategy_state(contract),
		.recording = run_schedule(contract),
		.outcome = &contract->outcome,
		.heartbeat = &contract->heartbeat,
		.covered = contract->covered,
		.covered_words = CONTRACT_COVERED_WORDS,
		.features = &contract->features,
		.operations = plan->has_operations ? &contract->operations : NULL,
		.seed = runtime_seed(number),
		.random_seed = plan->random_seed,
		.step_limit = plan->step_limit,
		.has_spurious_wakeups = plan->has_spurious_wakeups,
		.stalls = &contract->stalls,
		.memory_model = contract->has_memory_sites ? (enum memory_model)plan->memory_model
							   : MEMORY_MODEL_SC,
		.delayed = &contract->delayed,
		.judged_model = (enum memory_model)plan->judged_model,
		.weak_limit = plan->weak_limit,
		.tolerated = plan->tolerated,
		.defers_changes = record_is_on(),
	};

	contract->operations = 0;
	schedule_clear(run.recording);
	if (!history) {
		/* The result does not matter: the strategy begins its run below. */
		(void)runtime_renew_strategy();
		runtime_begin_position(number);
		run.strategy->begin_run(run.strategy_state, run.seed);
	}
	run.stall_ns = run_stall_ns(contract, number);
	runtime.interruption_points = run_choose_points(contract, number);
	contract->interruption_points = runtime.interruption_points == INTERRUPTION_POINTS_ALL
						? INTERRUPTION_POINTS_ALL
						: INTERRUPTION_POINTS_NONE;
	run.free_yields = run_free_yields(contract);
	run_announce(contract, number);
	if (record_is_on())
		record_go_live();
	/* The slow path of ENTER() checks callers: uncontrolled threads may call, too. */
	runtime_is_up = runtime.has_dispatch || runtime.executor != &executor_fiber;
	runtime_detect_begin();
	contexts_begin_run();
	engine_begin_run(&run);
	if (runtime.has_sanitizer)
		returned_look_for_shadow();
	engine_go_live();
	focus_begin_run();
	quick_begin_run();
	runtime_spin_watch();
}

void runtime_resume_run(uint64_t number)
{
	struct contract *contract = runtime.contract;

	run_announce(contract, number);
	contract->heartbeat = engine_step();
	contract->thread_count = engine_thread_count();
	engine_renew_run(contract->run_seed);
	focus_begin_run();
	quick_resume_run();
}

/* Threads of the program: store buffers are none, although each is in the table of threads. */
static uint32_t run_thread_count(const struct contract *contract)
{
	const uint32_t drainers = engine_drainer_count();

	return contract->thread_count > drainers ? contract->thread_count - drainers : 1;
}

static uint64_t run_digest(const struct schedule *schedule, const struct outcome *outcome)
{
	const uint64_t end = hash_pair(outcome->kind, (uint64_t)(uint32_t)outcome->code);

	return hash_pair(
		hash_bytes(schedule->segments, schedule->count * sizeof *schedule->segments),
		hash_pair(outcome->step, end));
}

/* Returns contract_run.known of the run. */
static uint32_t run_find_known(const struct contract *contract)
{
	const struct contract_plan *plan = &contract->plan;
	uint64_t key;

	if (!plan->known_count || !contract->is_live || !contract_has_failed(contract))
		return 0;
	key = failure_run_key(
		&contract->outcome, contract->stalls.count || contract->delayed.count);
	for (uint32_t i = 0; i < plan->known_count; i++)
		if (plan->known_keys[i] == key)
			return i + 1;
	return 0;
}

/* Stores the summary of a run that belongs to a round. */
static void run_note(struct contract *contract, uint64_t digest)
{
	struct contract_run *run = contract_run_of(contract, contract->run_number);

	if (!run)
		return;
	*run = (struct contract_run){.steps = contract->outcome.step,
		.digest = digest,
		.threads = (uint16_t)run_thread_count(contract),
		.known = (uint16_t)contract->known_failure,
		.outcome = (uint8_t)contract->outcome.kind,
		.is_failure = contract_has_failed(contract)};
	runtime_note_races(run);
}

/* Returns whether another shard counts the run. The strategy learns from the run nevertheless. */
static bool run_is_elsewhere(struct contract *contract)
{
	const struct strategy *strategy = run_strategy(contract);
	const struct run_summary summary = {.thread_count = contract->thread_count,
		.step_count = contract->outcome.step,
		.outcome = (enum outcome_kind)contract->outcome.kind};

	contract->is_elsewhere = contract->is_live && strategy->search.is_elsewhere &&
				 strategy->search.is_elsewhere(run_strategy_state(contract));
	if (contract->is_elsewhere)
		strategy_end_single_run(strategy, run_strategy_state(contract), &summary);
	return contract->is_elsewhere;
}

bool runtime_account_run(void)
{
	struct contract *contract = runtime.contract;
	struct contract_totals *totals = &contract->totals;
	const struct outcome *outcome = &contract->outcome;
	const struct strategy *strategy = run_strategy(contract);
	uint64_t steps = outcome->step;
	uint64_t digest = 0;

	if (run_is_elsewhere(contract))
		return false;
	totals->runs++;
	totals->steps += steps;
	totals->outcome[outcome->kind]++;
	if (steps > totals->steps_most)
		totals->steps_most = steps;
	if (run_thread_count(contract) > totals->threads_most)
		totals->threads_most = run_thread_count(contract);
	if (contract->is_live) {
		struct run_summary summary = {.thread_count = contract->thread_count,
			.step_count = steps,
			.outcome = (enum outcome_kind)outcome->kind};

		totals->switches += run_schedule(contract)->count;
		if (contract->plan.has_digest)
			digest = run_digest(run_schedule(contract), outcome);
		totals->digest += digest;
		if (contract->plan.round_runs && strategy->end_run)
			strategy->end_run(run_strategy_state(contract), &summary);
		else if (!contract->plan.round_runs)
			strategy_end_single_run(strategy, run_strategy_state(contract), &summary);
	}
	contract->known_failure = run_find_known(contract);
	run_note(contract, digest);
	if (!contract_has_failed(contract))
		return false;
	totals->failures++;
	if (contract->known_failure)
		totals->known[contract->known_failure - 1]++;
	return contract->plan.stop_at_failure && !contract->known_failure;
}

/* Must not run inside a run: the target may have unmasked floating-point exceptions. */
static void run_publish_guarantee(struct contract *contract)
{
	const struct strategy *strategy = run_strategy(contract);

	if (!contract->totals.runs || !strategy->guarantee ||
		!strategy->guarantee(run_strategy_state(contract), &contract->guarantee))
		contract->guarantee.probability = 0;
}

void runtime_ring(void)
{
	/* pairs with the host's acquire */
	__atomic_add_fetch(&runtime.contract->doorbell, 1, __ATOMIC_RELEASE);
	platform_futex_wake(&runtime.contract->doorbell, true);
}

void runtime_report(enum contract_report report)
{
	struct contract *contract = runtime.contract;

	run_publish_guarantee(contract);
	contract->report = report;
}

uint32_t runtime_report_and_wait(enum contract_report report)
{
	struct contract *contract = runtime.contract;
	uint32_t command;

	__atomic_store_n(&contract->command, COMMAND_NONE, __ATOMIC_RELAXED);
	runtime_report(report);
	runtime_ring();
	/* Pairs with the host's release; the plan was written before the command. */
	while ((command = __atomic_load_n(&contract->command, __ATOMIC_ACQUIRE)) == COMMAND_NONE)
		platform_futex_wait(&contract->command, COMMAND_NONE, UINT64_MAX, true);
	return command;
}

bool runtime_is_exhausted(void)
{
	const struct strategy *strategy = run_strategy(runtime.contract);

	if (strategy->search.tasks &&
		strategy->search.tasks->awaited(run_strategy_state(runtime.contract)))
		return true; /* the command must join the task first */
	if (runtime.contract->plan.is_task && memory_has_news())
		return true;
	/* The search is not exhausted if the last run has found new points, because new points make
	 * new runs. */
	return strategy->search.is_exhausted && !memory_has_news() &&
	       strategy->search.is_exhausted(run_strategy_state(runtime.contract));
}

static __attribute__((noreturn)) void run_refuse(const char *why, enum contract_refusal refusal)
{
	struct contract *contract = runtime.contract;
	struct text text;

	outcome_set(&contract->outcome, OUTCOME_REFUSED, THREAD_NONE, (int)refusal);
	text_init(&text, contract->outcome.text, sizeof contract->outcome.text);
	text_add(&text, why);
	if (runtime.refused)
		runtime.refused(why);
	runtime_report(REPORT_REFUSED);
	runtime_ring();
	for (;;)
		(void)platform_call(SYS_exit_group, 127);
}

void runtime_refuse(const char *why)
{
	run_refuse(why, REFUSAL_PROGRAM);
}

void runtime_refuse_restart(const char *why)
{
	run_refuse(why, REFUSAL_RESTART);
}

void runtime_mark_outside(bool is_outside)
{
	if (runtime.contract && !runtime.is_forked_child)
		runtime.contract->is_waiting_outside = is_outside;
}

/* Lowest number of the runtime's own descriptors, within the hard limit. */
#define HIGH_DESCRIPTORS 60000

long runtime_high_descriptor(long descriptor)
{
	struct rlimit limit;
	struct rlimit raised;
	long high;

	if (platform_failed(platform_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit)))
		return 0;
	raised = limit;
	raised.rlim_cur = limit.rlim_max;
	(void)platform_call(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised, NULL);
	high = platform_call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC,
		limit.rlim_max > HIGH_DESCRIPTORS + 1024 ? HIGH_DESCRIPTORS : limit.rlim_max / 2);
	(void)platform_call(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
	return platform_failed(high) ? 0 : high;
}
