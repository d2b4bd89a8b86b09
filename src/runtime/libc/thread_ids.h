/* Kernel ids of the target's threads. Under the fiber executor one kernel thread carries all
 * threads. The ids that gettid() returns belong to kernel threads that have ended, so the kernel
 * must not get them. Runs in the moving thread. */
#pragma once

#include <sys/types.h>

#include "engine/engine.h"

/* Returns NULL if no living thread has the id. The id of the kernel thread that carries the threads
 * means the caller. */
struct engine_thread *thread_of_id(pid_t id);
/* Same as thread_of_id(), but 0 means the caller. */
struct engine_thread *thread_of_id_or_self(pid_t id);
/* Returns the id of the kernel thread that carries the thread, or `id` itself. */
pid_t thread_id_for_kernel(pid_t id);
/* Answers open() or openat() of a path below /proc that names such an id; else CALL_OF_KERNEL. */
long thread_ids_open(long number, const long arguments[6]);
