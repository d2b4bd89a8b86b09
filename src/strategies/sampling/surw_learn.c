/* Learning of strategy `surw`: lessons of runs, and the knowledge derived from them. */
#include "strategies/sampling/surw_internal.h"

void surw_begin_lesson(struct surw *surw)
{
	struct surw_lesson *lesson = &surw->lessons[surw->position];

	key_table_clear(&surw->run_objects);
	key_table_clear(&surw->run_pairs);
	lesson->is_whole = false;
	lesson->thread_count = lesson->object_count = lesson->pair_count = 0;
}

void surw_add_thread_to_lesson(
	struct surw *surw, uint32_t thread, thread_name name, uint32_t creator)
{
	struct surw_lesson *lesson = &surw->lessons[surw->position];

	if (thread >= SURW_LESSON_THREADS)
		return;
	lesson->threads[thread].name = name;
	lesson->threads[thread].creator = creator;
	lesson->thread_count = thread + 1;
}

/* Notes a lock that the op acquires or releases. Try operations may fail. A thread in a condition
 * wait performs no ops meanwhile. */
static void surw_hold(struct surw_locks *held, const struct pending_op *op)
{
	const bool takes =
		(op->flags & (OP_ACQUIRE | OP_MAYBLOCK | OP_READ)) == (OP_ACQUIRE | OP_MAYBLOCK);

	if (op->kind == OP_COND_WAKE || !(takes || op->flags & OP_RELEASE))
		return;
	for (uint32_t i = 0; i < SURW_LOCKS; i++)
		if (held->locks[i] == (takes ? 0 : op->object)) {
			held->locks[i] = takes ? op->object : 0;
			return;
		}
}

static void surw_intersect(struct surw_locks *common, const struct surw_locks *held)
{
	for (uint32_t i = 0; i < SURW_LOCKS; i++) {
		bool is_held = false;

		for (uint32_t j = 0; j < SURW_LOCKS; j++)
			is_held |= held->locks[j] == common->locks[i];
		if (!is_held)
			common->locks[i] = 0;
	}
}

static struct surw_lesson_object *surw_lesson_object(struct surw *surw, object_name name)
{
	struct surw_lesson *lesson = &surw->lessons[surw->position];
	uint32_t index = key_table_find(&surw->run_objects, name);

	if (index == KEY_TABLE_NONE) {
		if (lesson->object_count == SURW_LESSON_OBJECTS)
			return NULL;
		index = key_table_add(&surw->run_objects, name);
		lesson->objects[lesson->object_count++] = (struct surw_lesson_object){.name = name};
	}
	return &lesson->objects[index];
}

static void surw_count_pair(struct surw *surw, uint32_t thread, uint32_t object)
{
	struct surw_lesson *lesson = &surw->lessons[surw->position];
	const uint64_t key = (uint64_t)thread << 32 | object;
	uint32_t index = key_table_find(&surw->run_pairs, key);

	if (index == KEY_TABLE_NONE) {
		if (lesson->pair_count == SURW_LESSON_PAIRS)
			return;
		index = key_table_add(&surw->run_pairs, key);
		lesson->pairs[lesson->pair_count++] = (struct surw_lesson_pair){
			.thread = (uint16_t)thread, .object = (uint16_t)object};
	}
	lesson->pairs[index].count++;
}

/* Ops before the creation of a second thread cannot be reordered and say nothing about locks. */
static void surw_note_op(
	struct surw *surw, const struct schedule_view *view, uint32_t thread, object_name name)
{
	struct surw_lesson_object *object;

	if (thread >= SURW_LESSON_THREADS)
		return;
	object = surw_lesson_object(surw, name);
	if (!object)
		return;
	if (view->thread_count > 1) {
		if (!object->is_contended)
			object->common = surw->held[thread];
		object->is_contended = true;
		surw_intersect(&object->common, &surw->held[thread]);
	}
	surw_count_pair(surw, thread, (uint32_t)(object - surw->lessons[surw->position].objects));
}

