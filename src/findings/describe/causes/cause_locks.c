/* Writes in sentences why threads deadlock. */
#include <string.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

static const struct wait_edge *cause_locks_edge(
	const struct builder *builder, const struct finding_wait *wait)
{
	return &builder->source->outcome->waits[wait - builder->finding->waits];
}

/* The event at which the holder of an object that another thread waits for acquired it, or NO_EVENT if the trace lacks it. */
static uint64_t cause_locks_find_acquisition(
	const struct builder *builder, const struct finding_wait *wait)
{
	const struct trace_event *events = builder->source->events;
	const struct wait_edge *edge = cause_locks_edge(builder, wait);

	for (uint64_t i = builder->source->event_count; i-- > 0;)
		if (events[i].address == edge->object_address &&
			events[i].thread == edge->holder.index &&
			(op_descriptions[events[i].kind].flags & OP_ACQUIRE ||
				events[i].kind == OP_ONCE_ENTER || events[i].kind == OP_SEM_WAIT))
			return i;
	return NO_EVENT;
}

/* The wait on the cycle whose thread needs an object that the thread of `wait` holds; returns NULL
 * if there is none. */
static const struct finding_wait *cause_locks_wanted_from(
	const struct builder *builder, const struct finding_wait *wait)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++)
		if (finding->waits[i].is_on_cycle && finding->waits[i].holder &&
			!strcmp(finding->waits[i].holder, wait->thread))
			return &finding->waits[i];
	return NULL;
}

static bool cause_locks_is_lock(const struct builder *builder, const struct finding_wait *wait)
{
	return op_descriptions[cause_locks_edge(builder, wait)->op].flags & OP_ACQUIRE &&
	       wait->object;
}

/* A semaphore that a thread has taken, so that it is used as a lock. */
static bool cause_locks_is_semaphore(const struct builder *builder, const struct finding_wait *wait)
{
	return cause_locks_edge(builder, wait)->op == OP_SEM_WAIT && wait->object;
}

/* A once control is held while its routine runs. */
static bool cause_locks_is_once(const struct builder *builder, const struct finding_wait *wait)
{
	return cause_locks_edge(builder, wait)->op == OP_ONCE_ENTER && wait->object;
}

/* Adds where a thread acquired a lock. The location is not known if the thread acquired the lock
 * before it created the first other thread. */
static void cause_locks_add_since(
	const struct builder *builder, const struct finding_frame *held_since, struct strbuf *out)
{
	if (held_since->function)
		builder_add_sentence(builder, out, " at {frame}", held_since);
}

/* Adds one edge of a cycle: "main.0 locked mutex a at x.c:10 and waits for mutex b at x.c:11". */
static void cause_locks_add_link(const struct builder *builder, const struct finding_wait *wait,
	const struct finding_wait *wanted, struct strbuf *out)
{
	strbuf_adds(out, wait->thread);
	if (cause_locks_edge(builder, wanted)->op != OP_THREAD_JOIN) {
		builder_mark_cause(builder, cause_locks_find_acquisition(builder, wanted), out);
		builder_add_sentence(builder, out,
			cause_locks_is_once(builder, wanted) ? " entered {object}"
							     : " took {object}",
			wanted->object);
		cause_locks_add_since(builder, &wanted->held_since, out);
		strbuf_adds(out, " and");
	}
	if (cause_locks_edge(builder, wait)->op == OP_THREAD_JOIN)
		strbuf_addf(out, " waits for %s to end", wait->holder);
	else
		builder_add_sentence(builder, out,
			cause_locks_is_once(builder, wait)
				? " waits for {object}, whose routine {text} runs"
				: " waits for {object}, which {text} holds",
			wait->object, wait->holder);
	builder_add_sentence(builder, out, ", at {stack}\n", &wait->at);
}

static uint32_t cause_locks_count(const struct builder *builder, uint64_t first, uint64_t second)
{
	const struct finding_source *source = builder->source;
	FREE_SCOPED bool *holds = array_new(source->thread_count + 1u, sizeof *holds);
	uint32_t count = 0;

	for (uint64_t i = 0; i < source->event_count; i++) {
		const struct trace_event *event = &source->events[i];
		const uint8_t flags = op_descriptions[event->kind].flags;

		if (event->address == first && flags & (OP_ACQUIRE | OP_RELEASE))
			holds[event->thread] = flags & OP_ACQUIRE;
		count += event->address == second && flags & OP_ACQUIRE && holds[event->thread];
	}
	return count;
}

/*
 * Finds the thread that should change its order of locks. This is a thread that joins while it
 * holds a lock. If no thread joins, it is the thread whose order this run followed least often, the
 * last such in the cycle.
 */
