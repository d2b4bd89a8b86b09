/*
 * Writes what led to a failure and what prevents it, from the trace of the failing run; here why a
 * signal of a condition variable did not end the wait that it was meant for.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* The events that explain a lost wake-up, as indices into the trace, and the names of their objects. */
struct signals_story {
	const struct builder *builder;
	const struct signal_history *signals;
	char *cond, *mutex, *variable; /* owned; mutex and variable may be NULL */
	/* The events of the history; NULL: there is none. */
	const struct trace_event *wait, *signal, *lock, *change, *test, *late;
};

static const struct trace_event *cause_story_event(const struct builder *builder, uint64_t event)
{
	return event == NO_EVENT ? NULL : &builder->source->events[event];
}

static void cause_story_add_signal(const struct signals_story *story, struct strbuf *out)
{
	builder_add_sentence(story->builder, out,
		story->signal->kind == OP_COND_BROADCAST ? "{actor} broadcast on {object} at {step}"
							 : "{actor} signalled {object} at {step}",
		story->signal, story->cond);
}

/* Adds whether the signaller held the waiter's mutex: ", holding mutex m" or ", without holding mutex m". */
static void cause_story_add_held(
	const struct signals_story *story, const struct trace_event *event, struct strbuf *out)
{
	if (story->mutex)
		builder_add_sentence(story->builder, out,
			builder_holds(story->builder, (struct thread_id){event->thread},
				story->lock->address, event->step)
				? ", holding {object}"
				: ", without holding {object}",
			story->mutex);
}

static void cause_story_missed(const struct signals_story *story, struct strbuf *out)
{
	const struct signal_history *signals = story->signals;
	const struct builder *builder = story->builder;

	if (signals->loss == SIGNAL_BEHIND_TEST)
		builder_add_sentence(builder, out, "{actor} locked {object} at {step}\n",
			story->lock, story->mutex);
	if (story->test) {
		builder_add_sentence(builder, out,
			"{actor} read {object} at {step}\n"
			"{actor} changed {object} at {step} after that",
			story->test, story->variable, story->change, story->variable);
		cause_story_add_held(story, story->change, out);
		strbuf_adds(out, "\n");
	}
	cause_story_add_signal(story, out);
	if (!story->test)
		cause_story_add_held(story, story->signal, out);
	builder_add_sentence(builder, out,
		signals->waiting ? ", when {actor} did not wait yet\n"
				 : ", when no thread waited\n",
		story->wait);
	if (signals->loss == SIGNAL_BEFORE_WAIT && signals->lock > signals->signal && story->mutex)
		builder_add_sentence(builder, out,
			"{actor} locked {object} at {step} only after that\n", story->lock,
			story->mutex);
	builder_add_sentence(builder, out,
		"{actor} began to wait at {step} after that signal, and no other signal followed\n",
		story->wait);
}

static void cause_story_remedy_missed(const struct signals_story *story, struct strbuf *out)
{
	const struct signal_history *signals = story->signals;
	const struct builder *builder = story->builder;

	if (signals->loss == SIGNAL_BEHIND_TEST && story->change)
		builder_add_sentence(builder, out,
			"hold {object} while {object} is changed ({location}), so that the change comes before the test or after the wait has begun",
			story->mutex, story->variable, story->change);
	else if (signals->loss == SIGNAL_BEHIND_TEST)
		builder_add_sentence(builder, out,
			"hold {object} while what {actor} waits for is changed, before the signal at {location}",
			story->mutex, story->wait, story->signal);
	else
		builder_add_sentence(builder, out,
			story->mutex
				? "test {object} in a loop around the wait at {location}, under the same lock of {object}: a signal that finds no waiter is not kept"
				: "test {object} in a loop around the wait at {location}, under the same lock: a signal that finds no waiter is not kept",
			story->variable ? story->variable : "the condition", story->wait,
			story->mutex);
}

