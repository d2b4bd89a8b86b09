/*
 * The *walker* interprets the frames of one thread. It consumes the thread's record: at each site
 * it either uses the predicted value (`left` > 0) or decodes the next entry. Invariant: its
 * prediction state (memory, values, pending) equals the recorder's at the same point (record.h).
 */
#pragma once

#include "base/bitset.h"
#include <string.h>

#include "abi/instrument_abi.h"
#include "branches/values/compute.h"
#include "branches/interpret/walk.h"
#include "branches/interpret/walk_room.h"

/* Modes in which each access calls walk_note_access(). */
#define WALK_NOTING (WALK_SHARING | WALK_CHOOSING | WALK_PATHS)

struct frame {
	struct function *function;
	const struct code *at; /* the next code; while a callee's frame is above, the call */
	uint64_t registers;    /* index of its first register in walker.registers */
	uint64_t locals;       /* value of walker.local_bytes at its entry */
	/* If false, no register has a term, and the contents of `terms` are undefined */
	bool is_symbolic;
	/* Called by code without bitcode; the frame below then repeats or completes its code */
	bool is_from_outside;
	uint8_t addresses; /* number of SITE_ADDRESSes of parameters that were processed */
};

/* The term of a value in memory of one thread. */
struct shadow {
	uint64_t address; /* 0: free */
	uint32_t bytes;
	struct term *term; /* NULL if deleted */
	struct term *when; /* one-bit condition under which the term is valid; NULL means always */
};

struct walker {
	struct walk *walk;
	struct code_book *book;
	uint16_t thread;
	uint16_t segment; /* WALK_SHARING: the thread's current segment (segments.h) */
	unsigned mode;

	/* Position in the thread's record, and its end */
	const uint8_t *at, *end;
	uint64_t left;		/* predictable reports before the next entry */
	uint32_t tag;		/* tag of the next entry */
	struct walk_room *room; /* owner of the following arrays */
	uint8_t *memory;	/* predicted memory: record_slot_of() */
	uint8_t *touched;	/* walk_room.touched */
	uint64_t *values;
	uint64_t pending; /* address of the last write if no report has followed it; 0: none */
	uint32_t pending_bytes;
	bool is_checked;

	struct frame *frames;
	uint32_t frame_count;
	uint64_t *registers;
	struct term **terms;
	uint64_t register_count;
	uint8_t *locals;
	uint64_t local_bytes, local_most;

	bool is_live;
	bool is_before;	  /* the walk has not reached the part whose events are recorded */
	bool is_noting;	  /* accesses call walk_note_access() */
	bool is_watching; /* accesses may be events, involve terms, or be checked */
	bool is_over;
	uint64_t instructions;
	uint64_t steps;
	uint64_t op_step;   /* step in the run of the thread's last operation */
	uint32_t entered;   /* site of the last RECORD_ENTER */
	uint64_t op_number; /* index in the record's ops of the last operation that was found */
	uint64_t position;
	uint64_t object_count; /* number of objects that the thread allocated or freed */
	struct walk_summary *summary;
	struct walked_thread *out;
	struct term *where; /* term of the open address of the current access, else NULL */
	struct term *when;  /* condition of the current write (walk_event.access.when), else NULL */
	uint64_t *seen;	    /* cache of words already processed, SEEN_SLOTS entries */
	uint64_t *visits;   /* executions by branch number, with flag WALK_WATCHED */
	uint32_t visit_capacity;
	struct slots shadows;	/* struct shadow */
	uint64_t *shadow_lines; /* bit set, by the low bits of words, that may have a shadow */
};

/* Flag in `visits`: walk_perform() executes the branch, because of a watch, a path or a limit. */
#define WALK_WATCHED (UINT64_C(1) << 63)

/* Marks addresses of locals, which the walk stores itself. Program addresses lack this bit. */
#define WALK_LOCAL_KEY (UINT64_C(1) << 63)

/* Returns false if no byte of the range (at most 8) has a term. A result of true may be wrong. */
static inline bool walk_may_have_term(const struct walker *walker, uint64_t address, uint32_t bytes)
{
	const uint64_t first = address >> 3 & (WALK_LINES - 1);
	const uint64_t last = (address + bytes - 1) >> 3 & (WALK_LINES - 1);

	return walker->shadows.count && (walker->shadow_lines[first >> 6] >> (first & 63) & 1 ||
						walker->shadow_lines[last >> 6] >> (last & 63) & 1);
}