static const struct finding_wait *cause_locks_find_odd(const struct builder *builder)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *odd = NULL;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		const struct finding_wait *wanted =
			wait->is_on_cycle ? cause_locks_wanted_from(builder, wait) : NULL;
		uint32_t count;

		if (!wanted || !cause_locks_is_lock(builder, wanted))
			continue;
		if (cause_locks_edge(builder, wait)->op == OP_THREAD_JOIN)
			return wait;
		count = cause_locks_count(builder,
			cause_locks_edge(builder, wanted)->object_address,
			cause_locks_edge(builder, wait)->object_address);
		if (!cause_locks_is_lock(builder, wait) || count > least)
			continue;
		least = count;
		odd = wait;
	}
	return odd;
}

bool builder_is_same_line(const struct finding_frame *a, const struct finding_frame *b)
{
	return a && b && a->file && b->file && a->line == b->line && !strcmp(a->file, b->file);
}

/* Returns whether all threads of the cycle execute the same lines, so that only the objects that
 * they lock differ. */
static bool cause_locks_has_one_code(const struct builder *builder, const struct finding_wait *odd)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (wait->is_on_cycle &&
			(!cause_locks_is_lock(builder, wait) ||
				!builder_is_same_line(finding_user_frame(&wait->at),
					finding_user_frame(&odd->at)) ||
				!builder_is_same_line(&wait->held_since, &odd->held_since)))
			return false;
	}
	return true;
}

static void cause_locks_add_remedy(const struct builder *builder, struct strbuf *out)
{
	const struct finding_wait *odd = cause_locks_find_odd(builder);
	const struct finding_wait *wanted = odd ? cause_locks_wanted_from(builder, odd) : NULL;

	if (!wanted)
		return;
	if (cause_locks_edge(builder, odd)->op == OP_THREAD_JOIN) {
		builder_add_sentence(builder, out,
			"release {object} (taken at {frame}) before the join at {stack}",
			wanted->object, &wanted->held_since, &odd->at);
		return;
	}
	if (cause_locks_has_one_code(builder, odd)) {
		builder_add_sentence(builder, out, "lock the objects at {frame}", &odd->held_since);
		if (!builder_is_same_line(&odd->held_since, finding_user_frame(&odd->at)))
			builder_add_sentence(builder, out, " and {stack}", &odd->at);
		strbuf_adds(out,
			" in an order that is the same in all threads, such as that of their addresses");
		return;
	}
	builder_add_sentence(builder, out,
		"take {object} ({stack}) before {object} ({frame}) in {text}: then all threads take them in one order",
		odd->object, &odd->at, wanted->object, &wanted->held_since, odd->thread);
}

/* The wait on the cycle whose thread acquired its object first, so that the cause is in the order of time; NULL if there is no cycle. */
static const struct finding_wait *cause_locks_find_first(const struct builder *builder)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *first = NULL;
	uint64_t earliest = NO_EVENT;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		const struct finding_wait *wanted =
			wait->is_on_cycle ? cause_locks_wanted_from(builder, wait) : NULL;
		const uint64_t event =
			wanted ? cause_locks_find_acquisition(builder, wanted) : NO_EVENT;

		if (wait->is_on_cycle && (!first || event < earliest)) {
			first = wait;
			earliest = event;
		}
	}
	return first;
}

static bool cause_locks_add_cycle(const struct builder *builder, struct strbuf *cause)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *const first = cause_locks_find_first(builder);
	const struct finding_wait *wait;
	uint32_t hops = 0;

	for (wait = first; wait && hops <= finding->wait_count; hops++) {
		const struct finding_wait *wanted = cause_locks_wanted_from(builder, wait);

		if (!wanted || !wanted->object)
			break;
		cause_locks_add_link(builder, wait, wanted, cause);
		wait = finding_wait_of(finding, wait->holder);
		if (wait == first)
			break;
	}
	return first != NULL;
}

static void cause_locks_add_release(
	const struct builder *builder, const struct finding_wait *wait, struct strbuf *remedy)
{
	builder_add_sentence(builder, remedy,
		"release it on every path after {frame}, also where it throws, returns early or is cancelled",
		&wait->held_since);
}

static bool cause_locks_add_gone(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (!wait->holder || cause_locks_edge(builder, wait)->is_in_child ||
			!(cause_locks_is_lock(builder, wait) ||
				cause_locks_is_semaphore(builder, wait)) ||
			finding_wait_of(finding, wait->holder))
			continue;
		builder_mark_cause(builder, cause_locks_find_acquisition(builder, wait), cause);
		builder_add_sentence(builder, cause,
			"{text} took {object} at {frame} and ended without releasing it\n"
			"{text} waits for it at {stack}",
			wait->holder, wait->object, &wait->held_since, wait->thread, &wait->at);
		cause_locks_add_release(builder, wait, remedy);
		return true;
	}
	return false;
}

/* Adds that a forked child waits for a lock that another thread of its parent held. */
static bool cause_locks_add_forked(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		const struct wait_edge *edge = cause_locks_edge(builder, wait);

		if (!edge->is_in_child || !wait->held_since.module ||
			thread_same(edge->holder, edge->waiter) ||
			!cause_locks_is_lock(builder, wait))
			continue;
		builder_add_sentence(builder, cause,
			"{thread} took {object} at {frame} and held it when {thread} forked\n"
			"{text} waits for its copy of the lock at {stack}, and has no thread that could release it\n",
			edge->holder, wait->object, &wait->held_since, edge->waiter, wait->thread,
			&wait->at);
		builder_add_sentence(builder, remedy,
			"fork before other threads start, or take {object} around fork with pthread_atfork(), or let the child call only async-signal-safe functions before exec",
			wait->object);
		return true;
	}
	return false;
}

