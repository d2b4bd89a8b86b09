/* Writes in sentences why threads deadlock, and why two accesses have no happens-before order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "findings/describe/build_internal.h"

static void cause_orders_add_short(const char *object, struct strbuf *out)
{
	strbuf_addf(out, "%.*s", finding_short_name(object), object);
}

static void cause_orders_add_frame(
	const char *before, const struct finding_frame *frame, struct strbuf *out)
{
	strbuf_adds(out, before);
	frame_place(frame, out);
}

static const struct wait_edge *cause_orders_edge(
	const struct builder *builder, const struct finding_wait *wait)
{
	return &builder->source->outcome->waits[wait - builder->finding->waits];
}

/* The event at which the holder of an object that another thread waits for acquired it; NO_EVENT if the trace lacks it. */
static uint64_t cause_orders_find_acquisition(
	const struct builder *builder, const struct finding_wait *wait)
{
	const struct trace_event *events = builder->source->events;
	const struct wait_edge *edge = cause_orders_edge(builder, wait);

	for (uint64_t i = builder->source->event_count; i-- > 0;)
		if (events[i].address == edge->object_address &&
			events[i].thread == edge->holder.index &&
			op_descriptions[events[i].kind].flags & OP_ACQUIRE)
			return i;
	return NO_EVENT;
}

/* The wait on the cycle whose thread needs an object that the thread of `wait` holds; returns NULL
 * if there is none. */
static const struct finding_wait *cause_orders_wanted_from(
	const struct builder *builder, const struct finding_wait *wait)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++)
		if (finding->waits[i].is_on_cycle && finding->waits[i].holder &&
			!strcmp(finding->waits[i].holder, wait->thread))
			return &finding->waits[i];
	return NULL;
}

static bool cause_orders_is_lock(const struct builder *builder, const struct finding_wait *wait)
{
	return op_descriptions[cause_orders_edge(builder, wait)->op].flags & OP_ACQUIRE &&
	       wait->object;
}

/* Adds one edge of a cycle: "main.0 locked mutex a at x.c:10 and waits for mutex b at x.c:11". */
static void cause_orders_add_link(const struct builder *builder, const struct finding_wait *wait,
	const struct finding_wait *wanted, struct strbuf *out)
{
	strbuf_adds(out, wait->thread);
	if (cause_orders_edge(builder, wanted)->op != OP_THREAD_JOIN) {
		builder_mark_cause(builder, cause_orders_find_acquisition(builder, wanted), out);
		strbuf_adds(out, " took ");
		cause_orders_add_short(wanted->object, out);
		cause_orders_add_frame(" at ", &wanted->held_since, out);
		strbuf_adds(out, " and");
	}
	if (cause_orders_edge(builder, wait)->op == OP_THREAD_JOIN)
		strbuf_addf(out, " waits for %s to end", wait->holder);
	else {
		strbuf_adds(out, " waits for ");
		cause_orders_add_short(wait->object, out);
		strbuf_addf(out, ", which %s holds", wait->holder);
	}
	cause_orders_add_frame(", at ", finding_user_frame(&wait->at), out);
	strbuf_adds(out, "\n");
}

static uint32_t cause_orders_count(const struct builder *builder, uint64_t first, uint64_t second)
{
	const struct finding_source *source = builder->source;
	bool *holds = array_new(source->thread_count + 1u, sizeof *holds);
	uint32_t count = 0;

	for (uint64_t i = 0; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];
		const uint8_t flags = op_descriptions[event->kind].flags;

		if (event->address == first && flags & (OP_ACQUIRE | OP_RELEASE))
			holds[event->thread] = flags & OP_ACQUIRE;
		count += event->address == second && flags & OP_ACQUIRE && holds[event->thread];
	}
	free(holds);
	return count;
}

/*
 * Finds the thread that should change its order of locks. This is a thread that joins while it
 * holds a lock. If no thread joins, it is the thread whose order this run followed least often, the
 * last such in the cycle.
 */
static const struct finding_wait *cause_orders_find_odd(const struct builder *builder)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *odd = NULL;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		const struct finding_wait *wanted =
			wait->is_on_cycle ? cause_orders_wanted_from(builder, wait) : NULL;
		uint32_t count;

		if (!wanted || !cause_orders_is_lock(builder, wanted))
			continue;
		if (cause_orders_edge(builder, wait)->op == OP_THREAD_JOIN)
			return wait;
		count = cause_orders_count(builder,
			cause_orders_edge(builder, wanted)->object_address,
			cause_orders_edge(builder, wait)->object_address);
		if (!cause_orders_is_lock(builder, wait) || count > least)
			continue;
		least = count;
		odd = wait;
	}
	return odd;
}

