/*
 * Shared declarations of the recorder. A recorded run stores the values that each thread reads and
 * that a walk of the thread's bitcode alone cannot predict (branches/record/record.h). Each thread
 * has a copy of the memory that it read and wrote. A read whose value equals the copy is
 * *predicted* and only counted; every other report makes an entry.
 *
 * A write is *pending* from its site until the thread's next report, or until other threads run.
 * The recorder then copies the written bytes into the copy (flush), or sets them to 0 if code
 * without bitcode may have written there since (drop). The walk does the same at the same reports.
 *
 * Quick stubs (record_stubs.c) and record_near.S access struct record_moving by absolute addresses
 * of 32 bits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "branches/record/op_stream.h"
#include "abi/instrument_abi.h"

/* State of the moving thread; private to the process. */
struct record_moving {
	int64_t left;	  /* predicted reports until the thread yields */
	uint64_t pending; /* address of the pending write; 0: none */
	uint32_t pending_bytes;
	/* 0: none; else argument sites follow an entry, one more than the number reported */
	uint32_t wants_arguments;
	uint8_t *memory;  /* memory that the thread read and wrote, by record_slot_of() */
	uint64_t *values; /* last values, by record_value_slot() */
	int64_t mark;	  /* `left` at the last entry */
	struct record_thread *thread;
	uint32_t index;
	uint32_t entered;     /* function entry whose arguments follow */
	uint64_t copied_from; /* source of a copy whose write is the next report */
};

struct record_parked {
	uint64_t pending;
	uint32_t pending_bytes, wants_arguments, entered;
	bool has_dropped; /* its pending write was dropped when it stopped at an op */
	uint64_t copied_from;
	uint8_t *memory; /* NULL if the thread has not run yet */
	uint64_t *values;
};

/* Private to the process, which makes one run. */
struct record_state {
	struct record_area *area; /* NULL if the run is not recorded */
	/* Return address of the last call from code without sites; 0: none */
	uintptr_t outside;
	struct record_moving *moving;
	struct record_moving without_stubs;
	uintptr_t code_start, code_end; /* the module that last called one of its own functions */
	bool has_chosen;		/* some sites are scheduling points */
	bool may_link;			/* function addresses may be those of PLT entries */
	struct executor executor;	/* wrapped to switch threads here */
	const struct executor *below;
	struct record_parked parked[THREAD_CAPACITY];
	struct op_stream ops;
};

extern struct record_state record_state;

/* A thread that makes this many reports without an op may be spinning, and yields. */
#define REPORTS_IN_A_TURN 200000

void record_have_emptied(void);
/* Gives the thread another chunk. Returns false if the record is full. */
bool record_more(struct record_thread *thread);
/* Ends the thread's record where the area is full. */
void record_close(struct record_thread *thread);

#define RECORD_ENTRY_MOST (OP_STREAM_MOST + RECORD_NUMBER_SLACK)

/* Makes room for one entry of any kind. Returns false if the record is full. */
static inline bool record_room(struct record_thread *thread)
{
	return __builtin_expect(thread->end - thread->at >= RECORD_ENTRY_MOST, 1) ||
	       record_more(thread);
}

static inline void record_number(struct record_thread *thread, uint64_t number)
{
	thread->at = record_number_put(thread->at, number);
}

/* Begins an entry; the caller appends its numbers. Returns false if the record is full. */
static inline bool record_entry(struct record_thread *thread, enum record_tag tag)
{
	struct record_moving *moving = record_state.moving;

	if (thread == moving->thread) {
		thread->predicted += (uint64_t)(moving->mark - moving->left);
		moving->mark = --moving->left;
	}
	if (!record_room(thread))
		return false;
	record_number(thread, thread->predicted << RECORD_TAG_BITS | tag);
	thread->predicted = 0;
	return true;
}

void record_park(struct record_moving *moving);
void record_resume_thread(uint32_t index);

