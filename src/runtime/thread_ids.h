/*
 * Kernel ids of the target's threads. Under the fiber executor one kernel thread carries all of them, and the
 * ids that gettid() answers belong to kernel threads that have left: the kernel must not see these ids.
 * Runs in the target's moving thread.
 */
#ifndef RADDLE_RUNTIME_THREAD_IDS_H
#define RADDLE_RUNTIME_THREAD_IDS_H

#include <sys/types.h>

#include "engine/engine.h"

/* The living thread with this id; the caller also by the id of the kernel thread that carries it. NULL: none. */
struct engine_thread *thread_of_id(pid_t id);
/* Likewise, where 0 stands for the caller. */
struct engine_thread *thread_of_id_or_self(pid_t id);
/* The id to give to the kernel in its place: that of the kernel thread which carries the thread, or `id`. */
pid_t thread_id_for_kernel(pid_t id);
/* open() or openat() of a path that names such an id, below /proc; else CALL_OF_KERNEL. interpose_thread_ids.c. */
long thread_ids_open(long number, const long arguments[6]);

#endif
