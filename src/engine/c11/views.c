/* Views of threads and objects; see engine/c11.h. Synchronisation by the C library and the kernel
 * joins views. A rule in doubt joins: a missing join would show an execution that cannot occur. */
#include <string.h>

#include "engine/c11/c11_internal.h"
#include "engine/c11/robustness.h"

void c11_join(struct c11_view *view, const struct c11_view *other)
{
	for (uint32_t i = 0; i < c11.location_count; i++)
		if (view->stamps[i] < other->stamps[i])
			view->stamps[i] = other->stamps[i];
}

void c11_copy(struct c11_view *view, const struct c11_view *other)
{
	memcpy(view->stamps, other->stamps, c11.location_count * sizeof *view->stamps);
}

void c11_begin_run(const struct engine_run *run)
{
	const bool is_on = run->memory_model == MEMORY_MODEL_C11;

	if (!is_on && !c11_is_chosen)
		return;
	/* Entries of earlier runs are less than all later stamps. */
	if (c11.stamp >= C11_STAMP_MOST / 2)
		memset(&c11, 0, sizeof c11);
	c11_is_chosen = is_on;
	c11.delayed = run->delayed;
	robustness_begin_run(run->judged_model);
	c11.pending_kind = C11_NOTHING;
	c11.location_count = c11.next_replaced = 0;
	memset(c11.names, 0, sizeof c11.names);
	c11.has_lost = false;
	memset(c11.buckets, 0xff, sizeof c11.buckets);
	c11.threads[0].has_fenced = c11.threads[0].has_relaxed_reads = false;
	c11.threads[0].old_reads = 0;
	c11.threads[0].path = c11.sequential_path = c11.object_path = 0;
}

void c11_end(void)
{
	if (!c11_is_chosen)
		return;
	c11_settle();
	c11_is_chosen = false;
}

bool c11_is_on(void)
{
	return c11_is_chosen && engine_is_live();
}

void c11_begin_thread(struct thread_id created)
{
	struct c11_thread *thread;

	if (!c11_is_chosen)
		return;
	if (created.index >= C11_THREADS) {
		engine_note_feature(FEATURE_THREADS_CUT);
		c11_end();
		return;
	}
	robustness_begin_thread(created);
	thread = &c11.threads[created.index];
	c11_copy(&thread->now, &c11_self()->now);
	thread->has_fenced = thread->has_relaxed_reads = false;
	thread->old_reads = 0;
	thread->path = c11_self()->path;
}

static void views_view_receive(
	struct c11_thread *self, const struct c11_view *message, uint8_t order)
{
	if (order_acquires(order)) {
		c11_join(&self->now, message);
	} else if (self->has_relaxed_reads) {
		c11_join(&self->relaxed_reads, message);
	} else {
		c11_copy(&self->relaxed_reads, message);
		self->has_relaxed_reads = true;
	}
}

void c11_receive(const struct c11_view *message, uint8_t order)
{
	if (message)
		views_view_receive(c11_self(), message, order);
}

void c11_receive_all(uint8_t order)
{
	struct c11_view newest = {0};

	for (uint32_t i = 0; i < c11.location_count; i++) {
		const struct c11_location *location = &c11.locations[i];

		if (location->bytes)
			newest.stamps[i] = location->stores[location->count - 1].stamp;
	}
	views_view_receive(c11_self(), &newest, order);
	robustness_receive(&newest);
}

static uint32_t views_view_of_object(object_name name)
{
	for (uint32_t i = 0, at = name; i < C11_OBJECTS; i++, at++)
		if (!c11.names[at % C11_OBJECTS] || c11.names[at % C11_OBJECTS] == name)
			return at % C11_OBJECTS;
	engine_note_feature(FEATURE_HISTORY_CUT);
	return name % C11_OBJECTS;
}