/* Called when the moving thread stops at this op. Flushes its pending write if instrumented code
 * announced the op, else drops it: code without bitcode may have written there. */
void record_stand(const struct engine_op *op);

void record_flush(void);
/* Returns whether the address lies in code with sites. */
bool record_is_inside(uintptr_t code);
/* Returns whether the bytes that the site reads are written next, without a report of that
 * write. */
static inline bool record_pends(const struct site_record *site)
{
	return site->kind == SITE_LOAD && site_record_flags(site) & SITE_WRITTEN_BACK;
}

void record_read(uint64_t address, uint64_t bytes);
/* Records a read that the thread copies: the destination then holds the same values. */
void record_copied(uint64_t from, uint64_t to, uint64_t bytes);
/* Records a string up to its end, at least SITE_CONTENTS_LEAST bytes unless the page ends. */
void record_string(uint64_t address, uint64_t length);
void record_range(uint64_t address, uint64_t length);
/* Records an argument of the function that code without bitcode called last. */
void record_argument(uint64_t value);
/* Records a function entry, whose caller may be code without bitcode. */
void record_enter(uint32_t site, uintptr_t frame);
void record_drop_pending(void);
static inline void record_drop(void)
{
	if (record_state.moving->pending)
		record_drop_pending();
}

/* Handle the slow paths of quick stubs, for record_near.S. `known` describes the site: bytes of a
 * read, slot of a value, or site of a function entry. Return false if nothing is recorded, and the
 * stub must use the general path. */
bool record_missed_read(uint64_t address, uint64_t known);
bool record_missed_update(uint64_t address, uint64_t known);
bool record_missed_result(uint64_t value, uint64_t known);
bool record_missed_address(uint64_t value, uint64_t known);
bool record_missed_argument(uint64_t value, uint64_t known);
bool record_missed_enter(uint64_t nothing, uint64_t known, uintptr_t frame);
/* Records ranges and strings, as a copy or as data. */
bool record_missed_copied(uint64_t from, uint64_t known, uintptr_t frame, uint64_t length);
bool record_missed_copy(uint64_t to, uint64_t known, uintptr_t frame, uint64_t length);
bool record_missed_string(uint64_t address, uint64_t known, uintptr_t frame, uint64_t length);
bool record_missed_contents(uint64_t address, uint64_t known, uintptr_t frame, uint64_t length);
/* Records all other reports of ranges and strings. */
bool record_missed_range(
	uint64_t address, const struct site_record *site, uintptr_t frame, uint64_t length);

/* Returns whether raddle-cc has marked the function (instrument_abi.h). Any address is allowed. */
bool record_is_marked(uint64_t function);
/* Returns the called function at a site with SITE_CALLEE_NAMED; 0: none. */
uint64_t record_callee(const struct site_record *site);
/* Returns whether the called function is marked. The site after its call then reports nothing. */
bool record_is_recomputed(const struct site_record *site, uint64_t length);
/* Called before stubs are made. */
void record_look_at_linkage(void);

void record_near_read(void);
void record_near_update(void);
/* Called by a site's quick stub, which has already read the word. */
void record_near_read1(void);
void record_near_read2(void);
void record_near_read4(void);
void record_near_read8(void);
void record_near_update1(void);
void record_near_update2(void);
void record_near_update4(void);
void record_near_update8(void);
void record_near_result(void);
void record_near_address(void);
void record_near_argument(void);
void record_near_enter(void);
void record_near_copied(void);
void record_near_copy(void);
void record_near_string(void);
void record_near_contents(void);
void record_near_range(void);

/* Maps the state in the first 2 GiB. Returns NULL if that is impossible; the run then has no quick
 * stubs. */
struct record_moving *record_stubs_open(void);
/* Returns machine code that handles a predicted report, and jumps to the site's stub otherwise; or
 * NULL. */
const unsigned char *record_stub_of(
	const struct site_record *site, uint32_t index, uintptr_t code_start, uintptr_t code_end);