enum step {
	STEP_NEXT,
	STEP_ENTRY, /* result of walk_wait(): the record has an entry with the value */
	STEP_JUMP,  /* result of walk_wait(): the record has a RECORD_JUMP of the waiting site */
	STEP_MOVED, /* another frame is on top, or the frame continues at another code */
	STEP_OVER
};

void walk_next_entry(struct walker *walker);
/* Returns the operation that the thread performs before its next report; NULL if there is none. */
const struct record_op *walk_coming_op(const struct walker *walker);
/* Invalidates the prediction of the pending write, as code without bitcode has run. */
void walk_drop(struct walker *walker);
/* Compares a write that the walk has computed with the program's report of it in the record, and continues behind the
 * report. Programs report writes only in records made for tests of the walk. In other records the function does nothing. */
enum step walk_pass(struct walker *walker, uint32_t site, uint64_t address);
/* Processes entries until code without bitcode calls or returns. */
enum step walk_wait_outside(struct walker *walker);
enum step walk_end_at(struct walker *walker, enum walk_end end, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool walk_push(struct walker *walker, struct function *function, bool is_from_outside);
void walk_take_edge(struct walker *walker, const struct edge *edge);

enum step walk_value(struct walker *walker, uint32_t site, uint32_t part, uint64_t *value);
/* The slow path of walk_read(), for a value that is in the record. */
enum step walk_read_entry(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes, uint64_t *value);

static inline uint64_t *walk_registers(struct walker *walker)
{
	return walker->registers + walker->frames[walker->frame_count - 1].registers;
}

/* Clears the terms of the top frame and marks it as symbolic. */
void walk_make_symbolic(struct walker *walker);

static inline struct term *walk_operand_term(const struct walker *walker, int32_t operand)
{
	const struct frame *frame = &walker->frames[walker->frame_count - 1];
	struct term *term =
		frame->is_symbolic ? walker->terms[frame->registers + (uint64_t)operand] : NULL;

	return term && !term_is_fixed(term) ? term : NULL;
}

static inline void walk_set_term(struct walker *walker, int32_t to, struct term *term)
{
	const struct frame *frame = &walker->frames[walker->frame_count - 1];

	if (term && term_is_fixed(term))
		term = NULL;
	if (!frame->is_symbolic && !term)
		return;
	if (!frame->is_symbolic)
		walk_make_symbolic(walker);
	walker->terms[frame->registers + (uint64_t)to] = term;
}

/* Marks pages of `memory` as dirty, before a write. */
static inline void walk_touch(struct walker *walker, uint64_t address, uint64_t bytes)
{
	const uint64_t location = record_slot_of(address);

	for (uint64_t page = location >> ROOM_PAGE_BITS;
		bytes && page <= (location + bytes - 1) >> ROOM_PAGE_BITS; page++)
		walker->touched[page] = 1;
}

/* Accepts the pending write into the predicted memory, as the recorder does at this point. */
static inline void walk_settle(struct walker *walker)
{
	walker->pending = 0;
}

static inline uint64_t walk_known(const struct walker *walker, uint64_t address, uint32_t bytes)
{
	const uint8_t *location = walker->memory + record_slot_of(address);
	uint64_t value = 0;

	switch (bytes) {
	case 8:
		memcpy(&value, location, 8);
		return value;
	case 4:
		memcpy(&value, location, 4);
		return value;
	default:
		memcpy(&value, location, bytes);
		return value;
	}
}

/* Returns whether the site is a scheduling point, where the recorder settles the pending write
 * first: record_settle(). */
static inline bool walk_is_point(const struct walker *walker, uint32_t site)
{
	const uint64_t *points = walker->walk->record->points;

	return points && walker->is_live && site != SITE_NONE && bitset_has(points, site);
}

/* Reads up to eight bytes, as the site reported them. */
static inline enum step walk_read(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes, uint64_t *value)
{
	if (__builtin_expect(walker->left && !walker->is_checked, 1)) {
		walker->left--;
		walker->pending = 0;
		*value = walk_known(walker, address, bytes);
		return STEP_NEXT;
	}
	return walk_read_entry(walker, site, address, bytes, value);
}

static inline void walk_written(
	struct walker *walker, uint64_t address, uint32_t bytes, const uint64_t *parts)
{
	walk_touch(walker, address, bytes);
	memcpy(walker->memory + record_slot_of(address), parts, bytes);
	walker->pending = address;
	walker->pending_bytes = bytes;
}

void walk_frames(struct walker *walker);

/* Sets the term of a computed value in a symbolic frame. */
void walk_set_computed_term(struct walker *walker, const struct code *code, uint64_t value);
/* Performs codes that do more than compute. */
enum step walk_perform(struct walker *walker, const struct code *code, uint64_t *registers);

enum step walk_call(struct walker *walker, const struct code *code, uint64_t *registers);
/* Takes the values that the sites after the call report. */
enum step walk_report_results(struct walker *walker, const struct code *code, uint64_t *registers);
enum step walk_finish(struct walker *walker, const struct code *code, uint64_t *registers);
/* Reads the addresses of copied parameters, which sites report after the function's entry. */
enum step walk_report_addresses(struct walker *walker);

void walk_open_sharing(struct walk *walk);
void walk_note_sharing(struct walker *walker, uint64_t address, uint32_t bytes, bool is_write);
/* Notes in WALK_SHARING that a function received this address and may write unknown values
 * there. */
void walk_note_opaque(struct walker *walker, uint64_t address);
void walk_settle_sharing(struct walk *walk);
void walk_release_sharing(struct walk *walk);

#define SHARED_LINES (UINT64_C(1) << 18)

/* Builds the filter of walk_may_be_shared() and the set of shared words. */
void walk_build_shared_lines(struct walk *walk);

/* A fast filter before walk_is_shared(): a result of false is definite. For up to eight bytes. */
static inline bool walk_may_be_shared(const struct walk *walk, uint64_t address, uint32_t bytes)
{
	const uint64_t first = address >> 3 & (SHARED_LINES - 1);
	const uint64_t last = (address + bytes - 1) >> 3 & (SHARED_LINES - 1);

	return (walk->shared_lines[first >> 6] >> (first & 63) |
		       walk->shared_lines[last >> 6] >> (last & 63)) &
	       1;
}

/* Returns a word's entry; `word` is an address divided by eight. NULL if never accessed. */
struct shared_word *walk_shared_word(const struct walk *walk, uint64_t word);

/* Notes which thread has read or written the memory, to find the memory that threads share. Called while several threads
 * exist. */
void walk_note_access(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes, bool is_write);
/* Notes a write before the second thread exists. */
void walk_note_initial(struct walker *walker, uint64_t address, uint32_t bytes, uint64_t value);
/* Counts a step of the thread if the site is chosen. */
void walk_count_step(struct walker *walker, uint32_t site);

/* Returns a new variable for a read of shared memory, else the stored term or NULL. */
struct term *walk_read_term(struct walker *walker, const struct code *code, uint64_t address,
	uint32_t bytes, uint64_t value);
void walk_write_term(struct walker *walker, const struct code *code, uint64_t address,
	uint32_t bytes, uint64_t value, struct term *term);

/* Begins the events of the part: those so far precede it. */
void walk_begin_events(struct walked_thread *out);
void walk_grow_events(struct walker *walker);
/* Returns unused entries after the thread's last event to the event memory. */
void walk_trim_events(struct walk *walk, struct walked_thread *out);

/* Makes all accesses from event `first` on one atomic access. */
void walk_join_events(struct walker *walker, uint64_t first);
static inline struct walk_event *walk_add_event(struct walker *walker, enum event_kind kind)
{
	struct walked_thread *out = walker->out;
	struct walk_event *event;

	if (__builtin_expect(out->count == out->capacity, 0))
		walk_grow_events(walker);
	event = &out->events[out->count++];
	out->critical_count += kind <= EVENT_OP;
	out->branch_count += kind == EVENT_BRANCH || kind == EVENT_CHOICE;
	*event = (struct walk_event){.kind = (uint8_t)kind,
		.site = SITE_NONE,
		.step = (uint32_t)walker->steps,
		.position = (uint32_t)walker->position};
	return event;
}

/* Adds an event of the code with a term and its value. */
struct walk_event *walk_add_term_event(
	struct walker *walker, enum event_kind kind, struct term *term, const struct code *code);
/* Notes that the call read or wrote shared memory in an unknown manner. */
void walk_note_unknown(struct walker *walker, const struct code *call, bool is_read);
/* Restricts all later events to the term's value. Returns NULL if the term was determined
 * already. */
struct walk_event *walk_pin(
	struct walker *walker, enum event_kind kind, struct term *term, const struct code *code);

/* Counts, in WALK_CHOOSING, an access that WALK_EVENTS will record. */
void walk_weigh(struct walker *walker);
/* Called when the thread reaches a position of the run: enters or leaves the part. */
void walk_reach(struct walker *walker, uint64_t position);
/* Note a step, and a write, before the part. */
void walk_note_steps(struct walker *walker);
void walk_note_before(struct walker *walker, uint64_t address, uint32_t bytes, uint64_t value);
/* Overwrites the bytes of *value that were written before the part. Returns their number. */
uint32_t walk_before(const struct walk *walk, uint64_t address, uint32_t bytes, uint64_t *value);

/* Notes that an object of `bytes` bytes exists from now on; 0: it was freed. */
void walk_note_object(struct walker *walker, uint64_t address, uint64_t bytes);
/* Notes the effect of a completed call that allocates or frees memory. */
void walk_note_allocation(
	struct walker *walker, const struct code *call, const uint64_t *registers);
/*
 * Pins the symbolic address in `operand` unless the address of shared memory can stay open. Returns
 * the open address's term.
 */
struct term *walk_open_address(
	struct walker *walker, const struct code *code, int32_t operand, uint64_t address);

/* Returns a choice among a constant table's entries; NULL if the address is constant or must be
 * pinned. */
struct term *walk_table_term(struct walker *walker, const struct code *code);

/* Called before a call that may perform or skip an operation. */
void walk_note_entry(struct walker *walker, const struct code *call, const uint64_t *registers);
/* Returns the term of the result, which has a register, after the call; NULL if the result is constant. */
struct term *walk_outcome(
	struct walker *walker, const struct code *call, const uint64_t *registers);
/* Notes the comparison of a futex wait, which is part of the operation, as a read. */
void walk_note_comparison(struct walker *walker, const struct record_op *op);

/* Sets the terms of the result and the overflow flag, in a symbolic frame. */
void walk_set_overflow_terms(struct walker *walker, const struct code *code);
/* Returns the term of a funnel shift by a constant amount. */
struct term *walk_funnel_term(struct walker *walker, const struct code *code, struct term *a,
	struct term *b, uint64_t by);

enum step walk_load(struct walker *walker, const struct code *code, uint64_t *registers);
enum step walk_store(struct walker *walker, const struct code *code, uint64_t *registers);
enum step walk_local(struct walker *walker, const struct code *code, uint64_t *registers);
/* Performs an atomic update or a compare-exchange. */
enum step walk_update(struct walker *walker, const struct code *code, uint64_t *registers);
/* Returns the operand's term; a constant of `width` bits if it has none. */
struct term *walk_term_of(struct walker *walker, int32_t operand, uint32_t width);
/* Returns memory that the walk itself stores: locals and constants. NULL for other memory. */
uint8_t *walk_own_memory(struct walker *walker, const struct code *code, uint8_t location,
	uint64_t address, uint64_t bytes);
enum step walk_outside_of_own(struct walker *walker);

/* Returns the size of the smallest access to this word, or to a word that it is copied to or
 * from. */
uint32_t walk_piece(const struct walk *walk, uint64_t address);
/* Notes, in WALK_SHARING, a copy while several threads exist. */
void walk_note_copy(struct walk *walk, uint64_t from, uint64_t to, uint64_t bytes);
void walk_unite_pieces(struct walk *walk);

/* The bytes that an argument points to. */
struct library_bytes {
	uint64_t address;
	uint32_t count; /* number of known bytes */
	uint32_t extent;
	bool is_exact; /* other threads do not write there: the end of the string is fixed */
	uint8_t bytes[SITE_RANGE_MOST];
	struct term *terms[SITE_RANGE_MOST / 8 + 1]; /* term of each piece; NULL if constant */
};

struct library_walk {
	struct library_bytes arguments[2];
	uint64_t limit;			   /* maximum number of bytes that the function examines */
	struct term *limit_term;	   /* NULL if the limit is constant */
	uint32_t count;			   /* number of bytes modelled in each argument */
	uint32_t piece_count, piece_bytes; /* 1, or 8: words of memory */
};

/* Reads the bytes of the call from the record. */
enum step walk_library_read(struct walker *walker, const struct code *call,
	const uint64_t *registers, struct library_walk *out);
/* Called after the call has returned. */
void walk_library_result(struct walker *walker, const struct code *call, const uint64_t *registers,
	const struct library_walk *of);

enum step walk_copy(struct walker *walker, const struct code *code, uint64_t *registers);
enum step walk_fill(struct walker *walker, const struct code *code, uint64_t *registers);

/* Returns the term of a computed value, in a symbolic frame; NULL if the operands have no terms. */
struct term *walk_derive(struct walker *walker, const struct code *code, uint64_t value);
/* Grows `visits` to all branches known by now. */
void walk_open_visits(struct walker *walker);
/* Notes the outcome of a branch (the index of the edge), or of a select (0 or 1). */
void walk_note_branch(
	struct walker *walker, const struct code *code, uint64_t condition, uint32_t outcome);
