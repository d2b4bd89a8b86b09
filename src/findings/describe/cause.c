/*
 * Writes what led to a failure and what prevents it, from the trace of the failing run; here why a
 * signal of a condition variable did not end the wait that it was meant for.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "findings/describe/build_internal.h"

void builder_add_short_name(const char *object, struct strbuf *out)
{
	strbuf_addf(out, "%.*s", finding_short_name(object), object);
}

void builder_add_frame(const char *before, const struct finding_frame *frame, struct strbuf *out)
{
	strbuf_adds(out, before);
	frame_place(frame, out);
}

/* The events that explain a lost wake-up, as indices into the trace, and the names of their objects. */
struct signals_story {
	const struct builder *builder;
	const struct signal_history *signals;
	const struct trace_event *events;
	char *cond, *mutex, *variable; /* short names; owned; mutex and variable may be NULL */
	const char *waiter, *signaller;
};

static char *cause_story_object(const struct builder *builder, const struct trace_event *event)
{
	char *name = builder_event_object(builder, event);

	if (name)
		name[finding_short_name(name)] = '\0';
	return name;
}

static void cause_story_add_place(
	const struct signals_story *story, const char *before, uint64_t event, struct strbuf *out)
{
	strbuf_adds(out, before);
	builder_add_event_place(story->builder, &story->events[event], out);
}

/* Does what cause_story_add_place() does, in the cause, and marks the step. */
static void cause_story_add_step(
	const struct signals_story *story, const char *before, uint64_t event, struct strbuf *cause)
{
	builder_mark_cause(story->builder, event, cause);
	cause_story_add_place(story, before, event, cause);
}

static const char *cause_story_thread(const struct signals_story *story, uint64_t event)
{
	return builder_thread(story->builder, (struct thread_id){story->events[event].thread});
}

static void cause_story_add_signal(const struct signals_story *story, struct strbuf *out)
{
	const bool is_broadcast = story->events[story->signals->signal].kind == OP_COND_BROADCAST;

	strbuf_addf(out, "%s %s %s", story->signaller, is_broadcast ? "broadcast on" : "signalled",
		story->cond);
	cause_story_add_step(story, " at ", story->signals->signal, out);
}

static bool cause_story_signaller_holds(const struct signals_story *story, uint64_t event)
{
	const struct signal_history *signals = story->signals;

	return signals->lock != NO_EVENT &&
	       builder_holds(story->builder, (struct thread_id){story->events[event].thread},
		       story->events[signals->lock].address, story->events[event].step);
}

/* Adds whether the signaller held the waiter's mutex: ", holding mutex m" or ", without holding mutex m". */
static void cause_story_add_held(
	const struct signals_story *story, uint64_t event, struct strbuf *out)
{
	if (story->mutex)
		strbuf_addf(out, ", %s %s",
			cause_story_signaller_holds(story, event) ? "holding" : "without holding",
			story->mutex);
}

static void cause_story_add_wait_after(const struct signals_story *story, struct strbuf *out)
{
	strbuf_addf(out, "%s began to wait", story->waiter);
	cause_story_add_step(story, " at ", story->signals->wait, out);
	strbuf_adds(out, " after that signal, and no other signal followed\n");
}

static void cause_story_add_receivers(const struct signals_story *story, struct strbuf *out)
{
	if (story->signals->waiting)
		strbuf_addf(out, ", when %s did not wait yet\n", story->waiter);
	else
		strbuf_adds(out, ", when no thread waited\n");
}

static void cause_story_unsignalled(const struct signals_story *story, struct strbuf *out)
{
	if (!story->cond)
		return;
	strbuf_addf(out, "%s began to wait on %s", story->waiter, story->cond);
	cause_story_add_step(story, " at ", story->signals->wait, out);
	strbuf_addf(out, ", and no thread signalled it in this run\n");
}

static void cause_story_missed(const struct signals_story *story, struct strbuf *out)
{
	const struct signal_history *signals = story->signals;

	if (signals->loss == SIGNAL_BEHIND_TEST) {
		strbuf_addf(out, "%s locked %s", story->waiter, story->mutex);
		cause_story_add_step(story, " at ", signals->lock, out);
		strbuf_adds(out, "\n");
	}
	if (signals->test != NO_EVENT) {
		strbuf_addf(out, "%s read %s", story->waiter, story->variable);
		cause_story_add_step(story, " at ", signals->test, out);
		strbuf_addf(out, "\n%s changed %s", story->signaller, story->variable);
		cause_story_add_step(story, " at ", signals->change, out);
		strbuf_adds(out, " after that");
		cause_story_add_held(story, signals->change, out);
		strbuf_adds(out, "\n");
	}
	cause_story_add_signal(story, out);
	if (signals->test == NO_EVENT)
		cause_story_add_held(story, signals->signal, out);
	cause_story_add_receivers(story, out);
	if (signals->loss == SIGNAL_BEFORE_WAIT && signals->lock > signals->signal &&
		story->mutex) {
		strbuf_addf(out, "%s locked %s", story->waiter, story->mutex);
		cause_story_add_step(story, " at ", signals->lock, out);
		strbuf_adds(out, " only after that\n");
	}
	cause_story_add_wait_after(story, out);
}

