/* raddle_check_at(): the caller's options, the loop over schedules, and the verdict. */
#include "runtime/interpose.h"
#include "runtime/runtime.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files/base_name.h"
#include "plan/strategy_option.h"
#include "check/check_internal.h"
#include "runtime/attach.h"

#define REPLAY_ENVIRONMENT "RADDLE_REPLAY"
#define SCHEDULES_STANDARD 100000
#define MILLISECONDS_STANDARD 10000
#define HANG_MILLISECONDS_STANDARD 5000
#define STEPS_STANDARD 1000000
/* Number of runs between two readings of the clock. */
#define RUNS_PER_LOOK 64

enum verdict { VERDICT_PASSED, VERDICT_FAILED, VERDICT_UNABLE };

struct check {
	int (*function)(void *);
	void *argument;
	struct raddle_options options; /* options with defaults filled in */
	char name[256];
	struct check_plan plan;
	struct token token; /* state NULL: the check explores */
	uintptr_t frame;    /* frame of the caller */
	bool is_complete;
	int noted; /* failures that the framework had noted before */
	bool has_framework_failed;
};

/* Texts that raddle_result points to, until the next check. */
static struct {
	struct strbuf message, replay;
	bool is_up;
} kept;

__attribute__((format(printf, 2, 3))) static void say(
	const struct check *check, const char *format, ...)
{
	STRBUF_SCOPED line = STRBUF_EMPTY;
	va_list args;

	if (check->options.is_quiet)
		return;
	va_start(args, format);
	strbuf_vaddf(&line, format, args);
	va_end(args);
	/* The write avoids stdio, so that the test's buffers stay untouched. A failure cannot be
	 * reported. */
	(void)platform_call(SYS_write, STDERR_FILENO, line.text, line.length);
}

static void check_set_name(struct check *check, const char *file, const char *what)
{
	const char *base = base_name(file);

	if (check->options.name)
		(void)snprintf(check->name, sizeof check->name, "%s", check->options.name);
	else
		(void)snprintf(check->name, sizeof check->name, "%s:%s", base ? base : "",
			what ? what : "");
}

static void check_set_standards(struct raddle_options *options)
{
	if (!options->strategy)
		options->strategy = STRATEGY_STANDARD;
	if (!options->schedules)
		options->schedules = SCHEDULES_STANDARD;
	if (!options->milliseconds)
		options->milliseconds = MILLISECONDS_STANDARD;
	if (!options->hang_milliseconds)
		options->hang_milliseconds = HANG_MILLISECONDS_STANDARD;
	if (!options->steps)
		options->steps = STEPS_STANDARD;
	if (!options->seed)
		options->seed = 1;
	if (!options->replay)
		options->replay = getenv(REPLAY_ENVIRONMENT);
}

static int check_plan_replay(struct check *check, struct error *err)
{
	switch (token_read(check->options.replay, check->name, &check->plan, &check->token, err)) {
	case TOKEN_FITS:
		return strategy_parse("replay", &check->plan.strategy, &check->plan.config, err);
	case TOKEN_IS_FOREIGN:
		return 0;
	default:
		return ERROR_USAGE;
	}
}

static int check_make_plan(struct check *check, struct error *err)
{
	struct raddle_options *options = &check->options;
	struct check_plan *plan = &check->plan;
	int code;

	*plan = (struct check_plan){
		.seed = options->seed,
		.step_limit = options->steps,
		.hang_ns = options->hang_milliseconds * UINT64_C(1000000),
		.has_spurious_wakeups = options->has_spurious_wakeups,
		.has_stalls = options->has_stalls,
		.are_races_failures = options->are_races_failures,
		.memory_model = (enum memory_model)options->memory_model,
	};
	_Static_assert((int)RADDLE_TSO == (int)MEMORY_MODEL_TSO &&
			       (int)RADDLE_C11 == (int)MEMORY_MODEL_C11,
		"the same values");
	if (options->memory_model < 0 || options->memory_model >= MEMORY_MODEL_COUNT)
		return error_set(err, ERROR_USAGE,
			"memory_model is RADDLE_SC, RADDLE_TSO or RADDLE_C11, not %d",
			options->memory_model);
	if (options->replay && options->replay[0]) {
		code = check_plan_replay(check, err);
		if (code || check->token.state)
			return code;
	}
	code = strategy_parse(options->strategy, &plan->strategy, &plan->config, err);
	if (!code)
		plan->strategy_bytes =
			strategy_state_bytes(strategies[plan->strategy], &plan->config);
	return code;
}

static bool check_has_failed(struct check *check)
{
	if (check->options.has_failed && check->options.has_failed() > check->noted) {
		check->has_framework_failed = true;
		runtime_publish_threads();
		return true;
	}
	return false;
}

