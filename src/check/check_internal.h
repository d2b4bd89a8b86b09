/*
 * What the files of src/check share. A check is the command and the runtime in one process: it lays out a
 * contract as the command does, and makes the runs of its plan one after the other, each on fibers of the
 * calling kernel thread. Nothing is restored between runs but the engine: the function under test sets up
 * its own state.
 *
 *	check.c		raddle_check_at(): options, the loop, the verdict
 *	room.c		the contract, and the process under control only while a check lasts
 *	function_run.c	one run of the function, from its fiber to its end, whatever that is
 *	watch.c		runs that do not get on
 *	token.c		schedules as RADDLE_REPLAY has them
 *	describe.c	a failing run in words
 *	simplify.c	fewer switches, in a child of this process; probe.c makes its runs
 *	steps.c		what was done in a run, step by step
 *	leave.c		exit() and longjmp() out of the function
 *
 * Thread context: the kernel thread that called raddle_check(), in or outside of its function.
 */
#ifndef RADDLE_CHECK_CHECK_INTERNAL_H
#define RADDLE_CHECK_CHECK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "exchange/contract_block.h"
#include "platform/platform.h"
#include "raddle_check.h"
#include "runtime/restart.h"
#include "strategies/replay.h"

/* ---- room.c ---- */

/* What a check is to be. */
struct check_plan {
	uint32_t strategy;
	struct strategy_config config;
	uint64_t seed, step_limit, hang_ns;
	bool has_spurious_wakeups, has_early_timeouts, are_races_failures;
	size_t strategy_bytes; /* of its state */
};

/* Puts the process under control. ERROR_USAGE with why that is not possible. */
int room_enter(const struct check_plan *plan, struct error *err);
/* Back to what it was. The contract of the check stays readable until the next. */
void room_leave(void);
/* Of the current check, else of the last. */
struct contract *room_contract(void);

/* ---- function_run.c ---- */

bool function_run_set_up(void); /* false: no memory */
extern const struct restart restart_check;
/* Returns when the run is over; its outcome stands in the contract. */
/* `frame`: where the stack of raddle_check()'s caller begins. */
void function_run(int (*function)(void *), void *argument, uintptr_t frame, uint64_t number);
/* Is this address in the stack of the function itself? */
bool function_run_has_stack(uintptr_t address);

/* ---- watch.c ---- */

/* From here on a run without a step for so much processor time is a hang. */
void watch_begin(uint64_t hang_ns);
void watch_end(void);

/* ---- leave.c ---- */

/* For runtime.jumps_to. */
void leave_by_jump(uintptr_t stack_pointer);

/* ---- token.c ---- */

/* The last run. `name` of the check is part of it. */
void token_write(struct strbuf *out, const char *name);
/* What a token says. `points`: names of variables. Both arrays are to be freed. */
struct token {
	struct replay_state *state;
	variable_name *points;
	uint32_t point_count;
};
enum token_fit { TOKEN_FITS, TOKEN_IS_FOREIGN, TOKEN_IS_BAD };
/*
 * A token for this check as the plan of a replay.
 * TOKEN_IS_FOREIGN: it is of a check with another name. TOKEN_IS_BAD: `err` says what is wrong with it.
 */
enum token_fit token_read(const char *token, const char *name, struct check_plan *plan,
	struct token *out, struct error *err);
/* The run to come makes points of what the token names, and of nothing else. */
void token_apply(const struct token *token);
/* As if the last run's token had been applied, but for the schedule. */
void token_freeze_points(void);

/* ---- describe.c ---- */

/* Why the last run failed, in one line; and in lines of `run` who waited for what, and who moved when. */
void describe_failure(struct strbuf *message, struct strbuf *run);

/* ---- steps.c ---- */

struct check_step {
	uint64_t step;
	uint64_t site;
	uint64_t address; /* of the object, 0: none */
	uint16_t thread;
	uint8_t kind; /* enum op_kind */
};

/* Runs from here on are noted; describe_failure() tells of the last one. */
void steps_begin(void);
void steps_end(void);
/* Drops the operations noted so far: they belong to no run. */
void steps_forget(void);
/* Of the last run that was noted, the last ones, oldest first. */
uint32_t steps_count(uint64_t *left_out);
const struct check_step *steps_at(uint32_t index);

/* ---- probe.c ---- */

/* Segments, and directives, of schedules that are simplified. */
#define PROBE_SEGMENTS_MAX 16384u

struct probe_function {
	int (*function)(void *);
	void *argument;
	uintptr_t frame; /* as function_run() wants it */
	/* How many failures the test framework has noted; NULL: none does. */
	int (*has_failed)(void);
};
void probe_set_function(const struct probe_function *function);

/* ---- simplify.c ---- */

struct simplify {
	struct probe_function function;
	const char *name; /* of the check */
	uint64_t hang_ns;
};
/* What is said of the failure, to be released by the caller. */
struct simplified {
	struct strbuf message, run, token;
};
/*
 * The last run failed, and is described in *out; false: *out is untouched. The contract keeps outcome and totals, but
 * not the run.
 */
bool simplify_failure(const struct simplify *simplify, struct simplified *out);

#endif