static void cause_story_remedy_missed(const struct signals_story *story, struct strbuf *out)
{
	const struct signal_history *signals = story->signals;

	if (signals->loss == SIGNAL_BEHIND_TEST && signals->change != NO_EVENT) {
		strbuf_addf(out, "hold %s while %s is changed", story->mutex, story->variable);
		cause_story_add_place(story, " (", signals->change, out);
		strbuf_adds(out,
			"), so that the change comes before the test or after the wait has begun");
	} else if (signals->loss == SIGNAL_BEHIND_TEST) {
		strbuf_addf(out, "hold %s while what %s waits for is changed, before the signal",
			story->mutex, story->waiter);
		cause_story_add_place(story, " at ", signals->signal, out);
	} else {
		strbuf_addf(out, "test %s in a loop around the wait",
			story->variable ? story->variable : "the condition");
		cause_story_add_place(story, " at ", signals->wait, out);
		strbuf_addf(out,
			", under the same lock%s%s: a signal that finds no waiter is not kept",
			story->mutex ? " of " : "", story->mutex ? story->mutex : "");
	}
}

static void cause_story_stolen(const struct signals_story *story, struct strbuf *out)
{
	const struct signal_history *signals = story->signals;

	strbuf_addf(out, "%s began to wait on %s", story->waiter, story->cond);
	cause_story_add_step(story, " at ", signals->wait, out);
	strbuf_adds(out, "\n");
	if (signals->change != NO_EVENT) {
		strbuf_addf(out, "%s changed %s", story->signaller, story->variable);
		cause_story_add_step(story, " at ", signals->change, out);
		cause_story_add_held(story, signals->change, out);
		strbuf_adds(out, "\n");
	}
	cause_story_add_signal(story, out);
	if (signals->change == NO_EVENT) {
		cause_story_add_held(story, signals->signal, out);
		strbuf_adds(out, story->mutex ? "," : "");
	}
	strbuf_addf(out, " while %" PRIu32 " threads waited; that woke %s", signals->waiting,
		cause_story_thread(story, signals->woken));
	cause_story_add_place(story, ", which waited at ", signals->woken, out);
	strbuf_adds(out, "\n");
	if (signals->again == NO_EVENT) {
		strbuf_addf(out, "no signal was left for %s\n", story->waiter);
		return;
	}
	strbuf_addf(out, "%s found its condition false and waited again",
		cause_story_thread(story, signals->again));
	cause_story_add_step(story, " at ", signals->again, out);
	strbuf_addf(out, ": the signal was used up, and %s did not get it\n", story->waiter);
}

static void cause_story_remedy_stolen(const struct signals_story *story, struct strbuf *out)
{
	const struct signal_history *signals = story->signals;

	cause_story_add_place(
		story, "call pthread_cond_broadcast (notify_all) at ", signals->signal, out);
	if (story->events[signals->woken].site == story->events[signals->wait].site)
		strbuf_adds(out, ", or signal once for each thread that waits");
	else
		cause_story_add_place(story, ", or give the wait at ", signals->wait, out),
			strbuf_adds(out, " a condition variable of its own");
}

static void cause_builder_signals(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct signal_history *signals = &builder->signals;
	const struct trace_event *events = builder->source->events;
	struct signals_story story = {.builder = builder, .signals = signals, .events = events};

	story.waiter = cause_story_thread(&story, signals->wait);
	story.cond = cause_story_object(builder, &events[signals->wait]);
	if (!story.cond || signals->signal == NO_EVENT) {
		cause_story_unsignalled(&story, cause);
		free(story.cond);
		return;
	}
	story.signaller = cause_story_thread(&story, signals->signal);
	if (signals->lock != NO_EVENT)
		story.mutex = cause_story_object(builder, &events[signals->lock]);
	if (signals->change != NO_EVENT)
		story.variable = cause_story_object(builder, &events[signals->change]);
	if (signals->signal < signals->wait) {
		cause_story_missed(&story, cause);
		cause_story_remedy_missed(&story, remedy);
	} else if (signals->woken != NO_EVENT) {
		cause_story_stolen(&story, cause);
		cause_story_remedy_stolen(&story, remedy);
	}
	free(story.cond);
	free(story.mutex);
	free(story.variable);
}

static char *cause_text(struct strbuf *text)
{
	if (text->length && text->text[text->length - 1] == '\n')
		text->text[--text->length] = '\0';
	if (text->length)
		return strbuf_detach(text);
	strbuf_release(text);
	return NULL;
}

