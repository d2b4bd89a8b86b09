/* What the files of the walk share: the state of one thread's walk. */
#ifndef RADDLE_BRANCHES_INTERPRET_WALK_INTERNAL_H
#define RADDLE_BRANCHES_INTERPRET_WALK_INTERNAL_H

#include "base/bitset.h"
#include <string.h>

#include "branches/interpret/compute.h"
#include "branches/interpret/walk.h"
#include "branches/interpret/walk_room.h"

/* Modes in which accesses are told to walk_note_access(). */
#define WALK_NOTING (WALK_SHARING | WALK_CHOOSING | WALK_PATHS)

struct frame {
	struct function *function;
	const struct code *at; /* what comes next here; the call, while its callee is above */
	uint64_t registers;    /* where they begin */
	uint64_t locals;       /* used when it began */
	bool is_symbolic; /* its values may have terms; else there are none, whatever stands there */
	bool is_from_outside; /* called back: then `at` of the frame below is done (again) */
	uint8_t addresses;    /* SITE_ADDRESSes of parameters that have been told */
};

/* What a value in memory that the thread has for itself was computed from. */
struct shadow {
	uint64_t address; /* 0: free */
	uint32_t bytes;
	struct term *term; /* NULL: nothing any more */
	struct term *when; /* of one bit: else nobody knows what stands there; NULL: it does */
};

struct walker {
	struct walk *walk;
	struct code_book *book;
	uint16_t thread;
	uint16_t segment; /* WALK_SHARING: of the thread (segments.h) */
	unsigned mode;

	/* the record */
	const uint8_t *at, *end;
	struct walk_supply *supply; /* whence more comes; NULL: this is all */
	uint64_t left;		    /* predicted reports before the entry */
	uint32_t tag;		    /* of the entry */
	struct walk_room *room;	    /* that what follows is in */
	uint8_t *memory;	    /* as the recorder's: record_place_of(), record_value_slot() */
	uint8_t *touched;	    /* walk_room.touched */
	uint64_t *values;
	uint64_t pending; /* the last write, while no report came after it; 0: none */
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
	bool is_before;	  /* the part whose events are wanted comes later */
	bool is_noting;	  /* accesses are told to walk_note_access() */
	bool is_watching; /* accesses may be events, or of terms, or checked */
	bool is_quick;	  /* those that are events are nothing else: see walk_quick.h */
	bool is_over;
	bool has_passed; /* it is over because the part is */
	uint64_t instructions;
	uint64_t steps;
	uint64_t op_step;   /* in the run, of the last op */
	uint32_t entered;   /* site of the last RECORD_ENTER */
	uint64_t op_number; /* of the last op that was found: among the record's */
	uint64_t position;
	uint64_t object_count; /* that the thread has made or given back */
	struct walk_summary *summary;
	struct walked_thread *out;
	struct term *where; /* of the access that is looked at: its address, where that is open */
	struct term **
		left_open; /* whither the condition goes on which what is read is known; NULL: it is pinned */
	struct term *when; /* of the write that is looked at: see walk_event; else NULL */
	uint64_t *seen;	   /* words of memory that were looked at, by SEEN_SLOTS */
	uint64_t *visits;  /* by branch; WALK_WATCHED */
	uint32_t visit_capacity;
	struct shadow *shadows;
	uint64_t shadow_count, shadow_capacity;
	uint64_t
		*shadow_lines; /* bit set: words of memory, by their last bits, that may have one */
};

/* Of a branch that a watch is set on. */
#define WALK_WATCHED (UINT64_C(1) << 63)

/* Locals are where the walk keeps them; no address of the program is that high. */
#define WALK_LOCAL_KEY (UINT64_C(1) << 63)

/* False: no byte of these was computed of what others write. Up to 8 bytes. */
static inline bool walk_may_have_term(const struct walker *walker, uint64_t address, uint32_t bytes)
{
	const uint64_t first = address >> 3 & (WALK_LINES - 1);
	const uint64_t last = (address + bytes - 1) >> 3 & (WALK_LINES - 1);

	return walker->shadow_count && (walker->shadow_lines[first >> 6] >> (first & 63) & 1 ||
					       walker->shadow_lines[last >> 6] >> (last & 63) & 1);
}

enum step {
	STEP_NEXT,
	STEP_ENTRY, /* of walk_wait(): the value is in the record */
	STEP_JUMP,  /* of walk_wait(): a RECORD_JUMP of the site that waits */
	STEP_MOVED, /* another frame is on top, or the same one elsewhere */
	STEP_OVER
};