/* Adds that a thread holds a lock that others need, while that thread waits for a signal. */
static void cause_locks_add_nested(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *waiter = &finding->waits[builder->culprit];

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (!wait->holder || strcmp(wait->holder, waiter->thread) || !waiter->object ||
			!cause_locks_is_lock(builder, wait))
			continue;
		builder_mark_cause(builder, cause_locks_find_acquisition(builder, wait), cause);
		builder_add_sentence(builder, cause,
			"{text} took {object} at {frame} and holds it while it waits on {object} at {stack}\n"
			"{text} needs {object} at {stack}, and no other thread is left to signal\n",
			waiter->thread, wait->object, &wait->held_since, waiter->object,
			&waiter->at, wait->thread, wait->object, &wait->at);
		builder_add_sentence(builder, remedy, "release {object} before the wait at {stack}",
			wait->object, &waiter->at);
		return;
	}
}

void builder_never_signalled_cause(const struct builder *builder, struct strbuf *cause)
{
	const struct finding_wait *wait;

	if (builder->finding->kind != OUTCOME_DEADLOCK || builder->culprit == UINT32_MAX ||
		builder->signals.signal != NO_EVENT)
		return;
	wait = &builder->finding->waits[builder->culprit];
	builder_add_sentence(builder, cause,
		"{text} waits on {object} at {stack}, which no thread signals\n", wait->thread,
		wait->object, &wait->at);
}

/* A reader may take its read-write lock twice, unless the lock prefers writers and one waits. */
static void cause_locks_add_writer(
	const struct builder *builder, const struct finding_wait *wait, struct strbuf *cause)
{
	const struct finding *finding = builder->finding;
	const struct wait_edge *edge = cause_locks_edge(builder, wait);

	for (uint32_t i = 0; edge->op == OP_RWLOCK_RDLOCK && i < finding->wait_count; i++) {
		const struct wait_edge *other = &builder->source->outcome->waits[i];

		if (other->op != OP_RWLOCK_WRLOCK || other->object_address != edge->object_address)
			continue;
		builder_add_sentence(builder, cause,
			"\n{text} waits to write at {stack}, and the lock admits no reader before it",
			finding->waits[i].thread, &finding->waits[i].at);
		return;
	}
}

/* Adds that a thread waits for a lock that it holds itself, or for a routine that it runs. */
static void cause_locks_add_self(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;
	bool is_once = false, is_in_handler = false;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		is_once = cause_locks_is_once(builder, wait);
		is_in_handler = cause_locks_edge(builder, wait)->is_in_handler;
		if (!wait->holder || strcmp(wait->holder, wait->thread) ||
			!(is_once || cause_locks_is_lock(builder, wait) ||
				cause_locks_is_semaphore(builder, wait)))
			continue;
		builder_mark_cause(builder, cause_locks_find_acquisition(builder, wait), cause);
		builder_add_sentence(builder, cause,
			is_once ? "{text} entered {object}" : "{text} took {object}", wait->thread,
			wait->object);
		cause_locks_add_since(builder, &wait->held_since, cause);
		builder_add_sentence(builder, cause,
			"\n{text} waits for the same {text} at {stack}", wait->thread,
			is_once						     ? "routine"
			: cause_locks_edge(builder, wait)->op == OP_SEM_WAIT ? "semaphore"
									     : "lock",
			&wait->at);
		strbuf_addf(cause,
			is_in_handler
				? ", in a signal handler that interrupted it before it had %s it"
				: ", before it has %s it",
			is_once ? "completed" : "released");
		cause_locks_add_writer(builder, &finding->waits[i], cause);
		if (cause_locks_is_semaphore(builder, wait)) {
			cause_locks_add_release(builder, wait, remedy);
			return;
		}
		break;
	}
	strbuf_adds(remedy,
		is_in_handler
			? "take no lock in a signal handler: set a flag or write to a pipe there, or block the signal while the lock is held"
		: is_once
			? "let the routine not call what waits for the same routine"
			: "release the lock first, or call a variant of the function for callers that hold it");
}

void builder_deadlock_cause(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	if (builder->finding->kind == OUTCOME_SELF_DEADLOCK || builder_waits_for_itself(builder))
		cause_locks_add_self(builder, cause, remedy);
	else if (cause_locks_add_cycle(builder, cause))
		cause_locks_add_remedy(builder, remedy);
	else if (!cause_locks_add_forked(builder, cause, remedy) &&
		 !cause_locks_add_gone(builder, cause, remedy) &&
		 !builder_barrier_cause(builder, cause, remedy) && builder->culprit != UINT32_MAX)
		cause_locks_add_nested(builder, cause, remedy);
}
