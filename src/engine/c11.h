/*
 * The views of --memory-model c11. Each memory location that threads store to has a history of
 * stores. Each thread has a *view*: for each location the oldest store that the thread may still
 * read. A load may read that store or any newer one, as the strategy chooses (engine_choose_value()).
 *
 * The threads' code stays as it is. Memory holds the newest store of each location. Before a load
 * that is to read an older store, its value is put into memory, and the newest one is put back at
 * the thread's next operation: only one thread moves at a time. A store's value is read from
 * memory at the next operation, too. Nothing is emulated.
 *
 *   c11/accesses.c   loads, stores, updates and fences
 *   c11/locations.c  histories
 *   c11/views.c      views, and what synchronisation does with them
 *   c11/paths.c      whether the run leaves out an execution of RC11
 *   c11/robustness.c where a weak execution could depart from a sequentially consistent run
 *
 * Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing Sequential Consistency in C/C++11", PLDI 2017
 * (RC11); views as in Kang et al., "A Promising Semantics", POPL 2017, without promises; choice of
 * the store as in Luo, Demsky, "C11Tester", ASPLOS 2021. Deviations: docs/memory-model.md.
 *
 * Thread context: the target's moving thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* Name of the object of sequentially consistent fences, which depend on each other. */
#define C11_FENCES ((object_name)0xfe9ce)

/*
 * Prepares the c11 model for a run. During the run, run->delayed (which may be NULL) receives a record
 * of each load that reads an older store.
 */
void c11_begin_run(const struct engine_run *run);
/* Memory holds the newest stores from now on, and every load reads them. */
void c11_end(void);
bool c11_is_on(void);
/* Called after a thread is created: its view is the moving thread's. */
void c11_begin_thread(struct thread_id created);
/* Called before each operation: ends the effect of the last access on memory. */
void c11_settle(void);
/* Called after the moving thread has performed the operation, and before its effect. */
void c11_synchronise(const struct engine_op *op);
/* Makes a sequentially consistent fence in all threads. */
void c11_fence_all(void);
/*
 * Called directly before the moving thread accesses memory, or at a fence, after the scheduling
 * point. `is_point`: the load may read an old store. Another access reads the newest one.
 */
void c11_access(const struct engine_op *op, bool is_point);
/* Returns the store messages that the access of the last c11_access() read or wrote. A second call returns
 * none. */
struct store_messages c11_take_messages(void);
/* Returns whether the memory has a history. */
bool c11_knows(const void *start, size_t bytes);
/* Drops the histories of this memory: it is freed, or its store has no history. */
void c11_forget(const void *start, size_t bytes);