static void cause_orders_add_remedy(const struct builder *builder, struct strbuf *out)
{
	const struct finding_wait *odd = cause_orders_find_odd(builder);
	const struct finding_wait *wanted = odd ? cause_orders_wanted_from(builder, odd) : NULL;

	if (!wanted)
		return;
	if (cause_orders_edge(builder, odd)->op == OP_THREAD_JOIN) {
		strbuf_adds(out, "release ");
		cause_orders_add_short(wanted->object, out);
		cause_orders_add_frame(" (taken at ", &wanted->held_since, out);
		cause_orders_add_frame(") before the join at ", finding_user_frame(&odd->at), out);
		return;
	}
	strbuf_adds(out, "take ");
	cause_orders_add_short(odd->object, out);
	cause_orders_add_frame(" (", finding_user_frame(&odd->at), out);
	strbuf_adds(out, ") before ");
	cause_orders_add_short(wanted->object, out);
	cause_orders_add_frame(" (", &wanted->held_since, out);
	strbuf_addf(out, ") in %s: then all threads take them in one order", odd->thread);
}

/* The wait on the cycle whose thread acquired its object first, so that the cause is in the order of time; NULL if there is no cycle. */
static const struct finding_wait *cause_orders_find_first(const struct builder *builder)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *first = NULL;
	uint64_t earliest = NO_EVENT;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		const struct finding_wait *wanted =
			wait->is_on_cycle ? cause_orders_wanted_from(builder, wait) : NULL;
		const uint64_t event =
			wanted ? cause_orders_find_acquisition(builder, wanted) : NO_EVENT;

		if (wait->is_on_cycle && (!first || event < earliest)) {
			first = wait;
			earliest = event;
		}
	}
	return first;
}

static bool cause_orders_add_cycle(const struct builder *builder, struct strbuf *cause)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *const first = cause_orders_find_first(builder);
	const struct finding_wait *wait;
	uint32_t hops = 0;

	for (wait = first; wait && hops <= finding->wait_count; hops++) {
		const struct finding_wait *wanted = cause_orders_wanted_from(builder, wait);

		if (!wanted || !wanted->object)
			break;
		cause_orders_add_link(builder, wait, wanted, cause);
		wait = finding_wait_of(finding, wait->holder);
		if (wait == first)
			break;
	}
	return first != NULL;
}

static bool cause_orders_add_gone(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (!wait->holder || cause_orders_edge(builder, wait)->is_in_child ||
			!cause_orders_is_lock(builder, wait) ||
			finding_wait_of(finding, wait->holder))
			continue;
		builder_mark_cause(builder, cause_orders_find_acquisition(builder, wait), cause);
		strbuf_addf(cause, "%s took ", wait->holder);
		cause_orders_add_short(wait->object, cause);
		cause_orders_add_frame(" at ", &wait->held_since, cause);
		strbuf_addf(
			cause, " and ended without releasing it\n%s waits for it", wait->thread);
		cause_orders_add_frame(" at ", finding_user_frame(&wait->at), cause);
		strbuf_adds(remedy, "release it on every path");
		cause_orders_add_frame(" after ", &wait->held_since, remedy);
		strbuf_adds(remedy, ", also where the thread is cancelled");
		return true;
	}
	return false;
}

/* Adds that a thread holds a lock that others need, while that thread waits for a signal. */
static void cause_orders_add_nested(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *waiter = &finding->waits[builder->culprit];

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (!wait->holder || strcmp(wait->holder, waiter->thread) || !waiter->object ||
			!cause_orders_is_lock(builder, wait))
			continue;
		builder_mark_cause(builder, cause_orders_find_acquisition(builder, wait), cause);
		strbuf_addf(cause, "%s took ", waiter->thread);
		cause_orders_add_short(wait->object, cause);
		cause_orders_add_frame(" at ", &wait->held_since, cause);
		strbuf_adds(cause, " and holds it while it waits on ");
		cause_orders_add_short(waiter->object, cause);
		cause_orders_add_frame(" at ", finding_user_frame(&waiter->at), cause);
		strbuf_addf(cause, "\n%s needs ", wait->thread);
		cause_orders_add_short(wait->object, cause);
		cause_orders_add_frame(" at ", finding_user_frame(&wait->at), cause);
		strbuf_adds(cause, ", and no other thread is left to signal\n");
		strbuf_adds(remedy, "release ");
		cause_orders_add_short(wait->object, remedy);
		cause_orders_add_frame(
			" before the wait at ", finding_user_frame(&waiter->at), remedy);
		return;
	}
	if (builder->signals.signal == NO_EVENT) {
		cause_orders_add_short(waiter->object ? waiter->object : "it", cause);
		strbuf_addf(cause, ", on which %s waits", waiter->thread);
		cause_orders_add_frame(" at ", finding_user_frame(&waiter->at), cause);
		strbuf_adds(cause, ", was never signalled in this run\n");
	}
}

