#include "engine/c11/robustness.h"

#include <string.h>

enum past_kind { PAST_SC, PAST_TSO, PASTS };

/* What the next read and the next write of the thread inherit. Under sequential consistency
 * `writes` is not used: both inherit `reads`. */
struct past_thread {
	struct c11_view reads, writes;
};

struct past_location {
	struct c11_view written; /* of the newest store, with that store */
	struct c11_view read;	 /* of all reads */
};

static struct {
	enum memory_model judged;
	bool has_lost;
	struct c11_view lost; /* pasts under TSO of the accesses to dropped locations */
	struct past_thread threads[PASTS][C11_THREADS];
	struct past_location locations[PASTS][C11_LOCATIONS];
	struct c11_view objects[PASTS][C11_OBJECTS];
} robustness;

static struct past_thread *robustness_self(enum past_kind kind)
{
	return &robustness.threads[kind][engine_current()->id.index];
}

static void robustness_clear(struct c11_view *view)
{
	memset(view->stamps, 0, c11.location_count * sizeof *view->stamps);
}

bool robustness_is_on(void)
{
	return robustness.judged != MEMORY_MODEL_SC && c11_is_chosen;
}

void robustness_begin_run(enum memory_model judged)
{
	robustness.judged = judged;
	robustness.has_lost = false;
}

void robustness_begin_thread(struct thread_id created)
{
	if (!robustness_is_on())
		return;
	robustness_fence();
	for (unsigned kind = 0; kind < PASTS; kind++) {
		struct past_thread *thread = &robustness.threads[kind][created.index];

		c11_copy(&thread->reads, &robustness_self(kind)->reads);
		c11_copy(&thread->writes, &thread->reads);
	}
}

void robustness_begin_location(const struct c11_location *location)
{
	const uint16_t number = c11_number(location);

	if (!robustness_is_on())
		return;
	for (unsigned kind = 0; kind < PASTS; kind++) {
		struct past_location *past = &robustness.locations[kind][number];

		robustness_clear(&past->read);
		if (kind == PAST_TSO && robustness.has_lost)
			c11_copy(&past->written, &robustness.lost);
		else
			robustness_clear(&past->written);
	}
}

/* A past that lacks events under TSO would report a store that the access cannot precede. Under
 * sequential consistency it only loses reports. */
void robustness_drop_location(const struct c11_location *location)
{
	const struct past_location *past = &robustness.locations[PAST_TSO][c11_number(location)];

	if (!robustness_is_on())
		return;
	if (robustness.has_lost)
		c11_join(&robustness.lost, &past->written);
	else
		c11_copy(&robustness.lost, &past->written);
	c11_join(&robustness.lost, &past->read);
	robustness.has_lost = true;
}

struct missed_store robustness_judge(
	const struct engine_op *op, const struct c11_location *location)
{
	const uint16_t number = c11_number(location);
	const struct past_thread *tso = robustness_self(PAST_TSO);
	const uint32_t past = robustness_self(PAST_SC)->reads.stamps[number];
	const bool drains =
		op->kind == OP_ATOMIC_UPDATE || !(op_descriptions[op->kind].flags & OP_READ);
	const uint32_t past_of_tso = (drains ? &tso->writes : &tso->reads)->stamps[number];
	struct missed_store missed = {0};

	for (uint32_t i = 1; i < location->count && location->stores[i].stamp <= past; i++) {
		const struct c11_store *store = &location->stores[i];
		const bool is_of_tso = store->stamp > past_of_tso;

		if (!c11_may_precede(op, location, i) ||
			(!is_of_tso && (missed.site || robustness.judged == MEMORY_MODEL_TSO)))
			continue;
		missed = (struct missed_store){.site = store->site,
			.step = store->step,
			.writer = store->writer,
			.op = store->op,
			.model = is_of_tso ? MEMORY_MODEL_TSO : MEMORY_MODEL_C11};
		if (is_of_tso)
			break;
	}
	return missed;
}

