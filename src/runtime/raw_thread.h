/*
 * Raw threads: made by a system call of the target's own (clone, clone3), past pthread_create. Where system calls are
 * trapped and threads are fibers they are threads like any other. Else they run beside those; the host is told.
 */
#ifndef RADDLE_RUNTIME_RAW_THREAD_H
#define RADDLE_RUNTIME_RAW_THREAD_H

#include <stdbool.h>
#include <ucontext.h>

struct engine_thread;

/*
 * A trapped clone or clone3 with CLONE_THREAD: makes a controlled thread that goes on where the kernel's would.
 * The thread's id, or a negative error.
 */
long raw_thread_create(long number, const long arguments[6], const greg_t *registers);
/* Is the call one that makes such a thread? */
bool raw_thread_is_wanted(long number, const long arguments[6]);
/* The body of a raw thread: never returns. false: `thread` is another one. */
bool raw_thread_run(struct engine_thread *thread);

/* Before main and before the first thread: are there threads already? Then no restart but exec will do. */
void raw_thread_check_start(void);
/* A run without trapped system calls ends: is there a thread that nobody controls? Told to the host. */
void raw_thread_check_end(void);
/* An interposed function is entered where raw threads may run: refuses them. */
void raw_thread_check_caller(void);
/* A raw thread would use what is scheduled: ends the process, where the command drives it. */
void raw_thread_refuse(void);

#endif
