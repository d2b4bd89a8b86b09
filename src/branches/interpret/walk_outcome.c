/* Outcomes of operations, such as try-locks, are variables, as reads of shared memory are. */
#include <errno.h>
#include <threads.h>

#include "base/array.h"
#include "model/op.h"
#include "branches/interpret/walk_internal.h"

static bool walk_outcome_is_recorded_by(const struct record_op *op, enum outcome outcome)
{
	switch (op->kind) {
	case OP_MUTEX_TRYLOCK:
	case OP_RWLOCK_TRYRDLOCK:
	case OP_RWLOCK_TRYWRLOCK:
	case OP_SPIN_TRYLOCK:
		return outcome == OUTCOME_TRY || outcome == OUTCOME_TRY_C11;
	case OP_SEM_TRYWAIT:
		return outcome == OUTCOME_TAKE;
	case OP_BARRIER_ARRIVE:
		return outcome == OUTCOME_BARRIER;
	default:
		return false;
	}
}

/* Returns NULL if there is no operation, because only one thread existed. */
static struct walk_event *walk_outcome_event_of(const struct walker *walker, enum outcome outcome)
{
	/* The event of leaving a barrier follows that of the arrival. */
	for (uint64_t i = walker->out->count; i-- > 0;) {
		struct walk_event *event = &walker->out->events[i];

		if (event->kind != EVENT_OP || event->value == UINT64_MAX)
			return NULL;
		if (walk_outcome_is_recorded_by(&walker->walk->record->ops[event->value], outcome))
			return event;
		if (walker->walk->record->ops[event->value].kind != OP_BARRIER_LEAVE)
			return NULL;
	}
	return NULL;
}

static void walk_outcome_note_semaphore(struct walk *walk, uint64_t address, uint64_t value)
{
	for (uint32_t i = 0; i < walk->semaphore_count; i++)
		if (walk->semaphores[i].address == address) {
			walk->semaphores[i].is_known = false; /* initialised a second time */
			return;
		}
	ARRAY_APPEND(walk->semaphores, walk->semaphore_count,
		(struct walk_semaphore){address, (uint32_t)value, true});
}

void walk_note_entry(struct walker *walker, const struct code *call, const uint64_t *registers)
{
	const struct record_op *op = walk_coming_op(walker);
	uint64_t object;

	if (!call->count)
		return;
	object = registers[call->operands[0]];
	if (call->outcome == OUTCOME_BEGINNING && call->count == 3)
		walk_outcome_note_semaphore(walker->walk, object, registers[call->operands[2]]);
	if (call->outcome != OUTCOME_ONCE || !walker->is_live || walker->is_before ||
		(op && op->address == object &&
			(op->kind == OP_ONCE_ENTER || op->kind == OP_ONCE_DONE)))
		return;
	walk_add_event(walker, EVENT_ONCE)->address = object;
}

struct term *walk_outcome(struct walker *walker, const struct code *call, const uint64_t *registers)
{
	const uint64_t failure = call->outcome == OUTCOME_TRY ? EBUSY
				 : call->outcome == OUTCOME_TRY_C11
					 ? (uint64_t)thrd_busy
					 : compute_mask(UINT64_MAX, call->width);
	struct walk_event *event;
	struct term *term;
	uint64_t value;

	if (call->outcome > OUTCOME_BARRIER || !walker->is_live || walker->is_before ||
		!LLVMGetFirstUse(call->value) ||
		walker->frames[walker->frame_count - 1].function->is_excluded)
		return NULL;
	value = registers[call->to];
	event = walk_outcome_event_of(walker, (enum outcome)call->outcome);
	if (!event || event->term || (value && value != failure))
		return NULL;
	term = term_variable(&walker->walk->terms, call->width, value);
	event->term = term_index(&walker->walk->terms, term);
	event->address = value ? 0 : failure;
	event_set_instruction(event, call->value);
	return term;
}

/* Pins the result of the comparison, because it decides which operations follow. */
void walk_note_comparison(struct walker *walker, const struct record_op *op)
{
	const uint64_t found = op->argument & UINT32_MAX, expected = op->argument >> 32;
	struct term_arena *arena = &walker->walk->terms;
	struct term *read;
	struct code access;

	if (op->kind != OP_FUTEX_WAIT || walker->is_before || !walker->is_live ||
		!walker->frame_count)
		return;
	if (walker->mode & WALK_SHARING)
		walk_note_access(walker, SITE_NONE, op->address, sizeof(uint32_t), false);
	if (!(walker->mode & WALK_EVENTS))
		return;
	access = *walker->frames[walker->frame_count - 1].at;
	access.location = LOCATION_SITE;
	access.site = SITE_NONE;
	read = walk_read_term(walker, &access, op->address, sizeof(uint32_t), found);
	if (!read)
		return;
	walker->out->events[walker->out->count - 1].is_atomic = true;
	(void)walk_pin(walker, EVENT_VALUE,
		term_comparison(arena, LLVMIntEQ, read, term_constant(arena, 32, expected)),
		&access);
}