/* ---- walk.c ---- */

void walk_open_walker(struct walker *walker, struct walk *walk, uint16_t thread, unsigned mode);
void walk_close_walker(struct walker *walker);
/* From the beginning to the end. */
void walk_through(struct walker *walker);

/* ---- walk_again.c ---- */

/* Walks every thread of a run whose record comes from a source. */
void walk_run_again(struct walk *walk, unsigned mode);
/* All entries that there were are used up. False: it is the end. */
bool walk_more(struct walker *walker);

/* ---- walk_stream.c ---- */

void walk_next_entry(struct walker *walker);
uint64_t walk_number(struct walker *walker);
/* Until a report can be taken: STEP_NEXT (it was predicted), STEP_ENTRY or STEP_JUMP; or not here. */
enum step walk_wait(struct walker *walker, uint32_t site, uint64_t address);
/* The op that the thread performs before its next report; NULL: none. */
const struct record_op *walk_coming_op(const struct walker *walker);
/* Code without bitcode has run: the last write has not been looked at. */
void walk_drop(struct walker *walker);
/* Checked records: the report of a site that tells nothing. */
enum step walk_pass(struct walker *walker, uint32_t site, uint64_t address);
/* The thread makes no report here: only something from outside can go on. */
enum step walk_wait_outside(struct walker *walker);
enum step walk_end_at(struct walker *walker, enum walk_end end, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool walk_push(struct walker *walker, struct function *function, bool is_from_outside);
void walk_take_edge(struct walker *walker, const struct edge *edge);

/* A value that is told by a site. */
enum step walk_value(struct walker *walker, uint32_t site, uint32_t part, uint64_t *value);
/* The slow part of a read: the record tells. */
enum step walk_read_entry(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes, uint64_t *value);

static inline uint64_t *walk_registers(struct walker *walker)
{
	return walker->registers + walker->frames[walker->frame_count - 1].registers;
}

/* The top frame's values have no terms so far: from here on they may. */
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

/* Bytes of `memory` that are about to be written. */
static inline void walk_touch(struct walker *walker, uint64_t address, uint64_t bytes)
{
	const uint64_t place = record_place_of(address);

	for (uint64_t page = place >> ROOM_PAGE_BITS;
		bytes && page <= (place + bytes - 1) >> ROOM_PAGE_BITS; page++)
		walker->touched[page] = 1;
}

/* The record's end of a write, and of whatever else clears the way for the next one. */
static inline void walk_settle(struct walker *walker)
{
	walker->pending = 0;
}

static inline uint64_t walk_known(const struct walker *walker, uint64_t address, uint32_t bytes)
{
	const uint8_t *place = walker->memory + record_place_of(address);
	uint64_t value = 0;

	switch (bytes) {
	case 8:
		memcpy(&value, place, 8);
		return value;
	case 4:
		memcpy(&value, place, 4);
		return value;
	default:
		memcpy(&value, place, bytes);
		return value;
	}
}

/* Was an access there a scheduling point of the run? Before one the last write is looked at: record_settle(). */
static inline bool walk_is_point(const struct walker *walker, uint32_t site)
{
	const uint64_t *points = walker->walk->record->points;

	return points && walker->is_live && site != SITE_NONE && bitset_has(points, site);
}

/* Up to eight bytes at an address, as a site tells them. */
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
	memcpy(walker->memory + record_place_of(address), parts, bytes);
	walker->pending = address;
	walker->pending_bytes = bytes;
}

/* ---- walk_loop.c ---- */

/* Until the thread's walk is over, or no frame is left. */
void walk_frames(struct walker *walker);

/* ---- walk_perform.c ---- */

/* Of the codes that only compute: the value; a second one goes into its register. */
uint64_t walk_compute(const struct code *code, uint64_t *registers);
/* In a frame that is symbolic: `terms` are its registers'. */
void walk_set_computed_term(
	struct walker *walker, const struct code *code, struct term **terms, uint64_t value);
/* Everything but what only computes. */
enum step walk_perform(struct walker *walker, const struct code *code, uint64_t *registers);

/* ---- walk_call.c ---- */

enum step walk_call(struct walker *walker, const struct code *code, uint64_t *registers);
/* What the sites behind the call, or the value, tell. */
enum step walk_tell_results(struct walker *walker, const struct code *code, uint64_t *registers);
enum step walk_finish(struct walker *walker, const struct code *code, uint64_t *registers);
/* Where parameters that were copied are, told behind the function's entry. */
enum step walk_tell_addresses(struct walker *walker);

