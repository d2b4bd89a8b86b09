/* A finding with something in every field, for tests of what stores and prints findings. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "findings/finding.h"

static inline void *sample_allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		abort();
	return memory;
}

static inline struct finding_frame sample_frame(
	const char *function, const char *file, unsigned line, bool is_system)
{
	return (struct finding_frame){.function = function ? strdup(function) : NULL,
		.file = file ? strdup(file) : NULL,
		.line = line,
		.module = strdup(is_system ? "libc.so.6" : "bank"),
		.is_system = is_system};
}

static inline struct finding_stack sample_stack(const char *function, unsigned line)
{
	struct finding_stack stack = {.count = 3};

	stack.frames = sample_allocate(stack.count, sizeof *stack.frames);
	stack.frames[0] = sample_frame("pthread_mutex_lock", NULL, 0, true);
	stack.frames[1] = sample_frame(function, "src/bank.c", line, false);
	stack.frames[2] = sample_frame("transfer_many", "src/bank.c", 60, false);
	return stack;
}

static inline struct finding_wait sample_wait(
	const char *thread, const char *holder, const char *object, unsigned line)
{
	return (struct finding_wait){.thread = strdup(thread),
		.verb = strdup("locks"),
		.object = strdup(object),
		.at = sample_stack("transfer", line),
		.holder = strdup(holder),
		.held_since = sample_frame("transfer", "src/bank.c", line - 1, false),
		.is_on_cycle = true};
}

static inline struct finding_step sample_step(
	uint64_t step, const char *thread, const char *verb, const char *object, unsigned line)
{
	return (struct finding_step){.step = step,
		.thread = strdup(thread),
		.verb = strdup(verb),
		.object = object ? strdup(object) : NULL,
		.where = sample_frame("transfer", "src/bank.c", line, false)};
}

static inline char **sample_arguments(void)
{
	char **argv = sample_allocate(4, sizeof *argv);

	argv[0] = strdup("./bank");
	argv[1] = strdup("two words");
	argv[2] = strdup("\xff\xfe"); /* bytes that are no UTF-8 */
	return argv;
}

static inline struct finding sample_finding(void)
{
	static const char schedule[] = "raddle schedule 1\nprogram ./bank\noutcome deadlock\n"
				       "steps 16\nmain 12\nmain.0 3\nmain.1 1 preempts\n";
	struct finding finding = {.kind = OUTCOME_DEADLOCK,
		.title = strdup("deadlock: main.0 and main.1 wait for each other"),
		.detail = strdup("two lines\nof words"),
		.argv = sample_arguments(),
		.directory = strdup("/home/user/bank"),
		.settings = strdup("{\"executor\":\"fiber\",\"seed\":7}"),
		.strategy = strdup("pct,depth=3"),
		.seed = UINT64_MAX,
		.run_number = 41,
		.switches_found = 30,
		.preemptions_found = 9,
		.switches = 2,
		.preemptions = 1,
		.depth = 3,
		.radius = 14,
		.replays = 3,
		.replays_failed_again = 3,
		.wait_count = 2,
		.step_count = 4,
		.steps_left_out = 12,
		.output = strdup("balance 10\n")};

	if (schedule_text_parse(schedule, sizeof schedule - 1, "sample", &finding.schedule, NULL))
		abort();
	finding.waits = sample_allocate(finding.wait_count, sizeof *finding.waits);
	finding.steps = sample_allocate(finding.step_count, sizeof *finding.steps);
	finding.waits[0] = sample_wait("main.0", "main.1", "mutex accounts+40", 42);
	finding.waits[1] = sample_wait("main.1", "main.0", "mutex accounts", 52);
	finding.steps[0] = sample_step(13, "main.0", "locks", "mutex accounts", 41);
	finding.steps[1] = sample_step(14, "main.1", "locks", "mutex accounts+40", 51);
	finding.steps[1].is_switch = finding.steps[1].is_preemption = true;
	finding.steps[2] = sample_step(15, "main.1", "locks", "mutex accounts", 52);
	finding.steps[3] = sample_step(16, "main.0", "locks", "mutex accounts+40", 42);
	finding.steps[3].is_switch = true;
	finding.signature = finding_signature(&finding);
	return finding;
}
