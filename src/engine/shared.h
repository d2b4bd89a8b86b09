/*
 * Objects that threads of several processes use (PTHREAD_PROCESS_SHARED). Their state is all in the object, so
 * processes that each have an engine of their own can use them together, with two precautions: what is
 * read and changed at once lies between shared_enter() and shared_leave(), and an op that was chosen because the object
 * was ready is announced again where another process was faster. Who waits for another process is looked at
 * again by engine_changed_shared(), which the host calls now and then (engine_host.wait_outside).
 *
 * Programs that a process turns into by execve(), and that are not controlled, have libc's idea of the object.
 */
#ifndef RADDLE_ENGINE_SHARED_H
#define RADDLE_ENGINE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

/* No process is in there but this one; nests. Nothing where is_shared is false. */
void shared_enter(bool is_shared);
void shared_leave(bool is_shared);
/* The lock of these two, in memory that forked processes share. Once, before the first fork; NULL: there are none. */
void shared_set_lock(uint32_t *lock);
/* This process, as shared objects name their owner. */
int32_t shared_process(void);
/* Has it ended? False in doubt. */
bool shared_process_is_gone(int32_t process);

#endif
