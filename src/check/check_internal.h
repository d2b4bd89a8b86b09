/*
 * Shared declarations of src/check. A check runs the command's part and the runtime in one
 * process. The process lays out a contract, as the command does, and executes the runs of its
 * plan one after the other. All threads of a run are fibers of the calling kernel thread. Only
 * the engine's state is reset between runs; the function under test sets up its own state.
 *
 *	check.c		raddle_check_at(): options, the loop, the verdict
 *	room.c		the contract; puts the process under control for the time of a check
 *	function_run.c	one run of the function, from its fiber to its end
 *	watch.c		time limit of a step
 *	token.c		schedules in the text form of RADDLE_REPLAY
 *	describe.c	describes a failing run in words
 *	simplify.c	removes context switches, in a child process; probe.c makes its runs
 *	steps.c		log of a run's operations
 *	leave.c		exit() and longjmp() out of the function
 *
 * Thread context: the kernel thread that called raddle_check(), inside or outside of its
 * function.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "exchange/contract_block.h"
#include "platform/platform.h"
#include "raddle_check.h"
#include "runtime/restart.h"
#include "strategies/replay/replay.h"

/* ---- room.c ---- */

/* Settings of a check, from raddle_options and a token. */
struct check_plan {
	uint32_t strategy;
	struct strategy_config config;
	uint64_t seed, step_limit, hang_ns;
	bool has_spurious_wakeups, has_stalls, are_races_failures;
	enum memory_model memory_model;
	size_t strategy_bytes; /* size of the strategy's state */
};

/* Puts the process under control. ERROR_USAGE: not possible, `err` has the reason. */
int room_enter(const struct check_plan *plan, struct error *err);
/* Ends control of the process. The contract stays readable until the next check. */
void room_leave(void);
/* Returns the contract of the current check, or of the last one if none is active. */
struct contract *room_contract(void);

/* ---- function_run.c ---- */

bool function_run_set_up(void); /* returns false when memory is short */
extern const struct restart restart_check;
/* Executes run `number` and returns when the run is over. The outcome is in the contract. */
/* `frame`: stack address where the frame of raddle_check()'s caller begins. */
void function_run(int (*function)(void *), void *argument, uintptr_t frame, uint64_t number);
/* Returns true if the address lies in the stack of the function under test. */
bool function_run_has_stack(uintptr_t address);

/* ---- watch.c ---- */

/* Starts the time limit: a run that makes no step for `hang_ns` of processor time ends as a hang. */
void watch_begin(uint64_t hang_ns);
void watch_end(void);

/* ---- leave.c ---- */

/* Implement runtime.jumps_to and runtime.exits. */
void leave_by_jump(uintptr_t stack_pointer);
void leave_by_exit(int status);

/* ---- token.c ---- */

/* Appends the token of the last run. The token contains the check's name. */
void token_write(struct strbuf *out, const char *name);
/* The parts of a token. `points` names the variables that are scheduling points. The caller frees
 * both arrays. */
struct token {
	struct replay_state *state;
	variable_name *points;
	uint32_t point_count;
};
enum token_fit { TOKEN_FITS, TOKEN_IS_FOREIGN, TOKEN_IS_BAD };
/* Sets `plan` for the replay. TOKEN_IS_FOREIGN: another check's. TOKEN_IS_BAD: see `err`. */
enum token_fit token_read(const char *token, const char *name, struct check_plan *plan,
	struct token *out, struct error *err);
/* Makes exactly the variables of the token scheduling points in the next run. */
void token_apply(const struct token *token);
/* Keeps the last run's scheduling points for the next runs, as token_apply() would. */
void token_freeze_points(void);

/* ---- describe.c ---- */

/* Describes a failure. `message`: the reason of the last run's failure; `run`: blocked threads and
 * context switches. */
void describe_failure(struct strbuf *message, struct strbuf *run);

/* ---- steps.c ---- */

struct check_step {
	uint64_t step;
	uint64_t site;
	uint64_t address; /* address of the object; 0: the operation has none */
	uint16_t thread;
	uint8_t kind; /* enum op_kind */
};

/* Starts the log. describe_failure() uses the log of the last run. */
void steps_begin(void);
void steps_end(void);
/* Drops the operations logged so far, which belong to no run. */
void steps_forget(void);
/* Returns the number of logged operations of the last run, oldest first. `left_out`: earlier ones
 * that were dropped. */
uint32_t steps_count(uint64_t *left_out);
const struct check_step *steps_at(uint32_t index);

/* ---- probe.c ---- */

/* Maximum number of segments of a schedule that is simplified. */
#define PROBE_SEGMENTS_MAX 16384u

struct probe_function {
	int (*function)(void *);
	void *argument;
	uintptr_t frame; /* see function_run() */
	/* Number of failures that the test framework has noted; NULL: no framework is used. */
	int (*has_failed)(void);
};
void probe_set_function(const struct probe_function *function);

/* ---- simplify.c ---- */

struct simplify {
	struct probe_function function;
	const char *name; /* name of the check */
	uint64_t hang_ns;
};
/* Description of the failure; the caller releases all three. */
struct simplified {
	struct strbuf message, run, token;
};
/*
 * Simplifies the last run, which failed, and describes the simplified run in *out. Returns false,
 * with *out untouched, if the child process sends no description in time. The contract keeps
 * outcome and totals of the failure, but not its run.
 */
bool simplify_failure(const struct simplify *simplify, struct simplified *out);
