/* Writes the record of a run (branches/record/record.h). Other runs call none of these. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "branches/record/record.h"
#include "abi/instrument_abi.h"

bool record_is_on(void);
/* Handles a site without further effects: no scheduling point, time slice not over. Returns false
 * if site_reached() must handle it. */
bool record_quickly(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame);

/* Called at start-up before the program's constructors, if the plan asks for a record. */
void record_begin(void);
void record_go_live(void);
void record_end(void);
/* Returns the executor, wrapped to record each context switch. */
const struct executor *record_executor(const struct executor *executor);

/* `address`, `length`: %rdi and %rsi at the point. `frame`: the saved frame pointer, with the
 * return address behind it. */
void record_report(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame);
/* Records the result of the moving thread's last write, before other threads run at this site.
 * `is_point`: a scheduling point; else the time slice ended. */
void record_settle(const struct site_record *site, bool is_point);
/* Records that the moving thread continues after others have run, at no op that record_step()
 * recorded. */
void record_resume(void);
/* Implements guarded_read_has_failed() for the code of record_stubs.c. */
bool record_stub_has_failed(int signal, const siginfo_t *info, void *context);
/* Returns true only at sites where quick stubs also test the time slice. Slices then end at the
 * same reports without quick stubs. */
bool record_may_end_turn(const struct site_record *site);
/* Returns whether the thread has reported for long, so that other threads should run. */
bool record_turn_is_over(void);

/* Implement engine_host.observe and engine_host.performed. */
void record_step(const struct engine_thread *thread, const struct engine_op *op, uint64_t step);
void record_performed(const struct engine_performed *performed);