/* ---- walk_sharing.c ---- */

/* WALK_SHARING begins. */
void walk_open_sharing(struct walk *walk);
/* Up to any number of bytes. */
void walk_note_sharing(struct walker *walker, uint64_t address, uint32_t bytes, bool is_write);
/* WALK_SHARING: a function was given the address, and may write there; nobody knows what. */
void walk_note_opaque(struct walker *walker, uint64_t address);
/* What is shared is known from here on. */
void walk_settle_sharing(struct walk *walk);
void walk_release_sharing(struct walk *walk);

#define SHARED_LINES (UINT64_C(1) << 18)

/* Of walk.shared, when it is complete: see walk_may_be_shared(). */
void walk_build_shared_lines(struct walk *walk);

/* False: walk_is_shared() is, too. Quicker, as it looks at little memory. Up to eight bytes. */
static inline bool walk_may_be_shared(const struct walk *walk, uint64_t address, uint32_t bytes)
{
	const uint64_t first = address >> 3 & (SHARED_LINES - 1);
	const uint64_t last = (address + bytes - 1) >> 3 & (SHARED_LINES - 1);

	return (walk->shared_lines[first >> 6] >> (first & 63) |
		       walk->shared_lines[last >> 6] >> (last & 63)) &
	       1;
}

/* By address divided by eight. NULL: nobody accessed it. */
struct shared_word *walk_shared_word(const struct walk *walk, uint64_t word);

/* ---- walk_memory.c ---- */

/* An access of a live run: who shares, which site is chosen. */
void walk_note_access(
	struct walker *walker, uint32_t site, uint64_t address, uint32_t bytes, bool is_write);
/* A write before there were other threads. */
void walk_note_initial(struct walker *walker, uint64_t address, uint32_t bytes, uint64_t value);
/* The read or write is a step of the thread, where its site is chosen. */
void walk_count_step(struct walker *walker, uint32_t site);

/* The term of what is read: a new variable, or what is known of the thread's own memory; NULL. */
struct term *walk_read_term(struct walker *walker, const struct code *code, uint64_t address,
	uint32_t bytes, uint64_t value);
void walk_write_term(struct walker *walker, const struct code *code, uint64_t address,
	uint32_t bytes, uint64_t value, struct term *term);

/* ---- walk_event.c ---- */

/* What is wanted is what comes from here on. */
void walk_begin_events(struct walked_thread *out);
/* Room for more. */
void walk_grow_events(struct walker *walker);
/* There will be no more: the next thread's begin behind them. */
void walk_trim_events(struct walk *walk, struct walked_thread *out);

/* All accesses from this event of the thread on are part of one: they happen together. */
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

/* The call wrote memory that others access, and nobody knows what; or read it. */
void walk_note_unknown(struct walker *walker, const struct code *call, bool is_read);
/* What follows is only known for this value. NULL: that is known already. */
struct walk_event *walk_pin(
	struct walker *walker, enum event_kind kind, struct term *term, const struct code *code);

/* ---- walk_parts.c ---- */

/* WALK_CHOOSING: an access that will be an event. */
void walk_weigh(struct walker *walker);
/* The thread is at this position of the run. */
void walk_reach(struct walker *walker, uint64_t position);
/* Before the part: a step was made; a write. */
void walk_note_steps(struct walker *walker);
void walk_note_before(struct walker *walker, uint64_t address, uint32_t bytes, uint64_t value);
/* Puts what was written before the part into the value. How many of its bytes. */
uint32_t walk_before(const struct walk *walk, uint64_t address, uint32_t bytes, uint64_t *value);

/* ---- walk_object.c ---- */

/* From here on so many bytes are there; 0: none. */
void walk_note_object(struct walker *walker, uint64_t address, uint64_t bytes);
/* The call has given or taken memory. */
void walk_note_allocation(
	struct walker *walker, const struct code *call, const uint64_t *registers);
/* Memory at an operand is accessed: where its address is a term what follows is only known for this one. */
void walk_pin_address(struct walker *walker, const struct code *code, int32_t operand);
/* The same; but of shared memory, if it may be, without pinning: then the term of the address. */
struct term *walk_open_address(
	struct walker *walker, const struct code *code, int32_t operand, uint64_t address);