void surw_end_run(void *state, const struct run_summary *summary)
{
	struct surw *surw = state;

	/* A run that was cut off is no measure for complete runs. */
	if (surw_teaches(surw))
		surw->lessons[surw->position].is_whole =
			summary->outcome == OUTCOME_PASSED || summary->outcome == OUTCOME_EXIT;
}

void surw_note(struct surw *surw, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	if (surw_may_interest(op))
		surw_note_op(surw, view, thread, op->object);
	surw_hold(&surw->held[thread], op);
}

void surw_begin_position(void *state, uint32_t position)
{
	((struct surw *)state)->position = position;
}

static void surw_copy_lesson(struct surw_lesson *to, const struct surw_lesson *from)
{
	to->is_whole = from->is_whole;
	to->thread_count = from->thread_count;
	to->object_count = from->object_count;
	to->pair_count = from->pair_count;
	for (uint32_t i = 0; i < from->thread_count; i++)
		to->threads[i] = from->threads[i];
	for (uint32_t i = 0; i < from->object_count; i++)
		to->objects[i] = from->objects[i];
	for (uint32_t i = 0; i < from->pair_count; i++)
		to->pairs[i] = from->pairs[i];
}

void surw_gather(void *state, const void *other, uint32_t position, uint32_t count)
{
	const struct surw *from = other;
	struct surw *surw = state;

	for (uint32_t i = position; i < position + count && i < SURW_TEACHING; i++)
		surw_copy_lesson(&surw->lessons[i], &from->lessons[i]);
}

static void surw_learn_threads(struct surw *surw, const struct surw_lesson *lesson)
{
	for (uint32_t i = 0; i < lesson->thread_count; i++) {
		const uint32_t known = surw->threads.count;
		const uint32_t creator = lesson->threads[i].creator;

		/* ignored if the table is full */
		(void)key_table_add(&surw->threads, lesson->threads[i].name);
		if (surw->threads.count == known)
			continue;
		surw->parent[known] =
			creator >= lesson->thread_count
				? KEY_TABLE_NONE
				: key_table_find(&surw->threads, lesson->threads[creator].name);
		surw->subtree[known] = 0;
	}
}

/* Inserts the pair if necessary and returns its index; KEY_TABLE_NONE: no space. */
static uint32_t surw_pair_index(struct surw *surw, uint32_t thread, object_name name)
{
	const uint32_t known = surw->pairs.count;
	const uint32_t pair = key_table_add(&surw->pairs, (uint64_t)thread << 32 | (uint64_t)name);
	uint32_t index;

	if (pair == KEY_TABLE_NONE || surw->pairs.count == known)
		return pair;
	index = key_table_add(&surw->objects, name);
	surw->pair_of[pair] = (struct surw_pair){.thread = (uint16_t)thread,
		.object = index == KEY_TABLE_NONE ? UINT16_MAX : (uint16_t)index};
	if (index != KEY_TABLE_NONE && ++surw->object_of[index].thread_count == 2)
		surw->eligible[surw->eligible_count++] = (uint16_t)index;
	return pair;
}

static void surw_learn_pairs(struct surw *surw, const struct surw_lesson *lesson)
{
	for (uint32_t i = 0; i < lesson->pair_count; i++) {
		const struct surw_lesson_pair *taught = &lesson->pairs[i];
		const uint32_t thread =
			key_table_find(&surw->threads, lesson->threads[taught->thread].name);
		uint32_t pair;

		if (thread == KEY_TABLE_NONE)
			continue;
		pair = surw_pair_index(surw, thread, lesson->objects[taught->object].name);
		if (pair != KEY_TABLE_NONE)
			surw->pair_of[pair].count = taught->count;
	}
}

static void surw_learn_locks(struct surw *surw, const struct surw_lesson *lesson)
{
	for (uint32_t i = 0; i < lesson->object_count; i++) {
		const struct surw_lesson_object *taught = &lesson->objects[i];
		const uint32_t index = key_table_find(&surw->objects, taught->name);
		struct surw_object *object;

		if (index == KEY_TABLE_NONE || !taught->is_contended)
			continue;
		object = &surw->object_of[index];
		if (!object->is_contended)
			object->common = taught->common;
		object->is_contended = true;
		surw_intersect(&object->common, &taught->common);
	}
}