/* Says which thread still holds the lock that another one, or itself, destroys. */
static void cause_add_destroyed_lock(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct outcome *outcome = builder->source->outcome;
	const struct wait_edge edge = {.holder = outcome->other_thread,
		.holder_site = outcome->other_site,
		.object_address = outcome->address};
	const bool is_own = thread_same(outcome->other_thread, outcome->thread);
	const char *holder = builder_thread(builder, outcome->other_thread);
	struct finding_frame since;
	FREE_SCOPED char *lock = NULL;

	if (thread_same(outcome->other_thread, THREAD_NONE) || !outcome->other_site)
		return;
	lock = builder_object(builder, (enum op_kind)outcome->op, outcome->address);
	if (lock)
		lock[finding_short_name(lock)] = '\0';
	since = builder_held_since(builder, &edge);
	for (uint64_t i = builder->source->event_count; i-- > 0;)
		if (builder->source->events[i].address == outcome->address &&
			builder->source->events[i].thread == outcome->other_thread.index &&
			op_descriptions[builder->source->events[i].kind].flags & OP_ACQUIRE) {
			builder_mark_cause(builder, i, cause);
			break;
		}
	strbuf_addf(cause, "%s took %s at ", holder, lock ? lock : "the lock");
	frame_place(&since, cause);
	strbuf_addf(cause, "\n%s destroys it at ", builder_thread(builder, outcome->thread));
	frame_place(finding_user_frame(&builder->finding->at), cause);
	strbuf_addf(cause, ", before %s has released it\n", is_own ? "it" : holder);
	if (is_own)
		strbuf_adds(remedy, "release the lock before ");
	else
		strbuf_addf(remedy,
			"destroy the lock when no thread can use it any more: join %s, or count its users, before ",
			holder);
	frame_place(finding_user_frame(&builder->finding->at), remedy);
	finding_frame_release(&since);
}

/* Adds which thread was preempted for good, and what the failing thread read instead of its result. */
static void cause_add_stopped(const struct builder *builder, struct strbuf *cause)
{
	const char *stopped = builder_stopped_cause(builder, cause);

	if (builder_unwritten_cause(builder, cause))
		return;
	if (!stopped) {
		(void)builder_values_cause(builder, true, cause);
		return;
	}
	builder_add_end(builder, cause);
	strbuf_addf(cause, " before %s continues\n", stopped);
}

/* Adds where a wrong value came from: one that the program itself reports, or for which a thread waits. */
static void cause_add_values(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	switch (builder->finding->kind) {
	case OUTCOME_CRASH:
	case OUTCOME_ABORT:
		if (builder_exit_cause(builder, cause, remedy) ||
			builder_descriptor_cause(builder, cause, remedy) ||
			builder_values_between_cause(builder, cause))
			break;
		builder_preemption_cause(builder, cause, remedy);
		if (!cause->length && !builder_values_cause(builder, false, cause))
			cause_add_stopped(builder, cause);
		break;
	case OUTCOME_EXIT:
		if (!builder_descriptor_cause(builder, cause, remedy))
			builder_preemption_cause(builder, cause, remedy);
		break;
	case OUTCOME_LIVELOCK:
		(void)builder_overwritten_cause(builder, cause);
		/* fallthrough */
	case OUTCOME_DEADLOCK:
	case OUTCOME_LOST_WAKEUP:
		if (!cause->length && !builder_futex_cause(builder, cause, remedy) &&
			!builder_descriptor_cause(builder, cause, remedy) &&
			!builder_drained_cause(builder, cause, remedy))
			builder_preemption_cause(builder, cause, remedy);
		break;
	default:
		break;
	}
}

void builder_fill_cause(struct builder *builder)
{
	struct strbuf cause = STRBUF_EMPTY, remedy = STRBUF_EMPTY;
	size_t stalls_end;

	switch (builder->finding->kind) {
	case OUTCOME_LOST_WAKEUP:
		if (builder->culprit != UINT32_MAX)
			cause_builder_signals(builder, &cause, &remedy);
		break;
	case OUTCOME_DEADLOCK:
	case OUTCOME_SELF_DEADLOCK:
		builder_deadlock_cause(builder, &cause, &remedy);
		break;
	case OUTCOME_WEAK:
		builder_weak_cause(builder, &cause, &remedy);
		break;
	case OUTCOME_RACE:
	case OUTCOME_USE_AFTER_FREE:
	case OUTCOME_DOUBLE_FREE:
		builder_accesses_cause(builder, &cause, &remedy);
		break;
	case OUTCOME_USE_AFTER_RETURN:
		builder_left_frame_cause(builder, &cause, &remedy);
		break;
	case OUTCOME_DESTROY_HELD:
		cause_add_destroyed_lock(builder, &cause, &remedy);
		break;
	default:
		break;
	}
	builder_stalls_cause(builder, &cause, &remedy);
	stalls_end = cause.length;
	builder_delayed_stores_cause(builder, &cause, &remedy);
	/* With a delayed store, the last write of a trace is not the one that is read. */
	if (cause.length == stalls_end)
		cause_add_values(builder, &cause, &remedy);
	builder->finding->cause = cause_text(&cause);
	builder->finding->remedy = cause_text(&remedy);
}
