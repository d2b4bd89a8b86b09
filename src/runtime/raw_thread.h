/* Raw threads: threads that the target creates by a system call (clone, clone3) instead of
 * pthread_create. With trapped system calls and fibers the engine schedules raw threads like all
 * others. Otherwise raw threads run uncontrolled, and the command is informed. */
#ifndef RADDLE_RUNTIME_RAW_THREAD_H
#define RADDLE_RUNTIME_RAW_THREAD_H

#include <stdbool.h>
#include <ucontext.h>

struct engine_thread;

/* Handles a trapped clone or clone3 with CLONE_THREAD: the new controlled thread starts where
 * the kernel's thread would. Returns the thread's id or a negative error. */
long raw_thread_create(long number, const long arguments[6], const greg_t *registers);
/* True when the call creates a raw thread. */
bool raw_thread_is_wanted(long number, const long arguments[6]);
/* The body of a raw thread; does not return. False: `thread` is no raw thread. */
bool raw_thread_run(struct engine_thread *thread);

/* Called before main and before the first thread creation. If the process already has other
 * threads, only the exec restart works. */
void raw_thread_check_start(void);
/* Called at the end of a run without trapped system calls. Informs the command if an uncontrolled thread exists. */
void raw_thread_check_end(void);
/* Refuses a raw thread that enters an interposed function, because the engine does not schedule this thread. */
void raw_thread_check_caller(void);
/* Called when a raw thread is about to use scheduled objects: ends the process if the command drives it. */
void raw_thread_refuse(void);

#endif
