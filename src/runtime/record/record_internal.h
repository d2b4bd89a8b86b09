/*
 * What the files of the recorder share: the state of the moving thread, which quick stubs (record_stubs.c)
 * read and write by absolute addresses of 32 bits.
 */
#ifndef RADDLE_RUNTIME_RECORD_RECORD_INTERNAL_H
#define RADDLE_RUNTIME_RECORD_RECORD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "branches/record/op_stream.h"
#include "abi/instrument_abi.h"

/* Written by the moving thread; private to the process. */
struct record_moving {
	int64_t left;	  /* predicted reports until the thread gives way */
	uint64_t pending; /* a write that was about to happen at the last report; 0: none */
	uint32_t pending_bytes;
	uint32_t
		wants_arguments; /* sites of arguments follow an entry: one more than how many have */
	uint8_t *memory;	 /* what the thread saw and wrote, by record_place_of() */
	uint64_t *values;	 /* by record_value_slot() */
	int64_t mark;		 /* `left` at the last entry */
	struct record_thread *thread;
	uint32_t index;
	uint32_t entered;     /* site of the entry whose arguments follow */
	uint64_t copied_from; /* of a copy whose write is reported next */
};

/* Of a thread, while others move. */
struct record_parked {
	uint64_t pending;
	uint32_t pending_bytes, wants_arguments, entered;
	bool has_dropped; /* at the op that it stands at, what it wrote last was not looked at */
	uint64_t copied_from;
	uint8_t *memory; /* NULL: it has not moved */
	uint64_t *values;
};

/* Private, and of one run: recorded runs have processes of their own. */
struct record_state {
	struct record_area *area; /* NULL: the run is not recorded */
	uintptr_t outside;	  /* code without sites that called a function last; 0: none */
	struct record_moving *moving;
	struct record_moving without_stubs;
	uintptr_t code_start, code_end; /* of the module that last called one of its functions */
	bool has_chosen;		/* some sites are points */
	bool may_link;		  /* addresses of functions may be of code that goes on to them */
	struct executor executor; /* the run's, told of here */
	const struct executor *below;
	struct record_parked parked[THREAD_CAPACITY];
	struct op_stream ops;
};

/* Written by the moving thread, in all files of the recorder. */
extern struct record_state record_state;

/* A thread that reports so often without an op may be waiting for another: it gives way. */
#define REPORTS_IN_A_TURN 200000

/* ---- record_entries.c ---- */

/* Waits while the host takes all chunks out of the area. */
void record_have_emptied(void);
/* Another chunk. False: the record is full. */
bool record_more(struct record_thread *thread);
/* What it has is all there will be, once the record is full. */
void record_close(struct record_thread *thread);

#define RECORD_ENTRY_MOST (OP_STREAM_MOST + RECORD_NUMBER_SLACK)

/* Room for an entry of any kind. False: the record is full. */
static inline bool record_room(struct record_thread *thread)
{
	return __builtin_expect(thread->end - thread->at >= RECORD_ENTRY_MOST, 1) ||
	       record_more(thread);
}

static inline void record_number(struct record_thread *thread, uint64_t number)
{
	thread->at = record_number_put(thread->at, number);
}

/* The beginning of an entry; its numbers follow. False: the record is full. */
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

/* The moving thread stands still, with all that it has counted. */
void record_park(struct record_moving *moving);
/* It moves from here on. */
void record_resume_thread(uint32_t index);

/* ---- record_ops.c ---- */

/*
 * The moving thread stands at this op, and others move: what it wrote last is looked at now, if the code that wrote it is
 * the one that asks for the op.
 */
void record_stand(const struct engine_op *op);

/* ---- record.c ---- */

/* What the moving thread was about to write is looked at. */
void record_flush(void);
/* Is this the address of code with sites? */
bool record_is_inside(uintptr_t code);
/* The bytes that are read here are written next, and no other site tells of that. */
static inline bool record_pends(const struct site_record *site)
{
	return site->kind == SITE_LOAD && site_record_info(site)->flags & SITE_WRITTEN_BACK;
}

/* Any number of bytes. */
void record_read(uint64_t address, uint64_t bytes);
/* The memory is copied next: what is read is what will be there. */
void record_copied(uint64_t from, uint64_t to, uint64_t bytes);
/* Whole words: of a string up to its end, and some behind it in the same page. */
void record_told_string(uint64_t address, uint64_t length);
void record_told_range(uint64_t address, uint64_t length, bool is_near);
/* Of the function that code without bitcode has called last. */
void record_argument(uint64_t value);
/* The function has been called, perhaps by code without bitcode. */
void record_enter(uint32_t site, uintptr_t frame);
/* Whatever was about to be written: who knows what has been written there since. */
void record_drop_pending(void);
static inline void record_drop(void)
{
	if (record_state.moving->pending)
		record_drop_pending();
}

/* ---- record_missed.c ---- */

/*
 * What a quick stub has found not to be predicted, from record_near.S. `known` is of the site: bytes of a read, the slot
 * of a value, the site of an entry. False: nothing has happened, and the general way has to be taken.
 */
bool record_missed_read(uint64_t address, uint64_t known);
bool record_missed_update(uint64_t address, uint64_t known);
bool record_missed_result(uint64_t value, uint64_t known);
bool record_missed_address(uint64_t value, uint64_t known);
bool record_missed_argument(uint64_t value, uint64_t known);
bool record_missed_enter(uint64_t nothing, uint64_t known, uintptr_t frame);
/* Ranges and strings: what is copied, or told; `known` is SITE_TOLD_NEAR, or nothing. */
bool record_missed_copied(uint64_t from, uint64_t known, uintptr_t frame, uint64_t length);
bool record_missed_copy(uint64_t to, uint64_t known, uintptr_t frame, uint64_t length);
bool record_missed_string(uint64_t address, uint64_t known, uintptr_t frame, uint64_t length);
bool record_missed_told(uint64_t address, uint64_t known, uintptr_t frame, uint64_t length);
/* All others that are about ranges and strings. */
bool record_missed_range(
	uint64_t address, const struct site_record *site, uintptr_t frame, uint64_t length);

/* ---- record_marks.c ---- */

/* Has raddle-cc marked the function at this address (instrument_abi.h)? It may be anything. */
bool record_is_marked(uint64_t function);
/* The function that is called where the site is SITE_CALLEE_NAMED; 0: none. */
uint64_t record_callee(const struct site_record *site);
/* Behind a call: is it one of a marked function? Then the site reports nothing. */
bool record_is_recomputed(const struct site_record *site, uint64_t length);
/* Before stubs are made. */
void record_look_at_linkage(void);

/* ---- record_near.S ---- */

void record_near_read(void); /* of any number of bytes */
void record_near_update(void);
/* Called by machine code of a site (quick stubs, record_stubs.c) that has read the word already. */
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
void record_near_told(void);
void record_near_range(void);

/* ---- record_stubs.c ---- */

/* Maps room for the state in the first 2 GiB; NULL: there is none, and there are no quick stubs. */
struct record_moving *record_stubs_open(void);
/*
 * Code for the point of a site that deals with its report where that is predicted, and goes on to the
 * site's own stub where not. NULL: there is none for it.
 */
const unsigned char *record_stub_of(
	const struct site_record *site, uint32_t index, uintptr_t code_start, uintptr_t code_end);

#endif