static void cause_story_stolen(const struct signals_story *story, struct strbuf *out)
{
	const struct signal_history *signals = story->signals;
	const struct builder *builder = story->builder;
	const struct trace_event *woken = cause_story_event(builder, signals->woken);

	builder_add_sentence(builder, out, "{actor} began to wait on {object} at {step}\n",
		story->wait, story->cond);
	if (story->change) {
		builder_add_sentence(builder, out, "{actor} changed {object} at {step}",
			story->change, story->variable);
		cause_story_add_held(story, story->change, out);
		strbuf_adds(out, "\n");
	}
	cause_story_add_signal(story, out);
	if (!story->change) {
		cause_story_add_held(story, story->signal, out);
		strbuf_adds(out, story->mutex ? "," : "");
	}
	strbuf_addf(out, " while %" PRIu32 " threads waited", signals->waiting);
	builder_add_sentence(
		builder, out, "; that woke {actor}, which waited at {location}\n", woken, woken);
	if (signals->again == NO_EVENT)
		builder_add_sentence(builder, out, "no signal was left for {actor}\n", story->wait);
	else
		builder_add_sentence(builder, out,
			"{actor} found its condition false and waited again at {step}: the signal was used up, and {actor} did not get it\n",
			cause_story_event(builder, signals->again), story->wait);
}

static void cause_story_remedy_stolen(const struct signals_story *story, struct strbuf *out)
{
	const struct trace_event *woken = cause_story_event(story->builder, story->signals->woken);

	builder_add_sentence(story->builder, out,
		woken->site == story->wait->site
			? "call pthread_cond_broadcast (notify_all) at {location}, or signal once for each thread that waits"
			: "call pthread_cond_broadcast (notify_all) at {location}, or give the wait at {location} a condition variable of its own",
		story->signal, story->wait);
}

/* Code that signals before it changes the condition: the waiter tests the old value, before or after the signal. */
static void cause_story_late(
	const struct signals_story *story, struct strbuf *cause, struct strbuf *remedy)
{
	const struct builder *builder = story->builder;
	FREE_SCOPED char *variable = builder_event_object(builder, story->late);
	const bool is_waiting = story->signals->wait < story->signals->signal;

	if (is_waiting)
		builder_add_sentence(builder, cause,
			"{actor} began to wait on {object} at {step}\n", story->wait, story->cond);
	cause_story_add_signal(story, cause);
	strbuf_adds(cause, "\n");
	if (!is_waiting)
		builder_add_sentence(builder, cause,
			"{actor} found its condition false and began to wait at {step}\n",
			story->wait);
	builder_add_sentence(builder, cause, "{actor} changed {object} at {step} after its signal",
		story->late, variable);
	cause_story_add_held(story, story->late, cause);
	strbuf_adds(cause, "; no signal followed\n");
	builder_add_sentence(builder, remedy,
		"signal {object} after {object} is changed ({location}), not before", story->cond,
		variable, story->late);
}

