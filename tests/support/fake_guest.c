#include "support/fake_guest.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bitset.h"
#include "base/hash.h"
#include "model/thread_name.h"
#include "abi/contract.h"

struct guest {
	struct contract *contract;
	const struct simulated_program *program;
	const char *behaviour;
	uint64_t runs; /* id of this process */
};

static struct contract *map_contract(void)
{
	const char *path = getenv(CONTRACT_ENVIRONMENT);
	int file = path ? open(path, O_RDWR) : -1;
	struct stat status;
	struct contract *contract;

	if (file < 0 || fstat(file, &status) != 0)
		return NULL;
	contract = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	(void)close(file);
	if (contract == MAP_FAILED || contract->magic != CONTRACT_MAGIC)
		return NULL;
	return contract;
}

static bool is_behaviour(const struct guest *guest, const char *name)
{
	return strcmp(guest->behaviour, name) == 0;
}

static void ring(struct contract *contract, enum contract_report report)
{
	__atomic_store_n(&contract->report, report, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&contract->doorbell, 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &contract->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint32_t ring_and_wait(struct contract *contract, enum contract_report report)
{
	uint32_t command;

	__atomic_store_n(&contract->command, COMMAND_NONE, __ATOMIC_SEQ_CST);
	ring(contract, report);
	while ((command = __atomic_load_n(&contract->command, __ATOMIC_SEQ_CST)) == COMMAND_NONE)
		(void)syscall(
			SYS_futex, &contract->command, FUTEX_WAIT, COMMAND_NONE, NULL, NULL, 0);
	return command;
}

/* The run has begun; the heartbeat stands still until the command asks. */
static void spin_until_asked(struct guest *guest)
{
	struct contract *contract = guest->contract;
	sigset_t asked;

	if (is_behaviour(guest, "deaf")) {
		(void)signal(SIGSYS, SIG_IGN);
		for (;;)
			contract->run_seed++; /* uses the processor */
	}
	/* Taken by looking for it, so that nothing is written in a handler. */
	(void)sigemptyset(&asked);
	(void)sigaddset(&asked, SIGSYS);
	(void)sigprocmask(SIG_BLOCK, &asked, NULL);
	for (;;) {
		struct timespec now = {0, 0};

		if (sigtimedwait(&asked, NULL, &now) == SIGSYS)
			break;
	}
	outcome_set(&contract->outcome, OUTCOME_HANG, (struct thread_id){0}, 0);
}

static void misbehave(struct guest *guest)
{
	if (is_behaviour(guest, "segv")) {
		(void)signal(SIGSEGV, SIG_DFL);
		(void)raise(SIGSEGV);
	}
	if (is_behaviour(guest, "die") && guest->runs == 2)
		_exit(0);
	if ((is_behaviour(guest, "spin") || is_behaviour(guest, "deaf")) && guest->runs == 1)
		spin_until_asked(guest);
}

static void publish_threads(const struct guest *guest)
{
	struct contract *contract = guest->contract;
	struct thread_record *threads = contract_area(contract, contract->threads_offset);

	contract->thread_count = guest->program->initial_count;
	for (uint16_t i = 0; i < guest->program->initial_count; i++)
		threads[i] = (struct thread_record){
			.name = i ? thread_name_child(THREAD_NAME_MAIN, i - 1) : THREAD_NAME_MAIN,
			.ordinal = i ? i - 1 : 0,
		};
}

/* Does the same as runtime_account_run(), and records the engine's coverage. */
static void note_run(struct contract *contract, uint64_t number, uint64_t order)
{
	struct contract_run *run = contract_run_of(contract, number);
	const uint64_t digest =
		contract->plan.has_digest ? hash_pair(order, contract->outcome.kind) : 0;

	if (run)
		*run = (struct contract_run){.steps = contract->outcome.step,
			.digest = digest,
			.threads = (uint16_t)contract->thread_count,
			.outcome = (uint8_t)contract->outcome.kind,
			.is_failure = outcome_is_failure(&contract->outcome) &&
				      !(contract->plan.tolerated >> contract->outcome.kind & 1)};
	bitset_add(contract->covered, (uint32_t)(order % (64 * CONTRACT_COVERED_WORDS)));
	contract->totals.digest = hash_pair(contract->totals.digest, digest);
}

/* Returns true if the host must examine the run. */
static bool perform_run(struct guest *guest, uint64_t number)
{
	struct contract *contract = guest->contract;
	struct contract_plan *plan = &contract->plan;
	struct simulated_run run = {
		.program = guest->program,
		.strategy = strategies[plan->strategy],
		.state = contract_area(contract, contract->strategy_offset),
		.seed = hash_pair(plan->seed, number),
		.step_limit = plan->step_limit,
		.recording = contract_area(contract, contract->schedule_offset),
	};
	struct run_summary summary;

	guest->runs++;
	if (plan->is_fresh_state)
		strategy_begin_campaign(run.strategy, run.state, &plan->strategy_config);
	plan->is_fresh_state = false;
	if (run.strategy->learning.begin_position)
		run.strategy->learning.begin_position(
			run.state, plan->round_runs ? (uint32_t)(number - plan->round_first) : 0);
	contract->run_number = number;
	contract->heartbeat = 0;
	outcome_set(&contract->outcome, OUTCOME_NONE, THREAD_NONE, 0);
	schedule_clear(run.recording);
	contract->is_live = 1;
	misbehave(guest);
	if (contract->outcome.kind == OUTCOME_NONE) {
		simulated_run(&run);
		outcome_set(&contract->outcome, run.outcome, (struct thread_id){0}, 0);
		if (is_behaviour(guest, "flaky") && plan->restart == RESTART_REWIND && number == 5)
			outcome_set(&contract->outcome, OUTCOME_CRASH, (struct thread_id){0}, 11);
		summary = simulated_summary(&run);
		if (!plan->round_runs)
			strategy_end_single_run(run.strategy, run.state, &summary);
		else if (run.strategy->end_run)
			run.strategy->end_run(run.state, &summary);
	}
	contract->outcome.step = run.step_count;
	contract->totals.runs++;
	contract->totals.steps += run.step_count;
	contract->totals.outcome[contract->outcome.kind]++;
	publish_threads(guest);
	note_run(contract, number, run.order_hash);
	if (!outcome_is_failure(&contract->outcome) ||
		plan->tolerated >> contract->outcome.kind & 1)
		return false;
	contract->totals.failures++;
	return plan->stop_at_failure;
}

static enum contract_report perform_batch(struct guest *guest)
{
	const struct contract_plan *plan = &guest->contract->plan;

	for (uint64_t i = 0; i < plan->run_limit && !guest->contract->stop; i++) {
		if (is_behaviour(guest, "taint") && plan->restart == RESTART_REWIND &&
			guest->runs == 3) {
			strcpy(guest->contract->taint_text, "did what cannot be undone");
			return REPORT_TAINTED;
		}
		if (perform_run(guest, plan->run_first + i))
			return REPORT_FAILURE;
	}
	return REPORT_BATCH;
}

static void leave_stray(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)setsid();
		for (;;)
			(void)pause();
	}
	(void)printf("%d\n", (int)pid);
	(void)fflush(stdout);
}

static void print_much(void)
{
	static char block[1 << 16];

	memset(block, 'x', sizeof block);
	for (int i = 0; i < 1024; i++)
		if (write(STDOUT_FILENO, block, sizeof block) < 0)
			return;
}

int fake_guest_main(const char *behaviour, const struct simulated_program *program)
{
	struct guest guest = {.program = program, .behaviour = behaviour};
	enum contract_report report = REPORT_READY;

	if (is_behaviour(&guest, "exit3"))
		return 3;
	if (is_behaviour(&guest, "stray"))
		leave_stray();
	if (is_behaviour(&guest, "print"))
		print_much();
	guest.contract = map_contract();
	if (!guest.contract)
		return 125;
	guest.contract->guest_pid = (uint32_t)getpid();
	guest.contract->has_dispatch = 1;
	if (guest.contract->plan.restart == RESTART_EXEC) {
		report = perform_run(&guest, guest.contract->plan.run_first) ? REPORT_FAILURE
									     : REPORT_BATCH;
		ring(guest.contract, report);
		return 0;
	}
	while (ring_and_wait(guest.contract, report) == COMMAND_RUN)
		report = perform_batch(&guest);
	return 0;
}
