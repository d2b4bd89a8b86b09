/* Writes in sentences why two accesses have no happens-before order. */
#include <string.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* The last release of a mutex by `later` before the step, where `earlier` acquired that mutex
 * afterwards. Returns NULL if there is none. */
static const struct trace_event *cause_accesses_last_release(
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

/* Returns whether no thread held a lock, and the later one had read an atomic variable last: the
 * pointer of a lock-free structure. */
static bool cause_accesses_is_lock_free(const struct builder *builder)
{
	const struct finding *finding = builder->finding;
	const struct outcome *outcome = builder->source->outcome;

	if (finding->race[FINDING_EARLIER].held || finding->race[FINDING_LATER].held)
		return false;
	for (uint64_t i = builder->source->event_count; i-- > 0;) {
		const struct trace_event *event = &builder->source->events[i];

		if (event->thread != outcome->thread.index || event->kind == outcome->op)
			continue;
		return event->kind == OP_ATOMIC_LOAD || event->kind == OP_ATOMIC_UPDATE;
	}
	return false;
}

/* If the freed object belonged to a std::shared_ptr, adds the advice to copy and assign that shared_ptr under one lock,
 * because several threads may not do so at the same time. Returns false for other objects. `user` names the thread that
 * uses the object after the free, perhaps through a plain pointer; NULL if the failure is no such use. */
static bool cause_accesses_prevent_unshared(
	const struct builder *builder, const char *user, struct strbuf *remedy)
{
	const char *variable = builder->finding->variable;

	if (!variable || !strstr(variable, ")shared_ptr at "))
		return false;
	strbuf_adds(remedy, remedy->length ? ", or " : "");
	if (user)
		strbuf_addf(remedy,
			"let %s hold a copy of the shared_ptr; copy and assign it under one lock",
			user);
	else
		strbuf_adds(remedy, "copy and assign the shared_ptr under one lock");
	return true;
}

/* Both threads free: an order of theirs would not help. */
static void cause_accesses_prevent_second_free(const struct builder *builder, struct strbuf *remedy)
{
	const struct finding_frame *first =
		finding_user_frame(&builder->finding->race[FINDING_EARLIER].at);
	const struct finding_frame *second =
		finding_user_frame(&builder->finding->race[FINDING_LATER].at);

	if (cause_accesses_prevent_unshared(builder, NULL, remedy))
		return;
	builder_add_sentence(builder, remedy, "let one lock guard the free at {frame}", first);
	if (!builder_is_same_line(first, second))
		builder_add_sentence(builder, remedy, " and that at {frame}", second);
	strbuf_adds(remedy, ", from the test or read of the pointer up to its new value");
}

/* Returns the one of the two accesses that was made under a lock; NULL if both were, or neither. */
static const struct finding_access *cause_accesses_guarded(const struct finding *finding)
{
	const struct finding_access *earlier = &finding->race[FINDING_EARLIER];
	const struct finding_access *later = &finding->race[FINDING_LATER];

	if (!earlier->held == !later->held)
		return NULL;
	return earlier->held ? earlier : later;
}

/* Adds the free by a thread that ends the process. Returns false if the thread does not end it. */
static bool cause_accesses_add_freed_at_exit(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct outcome *outcome = builder->source->outcome;
	const struct finding_access *earlier = &builder->finding->race[FINDING_EARLIER];
	const struct finding_access *later = &builder->finding->race[FINDING_LATER];
	const uint64_t exit = builder_find_exit(builder);

	if (exit == NO_EVENT ||
		builder->source->events[exit].thread != outcome->other_thread.index ||
		builder->source->events[exit].step > outcome->other_step)
		return false;
	(void)builder_exit_cause(builder, cause, remedy);
	builder_mark_earlier(builder, 2);
	builder_mark_later(builder, 3);
	builder_add_sentence(builder, cause,
		"{text} freed the memory at {stack}\n{text} {text} it after that at {stack}\n",
		earlier->thread, &earlier->at, later->thread, later->verb, &later->at);
	return true;
}

/* Returns whether the first thread created the second one, by their paths, as main did main.0. Only then it is likely to
 * know the thread, and may join it. */
static bool cause_accesses_is_creator(const char *creator, const char *thread)
{
	const size_t length = strlen(creator);

	return !strncmp(creator, thread, length) && thread[length] == '.' &&
	       !strchr(thread + length + 1, '.');
}

/* Adds that the thread which frees or destroys has to wait for the user of the memory. */
static void cause_accesses_prevent_by_waiting(
	const struct builder *builder, const char *deed, struct strbuf *remedy)
{
	const struct finding_access *earlier = &builder->finding->race[FINDING_EARLIER];
	const struct finding_access *later = &builder->finding->race[FINDING_LATER];

	if (cause_accesses_is_creator(earlier->thread, later->thread))
		builder_add_sentence(builder, remedy, "{text} {text} before the {text} at {stack}",
			remedy->length ? ", or join" : "join", later->thread, deed, &earlier->at);
	else if (!remedy->length && builder->source->outcome->thread.index)
		builder_add_sentence(builder, remedy,
			"let {text} wait until {text} is done with it before the {text} at {stack}",
			earlier->thread, later->thread, deed, &earlier->at);
}

/* `release`: the unlock after which the other thread freed or destroyed it; NULL: none. */
static void cause_accesses_prevent_use(
	const struct builder *builder, const struct trace_event *release, struct strbuf *remedy)
{
	const struct outcome *outcome = builder->source->outcome;
	const struct finding_access *earlier = &builder->finding->race[FINDING_EARLIER];
	const struct finding_access *later = &builder->finding->race[FINDING_LATER];
	const bool is_destroyed = outcome_is_of_destroyed(outcome);
	const bool is_signal = outcome->op == OP_COND_SIGNAL || outcome->op == OP_COND_BROADCAST;
	const struct finding_access *guarded = cause_accesses_guarded(builder->finding);

	if (is_signal && release)
		builder_add_sentence(builder, remedy,
			"signal while the mutex is held, before the unlock at {location}", release);
	if (!is_signal && guarded == earlier)
		builder_add_sentence(builder, remedy,
			"hold {text}, from the read of the pointer to the use at {stack}",
			guarded->held, &later->at);
	if (is_signal || is_destroyed || guarded == earlier) {
		cause_accesses_prevent_by_waiting(
			builder, is_destroyed ? "destruction" : "free", remedy);
		return;
	}
	if (cause_accesses_is_creator(earlier->thread, later->thread))
		cause_accesses_prevent_by_waiting(builder, "free", remedy);
	if (cause_accesses_prevent_unshared(builder, later->thread, remedy))
		return;
	strbuf_adds(remedy, remedy->length ? ", or " : "");
	strbuf_adds(remedy,
		cause_accesses_is_lock_free(builder)
			? "free it when no thread can reach it any more (hazard pointers, epochs)"
			: "count references and take each under the lock of the pointer");
}

static void cause_accesses_add_freed(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;
	const struct outcome *outcome = builder->source->outcome;
	const struct finding_access *earlier = &finding->race[FINDING_EARLIER];
	const struct finding_access *later = &finding->race[FINDING_LATER];
	const bool is_destroyed = outcome_is_of_destroyed(outcome);
	const struct trace_event *release = NULL;
	const bool is_lost = outcome->other_site && !is_destroyed &&
			     builder_lost_count_cause(builder, cause, remedy);
	uint32_t line;

	if (!is_lost &&
		(!outcome->other_site || thread_same(outcome->thread, outcome->other_thread) ||
			cause_accesses_add_freed_at_exit(builder, cause, remedy)))
		return;
	if (!is_lost)
		release = cause_accesses_last_release(builder->source, outcome->thread.index,
			outcome->other_thread.index, outcome->other_step);
	if (release) {
		FREE_SCOPED char *mutex = builder_event_object(builder, release);

		builder_add_sentence(builder, cause,
			"{actor} unlocked {object} at {step}, and {text} locked it after that\n",
			release, mutex ? mutex : "a mutex", earlier->thread);
	}
	line = builder_next_line(cause);
	builder_mark_earlier(builder, line);
	builder_mark_later(builder, line + 1);
	builder_add_sentence(builder, cause,
		is_destroyed ? "{text} destroyed {object} at {stack}"
			     : "{text} freed {object} at {stack}",
		earlier->thread, is_destroyed ? finding->variable : "the memory", &earlier->at);
	if (!is_lost && cause_accesses_is_creator(earlier->thread, later->thread))
		strbuf_addf(cause, " without waiting for %s to end", later->thread);
	builder_add_sentence(builder, cause, "\n{text} {text} it after that at {stack}\n",
		later->thread, later->verb, &later->at);
	if (is_lost)
		return;
	if (finding->kind == OUTCOME_DOUBLE_FREE)
		cause_accesses_prevent_second_free(builder, remedy);
	else
		cause_accesses_prevent_use(builder, release, remedy);
}

/* C names of memory orders, indexed by the number in an event. */
static const char *const order_names[] = {"memory_order_relaxed", "memory_order_consume",
	"memory_order_acquire", "memory_order_release", "memory_order_acq_rel",
	"memory_order_seq_cst"};

/* A write to an atomic variable, and the read that returned its value. */
struct handover {
	const struct trace_event *write, *read;
};

/*
 * An atomic variable that the earlier thread wrote after its access and the later one read before
 * its own. It orders them only if the write releases and the read acquires.
 */
static struct handover cause_accesses_find_handover(const struct finding_source *source)
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

static void cause_accesses_add_atomic(const struct builder *builder,
	const struct trace_event *event, const char *object, struct strbuf *out)
{
	builder_add_sentence(builder, out, "{actor} {text} {object} at {step} with {text}\n", event,
		op_descriptions[event->kind].verb, object,
		order_names[event->order % (sizeof order_names / sizeof *order_names)]);
}

/* Adds an access with the locks that its thread holds. */
static void cause_accesses_add_held(const struct builder *builder,
	const struct finding_access *access, const char *variable, struct strbuf *cause)
{
	builder_add_sentence(builder, cause, "{text} {text} {object} at {stack}, holding {text}\n",
		access->thread, access->verb, variable, &access->at,
		access->held ? access->held : "no lock");
}

/* Adds which locks the threads of two racing accesses held. Adds nothing if they held none. */
static void cause_accesses_add_locks(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;
	const struct finding_access *earlier = &finding->race[FINDING_EARLIER];
	const struct finding_access *later = &finding->race[FINDING_LATER];
	const struct finding_access *guarded = cause_accesses_guarded(finding);
	const struct finding_access *other = guarded == earlier ? later : earlier;
	FREE_SCOPED char *variable = NULL;

	if (!earlier->held && !later->held)
		return;
	variable = builder_race_variable(builder, true);
	cause_accesses_add_held(builder, earlier, variable, cause);
	cause_accesses_add_held(builder, later, NULL, cause);
	if (guarded)
		builder_add_sentence(builder, remedy,
			"hold {text} also when {text} {text} it at {stack}", guarded->held,
			other->thread, other->verb, &other->at);
	else
		strbuf_adds(remedy, "let one lock guard both accesses");
}

static void cause_accesses_add_race(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct handover handover = cause_accesses_find_handover(builder->source);
	FREE_SCOPED char *object = NULL;

	if (!handover.read ||
		(order_releases(handover.write->order) && order_acquires(handover.read->order))) {
		builder_mark_earlier(builder, 1);
		builder_mark_later(builder, 2);
		cause_accesses_add_locks(builder, cause, remedy);
		return;
	}
	object = builder_event_object(builder, handover.write);
	if (!object)
		return;
	cause_accesses_add_atomic(builder, handover.write, object, cause);
	cause_accesses_add_atomic(builder, handover.read, object, cause);
	strbuf_adds(cause,
		"these orders do not make the accesses before the write visible behind the read");
	if (!order_releases(handover.write->order))
		builder_add_sentence(builder, remedy,
			"write {object} with memory_order_release at {location}", object,
			handover.write);
	if (!order_acquires(handover.read->order))
		builder_add_sentence(builder, remedy,
			remedy->length
				? ", and read {object} with memory_order_acquire at {location}"
				: "read {object} with memory_order_acquire at {location}",
			remedy->length ? NULL : object, handover.read);
}

void builder_accesses_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	if (builder->finding->kind == OUTCOME_RACE)
		cause_accesses_add_race(builder, cause, remedy);
	else
		cause_accesses_add_freed(builder, cause, remedy);
}
