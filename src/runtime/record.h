/* The record of a run, written: see branches/record/record.h. Nothing here is called in runs that are not recorded. */
#ifndef RADDLE_RUNTIME_RECORD_H
#define RADDLE_RUNTIME_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "branches/record/record.h"
#include "abi/instrument_abi.h"

bool record_is_on(void);
/*
 * The report of a site, where there is nothing else to do: no site is chosen to be a scheduling point, and
 * the thread's turn is not over. False: site_reached() has to look closer.
 */
bool record_quickly(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame);

/* At start-up, before the program's constructors, where the plan asks for a record. */
void record_begin(void);
/* The run is about to be controlled. */
void record_go_live(void);
/* The run is over: nothing is recorded any more. */
void record_end(void);
/* The same executor, with the recorder told of who moves. */
const struct executor *record_executor(const struct executor *executor);

/*
 * A site reports: %rdi and %rsi at its point, and the frame of the function that it is in: the frame
 * pointer that was saved there, and the return address behind it.
 */
void record_report(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame);
/* What becomes of the last write of the moving thread, before others move at this site: at a point, or because a turn ends. */
void record_settle(const struct site_record *site, bool is_point);
/* The moving thread goes on after others have moved, at no op that record_step() was told of. */
void record_resume(void);
/* As guarded_read_has_failed(), of the code that record_stubs.c makes. */
bool record_stub_has_failed(int signal, const siginfo_t *info, void *context);
/* Only where quick stubs look at it, so that turns end at the same reports with and without them. */
bool record_may_end_turn(const struct site_record *site);
/* Once in a while: the thread has reported for so long that others should move. */
bool record_turn_is_over(void);

/* For engine_host.observe and .performed. */
void record_step(const struct engine_thread *thread, const struct engine_op *op, uint64_t step);
void record_performed(const struct engine_performed *performed);

#endif
