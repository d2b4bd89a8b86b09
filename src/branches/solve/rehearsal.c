#include "branches/solve/rehearsal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

/* Addresses below this are a null pointer or a member behind one, as in constraints_otherwise(). */
#define NULL_PAGE 4096

/*
 * A trial is checked for its end after this many events, and then each time the number has doubled.
 */
#define LOOK_EVENTS 64

#define THREADS_OF_EVENT 8

/*
 * In a run of more than 65,536 steps the engine schedules any enabled thread that has not run for
 * that long (engine/clock.c). Group trials of such runs therefore use time slices: half of that,
 * divided among the threads.
 */
#define STEPS_OF_LONG_RUN (UINT64_C(1) << 16)
#define STEPS_OF_TURNS (UINT64_C(1) << 15)

static const struct walk_event *rehearsal_event_of(
	const struct rehearsal *rehearsal, struct event_id id)
{
	return &rehearsal->walk->threads[id.thread].events[id.index];
}

/* Whether the event is a step of schedules. */
static bool rehearsal_is_step(const struct walk_event *event)
{
	return event->kind <= EVENT_OP && !event->is_atomic;
}

/* ---- the recorded run ---- */

static void move_recorded(struct rehearsal *rehearsal)
{
	const struct event_id id = rehearsal->order->events[rehearsal->rank++];
	const struct walk_event *event = rehearsal_event_of(rehearsal, id);

	/* A read also shows the current value, whoever wrote it. */
	if (event->kind == EVENT_READ || event->kind == EVENT_WRITE)
		words_write(&rehearsal->words, event->address, event->bytes, event->value);
	if (rehearsal_is_step(event))
		rehearsal_note_step(
			rehearsal, rehearsal->recorded, id.thread, ++rehearsal->recorded_steps);
	rehearsal_move_on(
		rehearsal, &rehearsal->recorded[id.thread], rehearsal->recorded_locks, id.thread);
}

void rehearsal_begin(struct rehearsal *rehearsal, const struct hold *hold, uint64_t events_most)
{
	const uint32_t threads = rehearsal->thread_count;
	const uint64_t rank = rehearsal->ranks[hold->held.thread][hold->held.index];

	BUG_ON(rank < rehearsal->rank);
	while (rehearsal->rank < rank)
		move_recorded(rehearsal);
	memcpy(rehearsal->players, rehearsal->recorded, threads * sizeof *rehearsal->players);
	memcpy(rehearsal->locks, rehearsal->recorded_locks,
		rehearsal->lock_count * sizeof *rehearsal->locks);
	words_begin_trial(&rehearsal->words);
	rehearsal->hold = *hold;
	rehearsal->is_holding = true;
	rehearsal->steps = rehearsal->recorded_steps;
	rehearsal->writes = 0;
	rehearsal->current = REHEARSAL_NOBODY;
	rehearsal->total = rehearsal->behind = rank;
	rehearsal->room = events_most;
	rehearsal->look_at = LOOK_EVENTS;
	rehearsal->has_changes = false;
	rehearsal->done_count = 0;
	rehearsal->term_count = 0;
}

void rehearsal_end(struct rehearsal *rehearsal)
{
	words_end_trial(&rehearsal->words);
}

/* ---- events of a trial ---- */

enum effect { EFFECT_NONE, EFFECT_FLIPPED, EFFECT_STOPPED };

static uint64_t width_mask(uint32_t bytes)
{
	return bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
}

/* The address of the access in the trial. False: not known. */
static bool rehearsal_address_of(struct rehearsal *rehearsal, struct player *player,
	const struct walk_event *event, uint64_t *out)
{
	const struct term *at = walk_event_at(rehearsal->walk, event);

	*out = event->address;
	if (!at)
		return true;
	return rehearsal_value(rehearsal, player, at, out) &&
	       (*out == event->address || words_has(&rehearsal->words, *out, event->bytes));
}

bool rehearsal_read(
	struct rehearsal *rehearsal, struct player *player, const struct walk_event *event)
{
	const uint32_t number = walk_event_term(rehearsal->walk, event)->number;
	uint64_t address, value;

	if (!rehearsal_address_of(rehearsal, player, event, &address))
		return false;
	if (!words_read(&rehearsal->words, address, event->bytes, &value)) {
		/*
		 * Memory with hidden writes keeps its recorded value. Any other unknown word was
		 * read after a write in the run.
		 */
		if (address != event->address ||
			!words_are_hidden(&rehearsal->words, address, event->bytes))
			return false;
		value = event->value;
	}
	/* A variable that the trial has already set is always stored again. */
	if (value == (event->value & width_mask(event->bytes)) &&
		rehearsal->variables[number].trial != rehearsal->words.trial)
		return true;
	rehearsal->variables[number] =
		(struct trial_value){.trial = rehearsal->words.trial, .value = value};
	if (number < player->changed)
		player->changed = number;
	rehearsal->has_changes = true;
	return true;
}