static void surw_learn_counts(struct surw *surw)
{
	for (uint32_t i = 0; i < surw->pairs.count; i++) {
		struct surw_pair *pair = &surw->pair_of[i];
		const uint32_t seen = pair->count * 16;

		if (!pair->sixteenths)
			pair->sixteenths = seen;
		else if (seen > pair->sixteenths)
			pair->sixteenths += (seen - pair->sixteenths + 1) / 2;
		else
			pair->sixteenths -= (pair->sixteenths - seen) / 8;
	}
}

void surw_learn(void *state, uint32_t count, uint32_t next)
{
	struct surw *surw = state;

	(void)next; /* nothing is planned */
	for (uint32_t i = 0; i < count && i < SURW_TEACHING; i++) {
		for (uint32_t pair = 0; pair < surw->pairs.count; pair++)
			surw->pair_of[pair].count = 0;
		surw_learn_threads(surw, &surw->lessons[i]);
		surw_learn_pairs(surw, &surw->lessons[i]);
		surw_learn_locks(surw, &surw->lessons[i]);
		if (surw->lessons[i].is_whole)
			surw_learn_counts(surw);
	}
}

#define SURW_BITS_MOST 256u /* larger estimates are not needed and would take time */

/* Returns 256 times the binary logarithm of `number`, which is above 0. */
static uint64_t surw_logarithm(uint64_t number)
{
	const uint32_t power = 63 - (uint32_t)__builtin_clzll(number);

	return 256 * (uint64_t)power + ((number << 8 >> power) - 256); /* linear between powers */
}

/* Returns 256 times the binary logarithm of the factorial of `number`: Stirling's formula. */
static uint64_t surw_log_factorial(uint64_t number)
{
	uint64_t sum = 0;

	if (number >
		16) /* n ln n - n + ln(2 pi n) / 2; 369 and 339 are 256 times 1/ln 2 and log2(2 pi) / 2 */
		return number * surw_logarithm(number) - 369 * number + surw_logarithm(number) / 2 +
		       339;
	for (uint64_t i = 2; i <= number; i++)
		sum += surw_logarithm(i);
	return sum;
}

/* The ops of the threads on an object have a multinomial number of orders. */
uint64_t surw_order_bits(const void *state)
{
	const struct surw *surw = state;
	uint64_t bits = 0;

	for (uint32_t i = 0; i < surw->eligible_count && bits < SURW_BITS_MOST * 256; i++) {
		const uint32_t object = surw->eligible[i];
		uint64_t ops = 0, within = 0;

		if (surw_is_guarded(&surw->object_of[object]))
			continue;
		for (uint32_t pair = 0; pair < surw->pairs.count; pair++)
			if (surw->pair_of[pair].object == object) {
				ops += surw_expected(&surw->pair_of[pair]);
				within += surw_log_factorial(surw_expected(&surw->pair_of[pair]));
			}
		bits += surw_log_factorial(ops) - within;
	}
	return bits / 256;
}

void surw_share(void *state, const void *other)
{
	const struct surw *from = other;
	struct surw *surw = state;

	key_table_copy(&surw->threads, &from->threads);
	key_table_copy(&surw->objects, &from->objects);
	key_table_copy(&surw->pairs, &from->pairs);
	for (uint32_t i = 0; i < from->threads.count; i++)
		surw->parent[i] = from->parent[i];
	for (uint32_t i = 0; i < from->objects.count; i++)
		surw->object_of[i] = from->object_of[i];
	for (uint32_t i = 0; i < from->pairs.count; i++)
		surw->pair_of[i] = from->pair_of[i];
	surw->eligible_count = from->eligible_count;
	for (uint32_t i = 0; i < from->eligible_count; i++)
		surw->eligible[i] = from->eligible[i];
}
