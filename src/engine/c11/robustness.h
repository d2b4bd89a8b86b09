/*
 * Robustness: where could a weak execution depart from a sequentially consistent run? A run that is
 * judged follows the views of c11, but no load reads an old store (engine_may_choose_weakly()). A
 * point is reported where the memory model permits an access that no sequentially consistent
 * execution has: the access comes before a store that is in its past.
 *
 * The *past* of an event under a model is the set of events that the model orders before it. A past
 * is a view: for each location the newest store in it. Under sequential consistency program order,
 * reads-from, modification order and from-reads order events. Under TSO the same relations do, but
 * for a write and a later read of its thread, and for a read of the thread's own store. Views of c11
 * (c11_thread.now) are the past under happens-before and coherence.
 *
 * An execution that is not sequentially consistent has a first access that makes it so. The
 * accesses before it are a sequentially consistent run, so an exhaustive search reports this access.
 * Margalit et al., "RSan", PLDI 2025; Lahav, Margalit, "Robustness against Release/Acquire
 * Semantics", PLDI 2019; TSO: Bouajjani, Derevenetc, Meyer, "Checking and Enforcing Robustness
 * against TSO", ESOP 2013.
 */
#pragma once

#include "engine/c11/c11_internal.h"

/* Called before each run. `judged`: the weakest model whose executions matter; MEMORY_MODEL_SC: the
 * run is not judged. */
void robustness_begin_run(enum memory_model judged);
bool robustness_is_on(void);
void robustness_begin_thread(struct thread_id created);
/* Called when the c11 model begins to keep the history of a location: it has no accesses yet. */
void robustness_begin_location(const struct c11_location *location);
void robustness_drop_location(const struct c11_location *location);

/* Called before the access changes history or views: returns the store before which the access may
 * come. Its site is 0 if there is none. */
struct missed_store robustness_judge(
	const struct engine_op *op, const struct c11_location *location);
/* Called after the moving thread has accessed the location. */
void robustness_note_access(
	const struct engine_op *op, const struct c11_location *location, bool has_written);
/* Called after the moving thread has accessed memory for which the c11 model keeps no stores: the
 * accesses to all locations that the model has dropped then count as made before. */
void robustness_note_unknown(void);
/* Notes that all stores of the view happen before what the moving thread does next. */
void robustness_receive(const struct c11_view *view);

/* The store buffer of the moving thread, or of all threads, is empty, because of a fence or a system
 * call. */
void robustness_fence(void);
void robustness_fence_all(void);
/* The moving thread uses the object with this number; see views_view_join_object(). */
void robustness_join_object(uint32_t number, bool is_used, bool acquires, bool releases);
/* Adds the past of the thread `from` to that of `to`, as a join or a creation does. */
void robustness_join_thread(uint16_t to, uint16_t from);
