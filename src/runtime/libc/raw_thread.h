/* Raw threads: created by the target with clone or clone3 instead of pthread_create. With trapped
 * system calls and fibers the engine schedules them like all others. All other raw threads run
 * uncontrolled, and the command receives a report. */
#pragma once

#include <stdbool.h>
#include <ucontext.h>

struct engine_thread;

/* Handles a trapped call with CLONE_THREAD: the new controlled thread starts where the kernel's
 * would. Returns its id or a negative error. */
long raw_thread_create(long number, const long arguments[6], const greg_t *registers);
bool raw_thread_is_wanted(long number, const long arguments[6]);
/* Runs the body of a raw thread and does not return. Returns false if `thread` is no raw thread. */
bool raw_thread_run(struct engine_thread *thread);

/* Called before main and before the first thread creation. In a process with other threads, only
 * the exec restart works. */
void raw_thread_check_start(void);
/* Called at the end of a run without trapped system calls: reports uncontrolled threads. */
void raw_thread_check_end(void);
/* Refuses a raw thread in an interposed function: the engine does not schedule it. */
void raw_thread_check_caller(void);
/* Called when a raw thread is about to use scheduled objects: ends the process if the command
 * drives it. */
void raw_thread_refuse(void);