/* The view of an object: of a lock, or an address that an annotation names. */
static void views_view_join_object(object_name name, bool acquires, bool releases)
{
	struct c11_thread *self = c11_self();
	const uint32_t number = views_view_of_object(name);
	struct c11_view *view = &c11.objects[number];
	const bool is_used = c11.names[number];

	robustness_join_object(number, is_used, acquires, releases);
	self->path |= acquires ? c11.object_path : 0;
	c11.object_path |= releases ? self->path : 0;
	if (acquires && is_used)
		c11_join(&self->now, view);
	if (!releases)
		return;
	if (is_used)
		c11_join(view, &self->now);
	else
		c11_copy(view, &self->now);
	if (!is_used)
		c11.names[number] = name;
}

void c11_fence(const struct engine_op *op)
{
	struct c11_thread *self = c11_self();

	if (op->argument) {
		views_view_join_object(engine_object_name((const void *)(uintptr_t)op->argument),
			order_acquires(op->order), order_releases(op->order));
		return;
	}
	if (order_acquires(op->order) && self->has_relaxed_reads)
		c11_join(&self->now, &self->relaxed_reads);
	if (op->order == ORDER_SEQUENTIAL) {
		robustness_fence();
		c11_path_sequential(NULL);
		c11_join(&self->now, &c11.sequential);
		c11_copy(&c11.sequential, &self->now);
	}
	if (order_releases(op->order)) {
		c11_copy(&self->fenced, &self->now);
		self->has_fenced = true;
	}
}

void c11_fence_all(void)
{
	/* The first round gathers what the threads know, and the second one hands it out. */
	for (uint32_t i = 0; i < 2 * engine_thread_count(); i++) {
		struct c11_thread *thread = &c11.threads[i % engine_thread_count()];

		if (thread->has_relaxed_reads)
			c11_join(&thread->now, &thread->relaxed_reads);
		c11_join(&thread->now, &c11.sequential);
		c11_copy(&c11.sequential, &thread->now);
		c11_copy(&thread->fenced, &thread->now);
		thread->has_fenced = true;
	}
	robustness_fence_all();
}

static void views_view_synchronise_with_thread(const struct engine_op *op)
{
	const struct engine_thread *other = op->address;
	struct c11_view *view, *own = &c11_self()->now;

	if (!other || other == engine_current() || other->id.index >= C11_THREADS)
		return;
	view = &c11.threads[other->id.index].now;
	switch (op->kind) {
	case OP_THREAD_JOIN:
	case OP_THREAD_TRYJOIN:
		c11_join(own, view);
		c11_self()->path |= c11.threads[other->id.index].path;
		robustness_join_thread(engine_current()->id.index, other->id.index);
		return;
	case OP_THREAD_CANCEL:
	case OP_SIGNAL_SEND:
		c11_join(view, own);
		c11.threads[other->id.index].path |= c11_self()->path;
		robustness_join_thread(other->id.index, engine_current()->id.index);
		return;
	default:
		return;
	}
}

void c11_synchronise(const struct engine_op *op)
{
	const uint8_t flags = op_descriptions[op->kind].flags;
	const uint8_t class = op_descriptions[op->kind].object;

	if (!c11_is_on())
		return;
	if (class != OBJECT_MEMORY && op->kind != OP_FENCE)
		robustness_fence();
	switch ((enum object_class) class) {
	case OBJECT_NOTHING:
	case OBJECT_MEMORY:
		return;
	case OBJECT_THREAD:
		views_view_synchronise_with_thread(op);
		return;
	case OBJECT_COND: /* the wait releases the mutex */
		if (op->kind == OP_COND_WAIT)
			views_view_join_object(
				engine_object_name((const void *)(uintptr_t)op->argument), false,
				true);
		return;
	case OBJECT_FD: /* a poll does not say which descriptors are ready */
	case OBJECT_CHILD:
	case OBJECT_SIGNAL:
		views_view_join_object(class, true, true);
		return;
	default:
		break;
	}
	views_view_join_object(op->object ? op->object : engine_object_name(op->address),
		!(flags & OP_RELEASE), !(flags & OP_ACQUIRE));
}