/* ---- walk_table.c ---- */

/* What a load of a constant table finds there, whatever the index; NULL: the index is the same, or to be pinned. */
struct term *walk_table_term(struct walker *walker, const struct code *code);

/* ---- walk_outcome.c ---- */

/* The call is made, or its function has been for a while. */
void walk_note_entry(struct walker *walker, const struct code *call, const uint64_t *registers);
/* The call has returned. The term of its result; NULL: that is the same in every run, or not known to be otherwise. */
struct term *walk_outcome(
	struct walker *walker, const struct code *call, const uint64_t *registers);
/* The op was made: where it has looked at a futex, that is a read with it. */
void walk_note_comparison(struct walker *walker, const struct record_op *op);

/* ---- walk_intrinsic.c ---- */

/* Of two terms of one width, with its value; a constant, if both are. */
struct term *walk_binary_term(
	struct term_arena *arena, LLVMOpcode opcode, struct term *a, struct term *b);
bool walk_tells_overflow(const struct code *code);
/* Of one that does, in a frame that is symbolic: of its value, and of whether it is too great. */
void walk_set_overflow_terms(struct walker *walker, const struct code *code, struct term **terms);
/* Of two words that are shifted together by what is the same in every run. */
struct term *walk_funnel_term(struct walker *walker, const struct code *code, struct term *a,
	struct term *b, uint64_t by);

/* ---- walk_access.c ---- */

enum step walk_load(struct walker *walker, const struct code *code, uint64_t *registers);
/* A report that tells nothing. */
enum step walk_pass_site(struct walker *walker, uint32_t site, uint64_t address);
enum step walk_store(struct walker *walker, const struct code *code, uint64_t *registers);
enum step walk_local(struct walker *walker, const struct code *code, uint64_t *registers);
enum step walk_update(struct walker *walker, const struct code *code, uint64_t *registers);
/* The term of an operand: a constant of so many bits where it has none of its own. */
struct term *walk_term_of(struct walker *walker, int32_t operand, uint32_t width);
enum step walk_exchange(struct walker *walker, const struct code *code, uint64_t *registers);
/* Bytes that are not told by the record; NULL: they are not where they should be. */
uint8_t *walk_own_memory(struct walker *walker, const struct code *code, uint8_t place,
	uint64_t address, uint64_t bytes);
enum step walk_outside_of_own(struct walker *walker);

/* ---- walk_pieces.c ---- */

/* The fewest bytes that an access to this word had, one of 1, 2, 4, 8; or to one that is copied there or from there. */
uint32_t walk_piece(const struct walk *walk, uint64_t address);
/* WALK_SHARING: of a live run. */
void walk_note_copy(struct walk *walk, uint64_t from, uint64_t to, uint64_t bytes);
void walk_unite_pieces(struct walk *walk);

/* ---- walk_length.c ---- */

/*
 * Does the length of a copy or fill depend on shared memory? Then, from here on, it may be less than it is, not more
 * (false: it is pinned), and terms say whether the byte at a place is written, and whether all are (NULL: there are none).
 */
bool walk_has_length(const struct walker *walker, const struct code *code);
bool walk_open_length(struct walker *walker, const struct code *code);
struct term *walk_is_within(struct walker *walker, const struct code *code, uint64_t place);
struct term *walk_is_whole(struct walker *walker, const struct code *code);
/* Is the size from one up to what it is? */
struct term *walk_is_no_more(struct walker *walker, struct term *size);
/* The byte of a term. */
struct term *walk_byte_of(struct walker *walker, struct term *word, uint32_t number);

/* ---- walk_range.c ---- */

enum step walk_copy(struct walker *walker, const struct code *code, uint64_t *registers);
enum step walk_fill(struct walker *walker, const struct code *code, uint64_t *registers);

/* ---- walk_terms.c ---- */

/* The term of a code that computes, of a frame with these terms; NULL where no operand has one. */
struct term *walk_derive(
	struct walker *walker, const struct code *code, struct term **terms, uint64_t value);
struct term *walk_resize(struct walker *walker, struct term *term, uint32_t width);
/* Room for the visits of all branches that are known by now. */
void walk_open_visits(struct walker *walker);
void walk_note_branch(
	struct walker *walker, const struct code *code, uint64_t condition, uint32_t edge);
void walk_note_choice(struct walker *walker, const struct code *code, uint64_t condition);
void walk_note_fence(struct walker *walker, const struct code *code);

#endif
