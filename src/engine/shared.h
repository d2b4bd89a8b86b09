/*
 * Objects used by threads of several processes (PTHREAD_PROCESS_SHARED). The whole state lies in
 * the object, so processes with separate engines can use it together. Two rules make this safe.
 * Each read-modify-write lies between shared_enter() and shared_leave(). An op that was chosen
 * because the object was ready is announced again if another process acquired the object first. The
 * host periodically calls engine_changed_shared() (engine_host.wait_outside) to re-evaluate threads
 * that wait for other processes.
 *
 * A program started by execve() without the runtime uses libc's representation of the object, which
 * is not compatible.
 */
#ifndef RADDLE_ENGINE_SHARED_H
#define RADDLE_ENGINE_SHARED_H

#include <stdbool.h>
#include <stdint.h>

/* Critical section among processes; may be nested. No effect if is_shared is false. */
void shared_enter(bool is_shared);
void shared_leave(bool is_shared);
/* Sets the lock of shared_enter(), in memory that forked processes share. Call once, before the
 * first fork; NULL: no lock. */
void shared_set_lock(uint32_t *lock);
/* Id of this process, by which shared objects name their owner. */
int32_t shared_process(void);
/* Has the process ended? False if not known. */
bool shared_process_is_gone(int32_t process);

#endif