/* Adds that a thread waits for a lock that it holds itself. */
static void cause_orders_add_self(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (!wait->holder || strcmp(wait->holder, wait->thread) ||
			!cause_orders_is_lock(builder, wait))
			continue;
		builder_mark_cause(builder, cause_orders_find_acquisition(builder, wait), cause);
		strbuf_addf(cause, "%s took ", wait->thread);
		cause_orders_add_short(wait->object, cause);
		cause_orders_add_frame(" at ", &wait->held_since, cause);
		strbuf_addf(cause, "\n%s waits for the same lock", wait->thread);
		cause_orders_add_frame(" at ", finding_user_frame(&wait->at), cause);
		strbuf_adds(cause, ", before it has released it");
		break;
	}
	strbuf_adds(remedy, "release the lock first, or call a variant of the function for "
			    "callers that hold it");
}

void builder_deadlock_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	if (builder->finding->kind == OUTCOME_SELF_DEADLOCK)
		cause_orders_add_self(builder, cause, remedy);
	else if (cause_orders_add_cycle(builder, cause))
		cause_orders_add_remedy(builder, remedy);
	else if (!cause_orders_add_gone(builder, cause, remedy) &&
		 !builder_barrier_cause(builder, cause, remedy) && builder->culprit != UINT32_MAX)
		cause_orders_add_nested(builder, cause, remedy);
}

/* The last release of a mutex by `later` before the step, where `earlier` acquired that mutex
 * afterwards. Returns NULL if there is none. */
static const struct trace_event *cause_orders_last_release(
	const struct finding_source *source, uint16_t later, uint16_t earlier, uint64_t step)
{
	const struct trace_event *release = NULL, *found = NULL;

	for (uint64_t i = 0; i < source->event_count && source->events[i].step < step; i++) {
		const struct trace_event *event = &source->events[i];

		if (event->thread == later && event->kind == OP_MUTEX_UNLOCK)
			release = event;
		else if (release && event->thread == earlier && event->kind == OP_MUTEX_LOCK &&
			 event->address == release->address)
			found = release;
	}
	return found;
}

/* Marks the step of the later access, the last of its thread. The trace lacks an access that was prevented. */
static void cause_orders_mark_later(const struct builder *builder, uint32_t line)
{
	const struct outcome *outcome = builder->source->outcome;

	for (uint64_t i = builder->source->event_count; i-- > 0;) {
		const struct trace_event *event = &builder->source->events[i];

		if (event->thread != outcome->thread.index)
			continue;
		if (event->kind == outcome->op)
			builder_mark_step(builder, i, line);
		return;
	}
}

static void cause_orders_add_freed(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;
	const struct outcome *outcome = builder->source->outcome;
	const struct finding_access *earlier = &finding->race[FINDING_EARLIER];
	const struct finding_access *later = &finding->race[FINDING_LATER];
	const bool is_signal = outcome->op == OP_COND_SIGNAL || outcome->op == OP_COND_BROADCAST;
	const struct trace_event *release;
	char *mutex;

	if (!outcome->other_site || thread_same(outcome->thread, outcome->other_thread))
		return;
	release = cause_orders_last_release(builder->source, outcome->thread.index,
		outcome->other_thread.index, outcome->other_step);
	if (release) {
		builder_mark_cause(builder, (uint64_t)(release - builder->source->events), cause);
		mutex = builder_event_object(builder, release);
		strbuf_addf(cause, "%s unlocked ", later->thread);
		cause_orders_add_short(mutex ? mutex : "a mutex", cause);
		free(mutex);
		strbuf_adds(cause, " at ");
		builder_add_event_place(builder, release, cause);
		strbuf_addf(cause, ", and %s locked it after that\n", earlier->thread);
	}
	builder_mark_step(builder, builder_find_earlier(builder), release ? 2 : 1);
	cause_orders_mark_later(builder, release ? 3 : 2);
	strbuf_addf(cause, "%s freed the memory", earlier->thread);
	cause_orders_add_frame(" at ", finding_user_frame(&earlier->at), cause);
	strbuf_addf(cause, " without waiting for %s to end", later->thread);
	strbuf_addf(cause, "\n%s %s it after that", later->thread, later->verb);
	cause_orders_add_frame(" at ", finding_user_frame(&later->at), cause);
	strbuf_adds(cause, "\n");
	if (is_signal && release) {
		strbuf_adds(remedy, "signal while the mutex is held, before the unlock at ");
		builder_add_event_place(builder, release, remedy);
	}
	strbuf_addf(remedy, "%s %s before the free", remedy->length ? ", or join" : "join",
		later->thread);
	cause_orders_add_frame(" at ", finding_user_frame(&earlier->at), remedy);
	if (!is_signal) /* a shared_ptr counts references, but is itself no atomic variable */
		strbuf_adds(remedy,
			finding->variable && strstr(finding->variable, ")shared_ptr at ")
				? ", or copy and assign the shared_ptr under one lock"
				: ", or count references and take each under the lock of the pointer");
}