static enum effect write_word(struct rehearsal *rehearsal, struct player *player,
	const struct walk_event *event, uint64_t rank)
{
	const struct term *term = walk_event_term(rehearsal->walk, event);
	const struct term *when = walk_event_when(rehearsal->walk, event);
	uint64_t address, value = event->value, is_made = 1;

	if (!rehearsal_address_of(rehearsal, player, event, &address) ||
		(when && !rehearsal_value(rehearsal, player, when, &is_made)) ||
		(term && !rehearsal_value(rehearsal, player, term, &value)))
		return EFFECT_STOPPED;
	words_note_recorded(&rehearsal->words, event->address, event->bytes, event->value, rank);
	if (is_made)
		words_write(&rehearsal->words, address, event->bytes, value);
	rehearsal->writes++;
	return EFFECT_NONE;
}

bool rehearsal_goes_as_it_went(const struct walk_event *event, uint64_t value)
{
	unsigned count;

	if (!LLVMIsASwitchInst(event_instruction(event)))
		return (value != 0) == event->is_taken;
	count = LLVMGetNumSuccessors(event_instruction(event));
	for (unsigned i = 1; i < count; i++)
		if (LLVMConstIntGetZExtValue(LLVMGetOperand(event_instruction(event), 2 * i)) ==
			value)
			return event->case_value == i;
	return event->case_value == 0;
}

/*
 * A query asks for an index outside of the array. Another index inside is accepted only where
 * addresses are open.
 */
static enum effect look_at_index(const struct walk_event *event, uint64_t value)
{
	if (value - event->address >= event->occurrence)
		return EFFECT_FLIPPED;
	return event->is_open || value == event->value ? EFFECT_NONE : EFFECT_STOPPED;
}

static enum effect look_at_address(
	const struct rehearsal *rehearsal, const struct walk_event *event, uint64_t value)
{
	if (value == event->value)
		return EFFECT_NONE;
	if (value < NULL_PAGE && !event->is_never_null)
		return EFFECT_FLIPPED;
	return event->is_open && rehearsal->has_open_addresses ? EFFECT_NONE : EFFECT_STOPPED;
}

static enum effect look_at_value(
	struct rehearsal *rehearsal, const struct player *player, const struct walk_event *event)
{
	uint64_t value;

	if (!rehearsal_value(rehearsal, player, walk_event_term(rehearsal->walk, event), &value))
		return EFFECT_STOPPED;
	switch (event->kind) {
	case EVENT_BRANCH:
		return rehearsal_goes_as_it_went(event, value) ? EFFECT_NONE : EFFECT_FLIPPED;
	case EVENT_CHOICE:
		return (value != 0) == event->is_taken ? EFFECT_NONE : EFFECT_FLIPPED;
	case EVENT_DIVISOR:
		return value ? EFFECT_NONE : EFFECT_FLIPPED;
	case EVENT_INDEX:
		return look_at_index(event, value);
	case EVENT_ADDRESS:
		return look_at_address(rehearsal, event, value);
	default:
		return value == event->value ? EFFECT_NONE : EFFECT_STOPPED;
	}
}

/* Whether the block that the thread reads next has been freed in the trial. */
static bool is_given_back(struct rehearsal *rehearsal, struct player *player, uint32_t thread)
{
	const struct event_id read = {(uint16_t)thread, player->at};
	const struct order_life *life = order_life_of(rehearsal->order, read);
	const struct walk_event *event = rehearsal_event_of(rehearsal, read);
	uint64_t address;

	return life && rehearsal->players[life->last.thread].at > life->last.index &&
	       rehearsal_address_of(rehearsal, player, event, &address) &&
	       address == event->address;
}

static enum effect effect_of(struct rehearsal *rehearsal, uint32_t thread, uint64_t rank)
{
	struct player *player = &rehearsal->players[thread];
	const struct walk_event *event = &rehearsal->walk->threads[thread].events[player->at];

	switch (event->kind) {
	case EVENT_READ:
		if (is_given_back(rehearsal, player, thread))
			return EFFECT_STOPPED;
		return rehearsal_read(rehearsal, player, event) ? EFFECT_NONE : EFFECT_STOPPED;
	case EVENT_WRITE:
		return write_word(rehearsal, player, event, rank);
	case EVENT_OP:
		return rehearsal_fails_as_it_did(rehearsal, player, thread) ? EFFECT_NONE
									    : EFFECT_STOPPED;
	case EVENT_STEPS:
	case EVENT_FENCE:
	case EVENT_ONCE:
		return EFFECT_NONE;
	default:
		return look_at_value(rehearsal, player, event);
	}
}

/* ---- course of a trial ---- */

