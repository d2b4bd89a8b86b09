/* Shared by the files that say why a run failed. */
#pragma once

#include "findings/describe/builder.h"

/* ---- barriers.c ---- */

/* Says why no further thread arrives at a barrier where one waits. Returns false if none waits. */
bool builder_barrier_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* Says which threads have not counted a latch down. Returns false if none waits for a latch. */
bool builder_latch_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- stalls.c ---- */

void builder_stalls_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- delayed_stores.c ---- */

/* Under a weak memory model, a thread may read an old value although another thread has already stored a new one. The
 * function adds a line to the explanation of the failure for each such store ("main.1 reads x = 0 at a.c:7, the old value"). */
void builder_delayed_stores_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- missing_order.c ---- */

/* Under a weak memory model, the access `observed` did not see the store `stored` of another thread, because their memory
 * orders are too weak. Both fields are indices in the list of events of the run. NO_EVENT stands for an event that was
 * not recorded. */
struct missing_order {
	uint64_t stored, observed;
	bool is_read; /* whether the access is a read; otherwise it is a store */
};
/* Adds the memory orders with which the access would have seen the store, as in ": make ...". */
void builder_missing_order(
	const struct builder *builder, const struct missing_order *missing, struct strbuf *out);

/* ---- cause.c, cause_locks.c, cause_accesses.c ---- */

/* Returns false if a frame is NULL or its line is not known. */
bool builder_is_same_line(const struct finding_frame *a, const struct finding_frame *b);

/* Cause and remedy of a cycle of waits, or of a lock that its holder never releases. */
void builder_deadlock_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);
/* Adds that nobody signals the condition variable on which a thread of a deadlock waits, if that is so. */
void builder_never_signalled_cause(const struct builder *builder, struct strbuf *cause);
/* Cause and remedy of two accesses without a happens-before order. */
void builder_accesses_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- cause_values.c ---- */

/* An atomic update is a write, but no read and no store. */
bool builder_is_read(const struct trace_event *event);
bool builder_is_store(const struct trace_event *event);
bool builder_is_write(const struct trace_event *event);
bool builder_is_access(const struct trace_event *event);
/* An update of a variable that a thread made from an old value: it had read the variable before another thread wrote it.
 * The fields are indices of events. */
struct lost_update {
	uint64_t read;	  /* the thread reads the variable */
	uint64_t foreign; /* the first write of another thread after that */
	uint64_t store;	  /* the thread writes the variable */
};
/* Finds the last lost update of the variable before the event `end`. Returns false if there is none. */
bool builder_find_lost_update(
	const struct builder *builder, uint64_t address, uint64_t end, struct lost_update *out);
/* The line of a failed assertion, or of a crash, has read a value. Adds the accesses that produced this value. Accesses
 * that one lock guards are added only if `is_guarded` is set. Returns whether the trace shows the accesses. */
bool builder_values_cause(const struct builder *builder, bool is_guarded, struct strbuf *cause);
/* Adds what the failing thread does: "main.0 crashes at x.c:31". */
void builder_add_end(const struct builder *builder, struct strbuf *cause);
/* As builder_values_cause(), but only if the other thread's write lies between two accesses of one thread. */
bool builder_values_between_cause(const struct builder *builder, struct strbuf *cause);
/* Adds that the failing line, or its function if it used a null pointer, reads what no thread has
 * written. Returns false if it does not. */
bool builder_unwritten_cause(const struct builder *builder, struct strbuf *cause);

/* ---- cause_overwritten.c ---- */

/* The thread of a livelock reads a variable in its loop. Adds a write to that variable whose value another thread
 * overwrote before any thread had read it. Returns false if there is no such write. */
bool builder_overwritten_cause(const struct builder *builder, struct strbuf *cause);

/* ---- cause_preemption.c ---- */

/* Adds what another thread changed while a thread was preempted, if the trace shows it. */
void builder_preemption_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);
/* Looks for a thread that was preempted and did not run again before the failure. Returns the index of its last event, or
 * NO_EVENT if there is no such thread. */
uint64_t builder_find_stopped(const struct builder *builder);
/* Adds a sentence about the event that builder_find_stopped() returns, and returns the name of its thread. Returns NULL,
 * and adds nothing, if there is no such event. */
const char *builder_stopped_cause(const struct builder *builder, struct strbuf *cause);

/* ---- cause_descriptor.c ---- */

/* Returns whether the thread was created before the event. */
bool builder_thread_exists(const struct finding_source *source, uint64_t event, uint16_t thread);
/* Adds that a thread uses a descriptor that another one has closed. Returns false if none does. */
bool builder_descriptor_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- cause_futex.c ---- */

/* Adds why a thread still waits for an atomic variable. Returns false if the trace does not show it. */
bool builder_futex_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- cause_drained.c ---- */

/* Adds that a thread reads the wake-up of another one from an event descriptor, and waits again. Returns
 * false if none does. */
bool builder_drained_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- unwoken.c ---- */

/* Adds why nothing ends a thread's wait for a descriptor, if no thread waits for anything else. Returns false if the trace
 * does not show it. */
bool builder_unwoken_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- early_handler.c ---- */

/* Adds that a thread ran a signal handler just before the call in which it waits. Returns false if none did. */
bool builder_early_handler_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- broken_promise.c ---- */

/* Adds which promise was destroyed without a value before the failing thread read its future. Returns false if none
 * was. */
bool builder_broken_promise_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- untested_wait.c ---- */

/* Adds that the failing thread used a variable after a condition wait without testing it again. Returns false if it
 * did not. */
bool builder_untested_wait_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- cause_exit.c ---- */

/* Looks for a call of exit(), or a return from main, in another thread before the last event of the failing thread.
 * Returns the index of this event, or NO_EVENT if there is none. */
uint64_t builder_find_exit(const struct builder *builder);
/* Adds that the failing thread still ran when another one ended the process. Returns false if it did not. */
bool builder_exit_cause(const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- weak.c ---- */

/* Adds cause and remedy of a finding of kind "weak"; see builder_weak_title(). */
void builder_weak_cause(const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- left_frame.c ---- */

/* Adds cause and remedy of a finding of kind "use-after-return"; see builder_left_frame_title(). */
void builder_left_frame_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);

/* ---- lost_count.c ---- */

/* Adds that an update of a reference count was lost before the memory was freed. Returns false if none was. */
bool builder_lost_count_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy);