/* C names of memory orders, indexed by the number in an event. */
static const char *const order_names[] = {"memory_order_relaxed", "memory_order_consume",
	"memory_order_acquire", "memory_order_release", "memory_order_acq_rel",
	"memory_order_seq_cst"};

static bool cause_orders_releases(const struct trace_event *event)
{
	return event->order >= 3;
}

static bool cause_orders_acquires(const struct trace_event *event)
{
	return event->order == 2 || event->order >= 4;
}

/* A write to an atomic variable, and the read that returned its value. */
struct handover {
	const struct trace_event *write, *read;
};

/*
 * An atomic variable that the earlier thread wrote after its access and the later one read before
 * its own. It orders them only if the write releases and the read acquires.
 */
static struct handover cause_orders_find_handover(const struct finding_source *source)
{
	const struct outcome *outcome = source->outcome;
	struct handover found = {.write = NULL};

	for (uint64_t i = 0; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];
		const bool is_update = event->kind == OP_ATOMIC_UPDATE;

		if (event->thread == outcome->other_thread.index &&
			event->step >= outcome->other_step && !found.read &&
			(event->kind == OP_ATOMIC_STORE || is_update))
			found.write = event;
		if (event->thread == outcome->thread.index && found.write &&
			event->address == found.write->address &&
			(event->kind == OP_ATOMIC_LOAD || is_update))
			found.read = event;
	}
	return found;
}

static void cause_orders_add_atomic(const struct builder *builder, const struct trace_event *event,
	const char *object, struct strbuf *out)
{
	builder_mark_cause(builder, (uint64_t)(event - builder->source->events), out);
	strbuf_addf(out, "%s %s %s", builder_thread(builder, (struct thread_id){event->thread}),
		op_descriptions[event->kind].verb, object);
	strbuf_adds(out, " at ");
	builder_add_event_place(builder, event, out);
	strbuf_addf(out, " with %s\n",
		order_names[event->order % (sizeof order_names / sizeof *order_names)]);
}

static void cause_orders_add_race(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct handover handover = cause_orders_find_handover(builder->source);
	char *object;

	if (!handover.read ||
		(cause_orders_releases(handover.write) && cause_orders_acquires(handover.read))) {
		builder_mark_step(builder, builder_find_earlier(builder), 1);
		cause_orders_mark_later(builder, 2);
		return;
	}
	object = builder_event_object(builder, handover.write);
	if (!object)
		return;
	object[finding_short_name(object)] = '\0';
	cause_orders_add_atomic(builder, handover.write, object, cause);
	cause_orders_add_atomic(builder, handover.read, object, cause);
	strbuf_adds(cause,
		"these orders do not make the accesses before the write visible behind the read");
	if (!cause_orders_releases(handover.write)) {
		strbuf_addf(remedy, "write %s with memory_order_release at ", object);
		builder_add_event_place(builder, handover.write, remedy);
	}
	if (!cause_orders_acquires(handover.read)) {
		strbuf_addf(remedy, "%s%s with memory_order_acquire at ",
			remedy->length ? ", and read " : "read ", remedy->length ? "it" : object);
		builder_add_event_place(builder, handover.read, remedy);
	}
	free(object);
}

void builder_accesses_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	if (builder->finding->kind == OUTCOME_RACE)
		cause_orders_add_race(builder, cause, remedy);
	else
		cause_orders_add_freed(builder, cause, remedy);
}