/*
 * While one thread is held for a short time, the others move only as far as the awaited thread
 * needs.
 */
static bool rehearsal_is_ahead(const struct rehearsal *rehearsal)
{
	return rehearsal->is_holding && !rehearsal->hold.is_long;
}

/* Whether the trial has returned to the state of the recorded run. Then it shows nothing new. */
static bool has_settled(struct rehearsal *rehearsal)
{
	if (rehearsal->is_holding || rehearsal->has_changes ||
		rehearsal->total != rehearsal->behind || rehearsal->done_count < rehearsal->look_at)
		return false;
	rehearsal->look_at = 2 * rehearsal->done_count;
	return words_are_as_recorded(&rehearsal->words);
}

static bool takes_turns(const struct rehearsal *rehearsal)
{
	return rehearsal->hold.group && rehearsal->order->event_count > STEPS_OF_LONG_RUN;
}

static uint32_t rehearsal_next_thread(struct rehearsal *rehearsal)
{
	if (!takes_turns(rehearsal))
		return rehearsal_first_to_move(rehearsal);
	rehearsal->turn_ends = rehearsal->steps + STEPS_OF_TURNS / rehearsal->thread_count;
	return rehearsal_longest_ago(rehearsal);
}

/* Chooses the next thread. False: the trial is over. */
static bool rehearsal_choose(struct rehearsal *rehearsal)
{
	const uint32_t wanted = rehearsal->hold.until.thread;

	/* The scan over the threads costs about as much as this share of events. */
	rehearsal->spent += rehearsal->thread_count / THREADS_OF_EVENT;
	if (has_settled(rehearsal))
		return false;
	rehearsal->is_holding &= rehearsal->hold.is_long || !rehearsal->players[wanted].is_stopped;
	if (rehearsal_is_ahead(rehearsal) && rehearsal_may_move(rehearsal, wanted))
		rehearsal->current = wanted;
	else
		rehearsal->current = rehearsal_next_thread(rehearsal);
	if (rehearsal->current == REHEARSAL_NOBODY && rehearsal->hold.group)
		rehearsal->current = rehearsal_release_one(rehearsal);
	if (rehearsal->current == REHEARSAL_NOBODY && rehearsal->is_holding) {
		rehearsal->is_holding = false;
		rehearsal->current = rehearsal_first_to_move(rehearsal);
	}
	return rehearsal->current != REHEARSAL_NOBODY;
}

static void note_done(struct rehearsal *rehearsal, struct event_id id)
{
	if (rehearsal->done_count == rehearsal->done_capacity) {
		rehearsal->done_capacity =
			rehearsal->done_capacity ? 2 * rehearsal->done_capacity : 1024;
		rehearsal->done = realloc(
			rehearsal->done, rehearsal->done_capacity * sizeof *rehearsal->done);
		BUG_ON(!rehearsal->done);
	}
	rehearsal->done[rehearsal->done_count++] =
		(struct done_event){id, rehearsal->players[id.thread].skipped};
}

/* Whether the thread continues without a new choice. */
static bool is_turn(const struct rehearsal *rehearsal, uint32_t thread, uint64_t rank)
{
	if (takes_turns(rehearsal))
		return rehearsal->steps < rehearsal->turn_ends;
	return rehearsal->ranks[thread][rehearsal->players[thread].at] == rank + 1;
}

/* Commits the next event of the current thread, and decides whether that thread continues. */
static void happen(struct rehearsal *rehearsal, uint64_t rank)
{
	const uint32_t thread = rehearsal->current;
	struct player *player = &rehearsal->players[thread];
	const struct event_id id = {(uint16_t)thread, player->at};
	const struct walk_event *event = rehearsal_event_of(rehearsal, id);
	const uint32_t locks_left = player->end;

	if (rehearsal_is_step(event))
		rehearsal_note_step(rehearsal, rehearsal->players, thread, ++rehearsal->steps);
	rehearsal_move_on(rehearsal, player, rehearsal->locks, thread);
	note_done(rehearsal, id);
	player->held = ++rehearsal->total;
	if (rank >= rehearsal->behind)
		rehearsal->behind = rank + 1;
	if (rehearsal_is_ahead(rehearsal) && rehearsal->hold.until.thread == thread &&
		rehearsal->hold.until.index == id.index) {
		rehearsal->is_holding = false;
		rehearsal->current = REHEARSAL_NOBODY;
	}
	if (player->at >= rehearsal->walk->threads[thread].count || player->end != locks_left ||
		(!is_turn(rehearsal, thread, rank) && !rehearsal_is_ahead(rehearsal)) ||
		!rehearsal_may_move(rehearsal, thread))
		rehearsal->current = REHEARSAL_NOBODY;
	/* The write of an atomic update happens together with its read. */
	if (player->at < rehearsal->walk->threads[thread].count &&
		rehearsal->walk->threads[thread].events[player->at].is_atomic)
		rehearsal->current = thread;
}