static void robustness_note_sequential(struct past_location *at, uint16_t number, uint32_t stamp)
{
	struct c11_view *own = &robustness_self(PAST_SC)->reads;

	c11_join(own, &at->written);
	if (!stamp) {
		c11_join(&at->read, own);
		return;
	}
	c11_join(own, &at->read);
	c11_raise(own, number, stamp);
	c11_copy(&at->written, own);
}

/* A read of the thread's own store may read the store buffer, so it inherits nothing. */
static void robustness_note_read_of_tso(struct past_location *at, bool is_own)
{
	struct past_thread *self = robustness_self(PAST_TSO);

	if (!is_own)
		c11_join(&self->reads, &at->written);
	c11_join(&at->read, &self->reads);
	c11_join(&self->writes, &self->reads);
}

static void robustness_note_write_of_tso(struct past_location *at, uint16_t number, uint32_t stamp)
{
	struct c11_view *own = &robustness_self(PAST_TSO)->writes;

	c11_join(own, &at->written);
	c11_join(own, &at->read);
	c11_raise(own, number, stamp);
	c11_copy(&at->written, own);
}

void robustness_note_access(
	const struct engine_op *op, const struct c11_location *location, bool has_written)
{
	const struct c11_store *newest = &location->stores[location->count - 1];
	const uint16_t number = c11_number(location);
	const bool is_update = op->kind == OP_ATOMIC_UPDATE;
	struct past_location *tso = &robustness.locations[PAST_TSO][number];

	robustness_note_sequential(
		&robustness.locations[PAST_SC][number], number, has_written ? newest->stamp : 0);
	if (is_update)
		robustness_fence();
	if (has_written)
		robustness_note_write_of_tso(tso, number, newest->stamp);
	else
		robustness_note_read_of_tso(
			tso, !is_update && thread_same(newest->writer, engine_current()->id));
	if (is_update || (has_written && op->order == ORDER_SEQUENTIAL))
		robustness_fence();
}

void robustness_receive(const struct c11_view *view)
{
	struct past_thread *self = robustness_self(PAST_TSO);

	if (!robustness_is_on())
		return;
	c11_join(&self->reads, view);
	c11_join(&self->writes, view);
}

void robustness_note_unknown(void)
{
	if (robustness_is_on() && robustness.has_lost)
		robustness_receive(&robustness.lost);
}

void robustness_fence(void)
{
	struct past_thread *self = robustness_self(PAST_TSO);

	if (robustness_is_on())
		c11_join(&self->reads, &self->writes);
}

void robustness_fence_all(void)
{
	struct past_thread *threads = robustness.threads[PAST_TSO];
	struct c11_view all = {0};

	if (!robustness_is_on())
		return;
	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		c11_join(&all, &threads[i].reads);
		c11_join(&all, &threads[i].writes);
	}
	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		c11_copy(&threads[i].reads, &all);
		c11_copy(&threads[i].writes, &all);
	}
}

void robustness_join_object(uint32_t number, bool is_used, bool acquires, bool releases)
{
	if (!robustness_is_on())
		return;
	robustness_fence();
	for (unsigned kind = 0; kind < PASTS; kind++) {
		struct past_thread *self = robustness_self(kind);
		struct c11_view *object = &robustness.objects[kind][number];

		if (acquires && is_used) {
			c11_join(&self->reads, object);
			c11_join(&self->writes, object);
		}
		if (releases && is_used)
			c11_join(object, &self->reads);
		else if (releases)
			c11_copy(object, &self->reads);
	}
}

void robustness_join_thread(uint16_t to, uint16_t from)
{
	if (!robustness_is_on())
		return;
	for (unsigned kind = 0; kind < PASTS; kind++) {
		const struct past_thread *source = &robustness.threads[kind][from];
		struct past_thread *target = &robustness.threads[kind][to];

		c11_join(&target->reads, &source->reads);
		if (kind == PAST_TSO)
			c11_join(&target->reads, &source->writes);
		c11_join(&target->writes, &target->reads);
	}
}