static bool check_explore(struct check *check)
{
	struct contract *contract = room_contract();
	const uint64_t deadline =
		platform_monotonic_ns() + check->options.milliseconds * UINT64_C(1000000);

	for (uint64_t number = 0; number < check->options.schedules; number++) {
		bool is_failure;

		function_run(check->function, check->argument, check->frame, number);
		is_failure = runtime_account_run();
		if (is_failure || contract->outcome.kind == OUTCOME_REFUSED ||
			check_has_failed(check))
			return true;
		if (runtime_is_exhausted()) {
			check->is_complete = true;
			return false;
		}
		if (number % RUNS_PER_LOOK == 0 && platform_monotonic_ns() >= deadline)
			return false;
	}
	return false;
}

static bool check_replay(struct check *check)
{
	token_apply(&check->token);
	function_run(check->function, check->argument, check->frame, 0);
	return runtime_account_run() || check_has_failed(check);
}

static void check_fill_result(const struct check *check, bool is_failure)
{
	struct raddle_result *result = check->options.result;
	const struct contract *contract = room_contract();

	if (!result)
		return;
	*result = (struct raddle_result){
		.schedules = contract->totals.runs,
		.steps = contract->totals.steps,
		.is_complete = check->is_complete,
		.outcome = outcome_descriptions[contract->outcome.kind].word,
		.message = is_failure ? kept.message.text : "",
		.replay = is_failure ? kept.replay.text : "",
	};
}

static void check_describe_at_last(const struct check *check, struct simplified *reported)
{
	const struct simplify simplify = {.function = {check->function, check->argument,
						  check->frame, check->options.has_failed},
		.name = check->name,
		.hang_ns = check->plan.hang_ns};

	const bool is_simplified = !check->token.state && !check->options.is_as_found &&
				   simplify_failure(&simplify, reported);

	room_leave();
	if (is_simplified)
		return;
	describe_failure(&reported->message, &reported->run);
	token_write(&reported->token, check->name);
}

static void check_keep_and_report(const struct check *check, const struct strbuf *run)
{
	const struct contract *contract = room_contract();

	if (check->has_framework_failed) {
		strbuf_clear(&kept.message);
		strbuf_adds(&kept.message, "the test framework has noted a failure");
	}
	say(check, "raddle: %s: schedule %" PRIu64 " fails: %s\n%s  this schedule alone: %s=%s\n",
		check->name, contract->totals.runs, kept.message.text, run->text,
		REPLAY_ENVIRONMENT, kept.replay.text);
}

static enum verdict check_judge_replay(const struct check *check, bool is_failure)
{
	const struct replay_state *state = contract_strategy(room_contract());

	if (state->diverged) {
		say(check,
			"raddle: %s: the function does not follow RADDLE_REPLAY from step %" PRIu64
			" on; it has changed, or depends on more than its schedule\n",
			check->name, state->diverged_step);
		return is_failure ? VERDICT_FAILED : VERDICT_UNABLE;
	}
	if (!is_failure)
		say(check, "raddle: %s: the schedule of RADDLE_REPLAY passes\n", check->name);
	return is_failure ? VERDICT_FAILED : VERDICT_PASSED;
}

static enum verdict check_perform(struct check *check)
{
	struct simplified reported = {.message = kept.message, .token = kept.replay};
	struct error err;
	bool is_failure;

	check->noted = check->options.has_failed ? check->options.has_failed() : 0;
	if (check_make_plan(check, &err) || room_enter(&check->plan, &err)) {
		say(check, "raddle: %s: %s\n", check->name, err.text);
		return VERDICT_UNABLE;
	}
	if (check->plan.memory_model && !room_contract()->has_memory_sites) {
		room_leave();
		say(check,
			"raddle: %s: %s has no effect, because raddle sees no stores of the program; build it with raddle-cc\n",
			check->name,
			check->plan.memory_model == MEMORY_MODEL_TSO ? "RADDLE_TSO" : "RADDLE_C11");
		return VERDICT_UNABLE;
	}
	is_failure = check->token.state ? check_replay(check) : check_explore(check);
	if (!is_failure) {
		room_leave();
	} else {
		strbuf_init(&reported.run);
		strbuf_clear(&reported.message);
		strbuf_clear(&reported.token);
		check_describe_at_last(check, &reported);
		kept.message = reported.message;
		kept.replay = reported.token;
		check_keep_and_report(check, &reported.run);
		strbuf_release(&reported.run);
	}
	check_fill_result(check, is_failure);
	if (check->token.state)
		return check_judge_replay(check, is_failure);
	return is_failure ? VERDICT_FAILED : VERDICT_PASSED;
}

EXPORT int raddle_check_at(int (*function)(void *), void *argument,
	const struct raddle_options *options, const char *file, const char *what)
{
	struct check check = {.function = function,
		.argument = argument,
		.frame = (uintptr_t)__builtin_frame_address(0)};
	enum verdict verdict;

	/* Under raddle run, the command explores the whole program, including this function. */
	if (!attach_is_first())
		return function(argument) ? VERDICT_FAILED : VERDICT_PASSED;
	if (!kept.is_up) {
		strbuf_init(&kept.message);
		strbuf_init(&kept.replay);
		kept.is_up = true;
	}
	if (options)
		check.options = *options;
	check_set_name(&check, file, what);
	check_set_standards(&check.options);
	verdict = check_perform(&check);
	free(check.token.state);
	free(check.token.points);
	return (int)verdict;
}