/*
 * Whether the event can be found again in a run: a branch of a waiting loop cannot be after skipped
 * steps.
 */
static bool rehearsal_tell(struct rehearsal *rehearsal, struct event_id id, uint32_t skipped)
{
	rehearsal->goal_skipped = skipped;
	return !skipped || !rehearsal_is_wait(rehearsal, rehearsal_event_of(rehearsal, id));
}

/* Ends the thread's known future: an outcome has flipped, or what follows is not known. */
static void rehearsal_leave(struct rehearsal *rehearsal, struct event_id id, enum effect effect)
{
	const struct walk_event *event = rehearsal_event_of(rehearsal, id);
	const bool is_flipped = effect == EFFECT_FLIPPED;

	if (is_flipped && event->kind == EVENT_CHOICE) {
		happen(rehearsal, rehearsal->ranks[id.thread][id.index]);
		return;
	}
	if (!is_flipped || event->kind != EVENT_BRANCH ||
		!rehearsal_leaves_early(rehearsal, id.thread))
		rehearsal->players[id.thread].is_stopped = true;
	rehearsal->current = REHEARSAL_NOBODY;
}

bool rehearsal_next(struct rehearsal *rehearsal, struct event_id *out)
{
	while (rehearsal->done_count < rehearsal->room) {
		struct player *player;
		enum effect effect;
		uint32_t skipped, thread;

		if (rehearsal->current == REHEARSAL_NOBODY && !rehearsal_choose(rehearsal))
			return false;
		thread = rehearsal->current;
		player = &rehearsal->players[thread];
		*out = (struct event_id){(uint16_t)thread, player->at};
		skipped = player->skipped;
		rehearsal->spent++;
		if (rehearsal_must_wait(rehearsal, thread, &out->index)) {
			player->waits = rehearsal->writes + 1;
			rehearsal->current = REHEARSAL_NOBODY;
			if (rehearsal_tell(rehearsal, *out, skipped))
				return true;
			continue;
		}
		effect = effect_of(rehearsal, thread, rehearsal->ranks[thread][player->at]);
		if (effect == EFFECT_NONE)
			happen(rehearsal, rehearsal->ranks[thread][player->at]);
		else
			rehearsal_leave(rehearsal, *out, effect);
		if (effect == EFFECT_FLIPPED && rehearsal_tell(rehearsal, *out, skipped))
			return true;
	}
	return false;
}

/* ---- schedules ---- */

/* Collects the schedule until the goal's thread has made all its steps before the goal. */
struct way {
	const struct rehearsal *rehearsal;
	struct solution *out;
	struct values values;
	struct event_id goal;
	uint64_t wanted;
	uint64_t *steps; /* by thread: steps made so far */
};

/* Each signal wakes the wait that it woke in the run. */
static bool rehearsal_wakes(void *context, uint32_t condition, uint32_t wait, uint32_t signal)
{
	const struct way *way = context;

	return way->rehearsal->order->conditions[condition].waits[wait].signal == signal;
}

static bool rehearsal_add_step(struct way *way, const struct done_event *done)
{
	const struct walk_event *event = rehearsal_event_of(way->rehearsal, done->id);
	const struct solution_wakes choices = {rehearsal_wakes, way};
	uint64_t *steps = &way->steps[done->id.thread], after;

	if (way->steps[way->goal.thread] >= way->wanted)
		return false;
	after = event->step + 1 - done->skipped;
	if (!rehearsal_is_step(event) || after <= *steps)
		return true;
	solution_meet(way->out, &way->values, done->id,
		(struct solution_steps){after - *steps, after - *steps}, &choices);
	*steps = after;
	return true;
}

void rehearsal_solution(
	const struct rehearsal *rehearsal, struct event_id goal, struct solution *out)
{
	struct way way = {.rehearsal = rehearsal,
		.out = out,
		.goal = goal,
		.wanted = rehearsal_event_of(rehearsal, goal)->step - rehearsal->goal_skipped,
		.steps = calloc(rehearsal->thread_count + 1u, sizeof *way.steps)};
	bool goes_on = true;

	BUG_ON(!way.steps);
	*out = (struct solution){0};
	values_open(&way.values, rehearsal->order);
	for (uint64_t i = 0; i < rehearsal->rank && goes_on; i++)
		goes_on = rehearsal_add_step(
			&way, &(struct done_event){.id = rehearsal->order->events[i]});
	for (uint64_t i = 0; i < rehearsal->done_count && goes_on; i++)
		goes_on = rehearsal_add_step(&way, &rehearsal->done[i]);
	if (way.steps[goal.thread] < way.wanted)
		solution_add(out, goal.thread, way.wanted - way.steps[goal.thread]);
	values_close(&way.values);
	free(way.steps);
}