static void cause_builder_signals(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct signal_history *signals = &builder->signals;
	struct signals_story story = {.builder = builder,
		.signals = signals,
		.wait = cause_story_event(builder, signals->wait),
		.signal = cause_story_event(builder, signals->signal),
		.lock = cause_story_event(builder, signals->lock),
		.change = cause_story_event(builder, signals->change),
		.test = cause_story_event(builder, signals->test),
		.late = cause_story_event(builder, signals->late)};

	story.cond = builder_event_object(builder, story.wait);
	if (!story.cond || !story.signal) {
		if (story.cond)
			builder_add_sentence(builder, cause,
				"{actor} began to wait on {object} at {step}, and no thread signalled it in this run\n",
				story.wait, story.cond);
		free(story.cond);
		return;
	}
	if (story.lock)
		story.mutex = builder_event_object(builder, story.lock);
	if (story.change)
		story.variable = builder_event_object(builder, story.change);
	if (story.late) {
		cause_story_late(&story, cause, remedy);
	} else if (signals->signal < signals->wait) {
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
	lock = builder_object(builder, (enum op_kind)outcome->op, outcome->address, UINT64_MAX);
	since = builder_held_since(builder, &edge);
	for (uint64_t i = builder->source->event_count; i-- > 0;)
		if (builder->source->events[i].address == outcome->address &&
			builder->source->events[i].thread == outcome->other_thread.index &&
			op_descriptions[builder->source->events[i].kind].flags & OP_ACQUIRE) {
			builder_mark_cause(builder, i, cause);
			break;
		}
	builder_add_sentence(builder, cause,
		"{text} took {object} at {frame}\n"
		"{thread} destroys it at {stack}, before {text} has released it\n",
		holder, lock ? lock : "the lock", &since, outcome->thread, &builder->finding->at,
		is_own ? "it" : holder);
	if (is_own)
		builder_add_sentence(
			builder, remedy, "release the lock before {stack}", &builder->finding->at);
	else
		builder_add_sentence(builder, remedy,
			"destroy the lock when no thread can use it any more: join {text}, or count its users, before {stack}",
			holder, &builder->finding->at);
	finding_frame_release(&since);
}

/* Cause and remedy of a thread that unlocks a mutex without holding it: its last attempt to lock the mutex failed or timed
 * out, or it has unlocked the mutex before. */
static void cause_add_unheld_lock(
	const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding_source *source = builder->source;
	const struct outcome *outcome = source->outcome;
	FREE_SCOPED char *lock =
		builder_object(builder, (enum op_kind)outcome->op, outcome->address, UINT64_MAX);
	/* The search has passed the failing call, which is an unlock or a condition wait. */
	bool has_failed = false;

	for (uint64_t i = source->event_count; i-- > 0;) {
		const struct trace_event *event = &source->events[i];
		const bool is_timed_out = event->result == RESULT_TIMED_OUT;

		if (event->thread != outcome->thread.index)
			continue;
		if (!has_failed) {
			has_failed = true;
		} else if (event->address != outcome->address) {
			continue;
		} else if (event->kind == OP_MUTEX_UNLOCK) {
			builder_add_sentence(builder, cause,
				"{actor} unlocked {object} at {step}, and has not locked it since\n",
				event, lock);
			return;
		} else if (event->kind == OP_MUTEX_TRYLOCK || is_timed_out) {
			builder_add_sentence(builder, cause, "{actor} {text} {object} at {step}\n",
				event, is_timed_out ? "timed out locking" : "failed to lock", lock);
			builder_add_sentence(builder, remedy,
				"test the result of the call at {location} before {stack}", event,
				&builder->finding->at);
			return;
		} else {
			return;
		}
	}
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
			builder_broken_promise_cause(builder, cause, remedy) ||
			builder_untested_wait_cause(builder, cause, remedy) ||
			builder_values_between_cause(builder, cause))
			break;
		builder_preemption_cause(builder, cause, remedy);
		if (!cause->length && !builder_values_cause(builder, false, cause))
			cause_add_stopped(builder, cause);
		break;
	case OUTCOME_EXIT:
		if (!builder_descriptor_cause(builder, cause, remedy) &&
			!builder_untested_wait_cause(builder, cause, remedy))
			builder_preemption_cause(builder, cause, remedy);
		break;
	case OUTCOME_LIVELOCK:
		(void)builder_overwritten_cause(builder, cause);
		/* fallthrough */
	case OUTCOME_DEADLOCK:
	case OUTCOME_LOST_WAKEUP:
		if (!cause->length && !builder_early_handler_cause(builder, cause, remedy) &&
			!builder_latch_cause(builder, cause, remedy) &&
			!builder_futex_cause(builder, cause, remedy) &&
			!builder_descriptor_cause(builder, cause, remedy) &&
			!builder_drained_cause(builder, cause, remedy)) {
			builder_preemption_cause(builder, cause, remedy);
			builder_never_signalled_cause(builder, cause);
			if (!cause->length)
				(void)builder_unwoken_cause(builder, cause, remedy);
		}
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
	case OUTCOME_UNLOCK_NOT_OWNED:
		cause_add_unheld_lock(builder, &cause, &remedy);
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
