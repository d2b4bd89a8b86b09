/* Writes the title: one line per kind of outcome. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/visible.h"
#include "findings/describe/build_internal.h"

/* Threads in a title; the table of waits has all. */
#define TITLE_CLAUSES_MAX 3

static void title_add_place(const struct finding_stack *stack, struct strbuf *out)
{
	strbuf_adds(out, " (");
	frame_place(finding_user_frame(stack), out);
	strbuf_adds(out, ")");
}

/* Returns whether the function is a lambda that is named after this line: "lambda at pool.cpp:14". */
static bool title_names_place(const struct finding_frame *frame)
{
	const char *colon = strrchr(frame->function, ':');

	return !strncmp(frame->function, "lambda at ", 10) && colon &&
	       strtoul(colon + 1, NULL, 10) == frame->line;
}

/* "f (bank.c:41)" */
static void title_add_function(const struct finding_stack *stack, struct strbuf *out)
{
	const struct finding_frame *frame = finding_user_frame(stack);

	if (frame && frame->function && frame->file) {
		strbuf_adds(out, frame->function);
		if (!title_names_place(frame))
			title_add_place(stack, out);
	} else {
		frame_place(frame, out);
	}
}

/* Adds " waits for mutex m (bank.c:41)". `is_short`: a deadlock's title repeats its objects. */
static void title_add_wait(const struct finding_wait *wait, const struct wait_edge *edge,
	bool is_short, struct strbuf *out)
{
	const enum object_class class = op_descriptions[edge->op].object;
	const char *object = wait->object ? wait->object : "nothing in particular";
	const int length = is_short ? finding_short_name(object) : (int)strlen(object);

	if (class == OBJECT_COND)
		strbuf_addf(out, " waits on %.*s", length, object);
	else if (class == OBJECT_BARRIER)
		strbuf_addf(out, " waits at %.*s", length, object);
	else if (class == OBJECT_MEMORY) /* without the place where it is declared */
		strbuf_addf(out, " waits in a loop for %.*s",
			strstr(object, " (") ? (int)(strstr(object, " (") - object) : length,
			object);
	else if (edge->op == OP_THREAD_JOIN)
		strbuf_addf(out, " waits for %s to end", object);
	else if (!wait->object)
		strbuf_addf(out, " %s", wait->verb);
	else if (class == OBJECT_FD || class == OBJECT_CHILD) {
		strbuf_adds(out, " is blocked ");
		finding_add_gerund(wait->verb, out);
		strbuf_addf(out, " %.*s", length, object);
	} else
		strbuf_addf(out, " waits for %.*s", length, object);
	title_add_place(&wait->at, out);
}

static bool title_is_waiting(const struct finding *finding, const char *thread)
{
	for (uint32_t i = 0; i < finding->wait_count; i++)
		if (!strcmp(finding->waits[i].thread, thread))
			return true;
	return false;
}

/* Adds where a holder that has ended, and will never release the lock, acquired it. */
static void title_add_gone_holder(const struct builder *builder, const struct finding_wait *wait,
	bool is_in_child, struct strbuf *out)
{
	if (!wait->holder || !wait->held_since.module ||
		(!is_in_child && title_is_waiting(builder->finding, wait->holder)))
		return;
	strbuf_addf(out, ", which %s %s at ", wait->holder, is_in_child ? "had taken" : "took");
	frame_place(&wait->held_since, out);
	strbuf_adds(out, is_in_child ? " when the child was forked" : " and never released");
}

/* A wait for something that this thread holds; returns NULL if there is none. */
static const struct finding_wait *title_held_by(const struct finding *finding, const char *thread)
{
	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];

		if (wait->holder && wait->object && wait->held_since.module &&
			!strcmp(wait->holder, thread))
			return wait;
	}
	return NULL;
}

static void title_add_owner(const struct builder *builder, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;
	const struct wait_edge edge = {.holder = outcome->other_thread,
		.holder_site = outcome->other_site,
		.object_address = outcome->address};
	struct finding_frame since;

	if (thread_same(outcome->other_thread, THREAD_NONE))
		return;
	strbuf_addf(out, "; %s holds it",
		thread_same(outcome->other_thread, outcome->thread)
			? "the thread itself"
			: builder_thread(builder, outcome->other_thread));
	if (!outcome->other_site)
		return;
	since = builder_held_since(builder, &edge);
	strbuf_adds(out, " since ");
	frame_place(&since, out);
	free(since.function);
	free(since.file);
	free(since.module);
}

/* If the waits have a cycle, selects the waits on the cycle. Otherwise selects first other waits,
 * then joins. */
static bool title_has_wait(const struct finding *finding, const struct wait_edge *edge,
	uint32_t index, bool has_cycle, bool is_join)
{
	if (has_cycle)
		return finding->waits[index].is_on_cycle && !is_join;
	return (edge->op == OP_THREAD_JOIN) == is_join;
}

static void title_add_clause(const struct builder *builder, uint32_t index, struct strbuf *out)
{
	const struct finding *finding = builder->finding;
	const struct finding_wait *wait = &finding->waits[index];
	const struct finding_wait *held = title_held_by(finding, wait->thread);
	const struct wait_edge *edge = &builder->source->outcome->waits[index];

	finding_add_thread(finding, wait->thread, out);
	if (held) {
		strbuf_addf(out, " holds %.*s (", finding_short_name(held->object), held->object);
		frame_place(&held->held_since, out);
		strbuf_adds(out, ") and");
	}
	title_add_wait(wait, edge, true, out);
	title_add_gone_holder(builder, wait, edge->is_in_child, out);
}

/*
 * The wait of a title's clause `place` (from 0): on the cycle first; else the wait whose signal was
 * lost, other waits, joins. UINT32_MAX: none.
 */
static uint32_t title_clause(const struct builder *builder, bool has_cycle, uint32_t place)
{
	const struct finding *finding = builder->finding;
	const struct wait_edge *edges = builder->source->outcome->waits;
	const uint32_t first = has_cycle ? UINT32_MAX : builder->culprit;

	if (first != UINT32_MAX && place-- == 0)
		return first;
	for (int is_join = 0; is_join < 2; is_join++)
		for (uint32_t i = 0; i < finding->wait_count; i++)
			if (i != first &&
				title_has_wait(finding, &edges[i], i, has_cycle, is_join) &&
				place-- == 0)
				return i;
	return UINT32_MAX;
}

static void title_deadlock(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;
	bool has_cycle = false;
	uint32_t reported = 0;

	for (uint32_t i = 0; i < finding->wait_count; i++)
		has_cycle |= finding->waits[i].is_on_cycle;
	for (uint32_t i = title_clause(builder, has_cycle, 0); i != UINT32_MAX;
		i = title_clause(builder, has_cycle, ++reported)) {
		if (reported >= TITLE_CLAUSES_MAX)
			continue;
		strbuf_adds(out, reported ? "; " : "");
		title_add_clause(builder, i, out);
	}
	if (reported > TITLE_CLAUSES_MAX)
		strbuf_addf(out, "; and %" PRIu32 " more %s", reported - TITLE_CLAUSES_MAX,
			reported == TITLE_CLAUSES_MAX + 1 ? "thread" : "threads");
	if (!reported)
		strbuf_adds(out, outcome_descriptions[finding->kind].sentence);
}

static void title_self_deadlock(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;

	for (uint32_t i = 0; i < finding->wait_count; i++) {
		const struct finding_wait *wait = &finding->waits[i];
		const struct wait_edge *edge = &builder->source->outcome->waits[i];

		if (!thread_same(edge->holder, edge->waiter))
			continue;
		finding_add_thread(finding, wait->thread, out);
		title_add_wait(wait, edge, false, out);
		strbuf_adds(out, edge->op == OP_ONCE_ENTER ? ", whose routine it runs itself since "
							   : ", which it holds itself since ");
		frame_place(&wait->held_since, out);
		return;
	}
	strbuf_adds(out, outcome_descriptions[finding->kind].sentence);
}

static void title_lost_wakeup(const struct builder *builder, struct strbuf *out)
{
	const struct signal_history *signals = &builder->signals;
	const struct trace_event *events = builder->source->events;
	const struct finding *finding = builder->finding;
	const struct trace_event *signal;
	uint32_t lost = builder->culprit;

	for (uint32_t i = 0; lost == UINT32_MAX && i < finding->wait_count; i++)
		if (signal_history_is_other_wait(&builder->source->outcome->waits[i]))
			lost = i;
	/* If there is no trace, the first wait on a condition variable stands for the lost one. */
	for (uint32_t i = 0; lost == UINT32_MAX && i < finding->wait_count; i++)
		if (op_descriptions[builder->source->outcome->waits[i].op].object == OBJECT_COND)
			lost = i;
	if (lost == UINT32_MAX) {
		strbuf_adds(out, outcome_descriptions[finding->kind].sentence);
		return;
	}
	finding_add_thread(finding, finding->waits[lost].thread, out);
	title_add_wait(&finding->waits[lost], &builder->source->outcome->waits[lost], false, out);
	if (builder->culprit == UINT32_MAX || signals->signal == NO_EVENT)
		return;
	signal = &events[signals->signal];
	strbuf_addf(out, "; %s %s it at ",
		builder_thread(builder, (struct thread_id){signal->thread}),
		signal->kind == OP_COND_SIGNAL ? "had signalled" : "had broadcast on");
	builder_add_event_place(builder, signal, out);
	if (signals->signal < signals->wait)
		strbuf_adds(out, " before it waited");
	else if (signals->woken != NO_EVENT)
		strbuf_addf(out, ", which woke %s",
			builder_thread(builder, (struct thread_id){events[signals->woken].thread}));
}

static const char *title_failing_thread(const struct builder *builder)
{
	return builder->failing_name ? builder->failing_name : "a thread";
}

static void title_crash(const struct builder *builder, struct strbuf *out)
{
	const char *name = sigabbrev_np(builder->finding->code);

	if (name)
		strbuf_addf(out, "%s got SIG%s in ", title_failing_thread(builder), name);
	else
		strbuf_addf(out, "%s got signal %d in ", title_failing_thread(builder),
			builder->finding->code);
	title_add_function(&builder->finding->at, out);
	/* The first page is never mapped: the address is a null pointer, or a member of one. */
	if (builder->finding->code == SIGSEGV && builder->source->outcome->address < 4096)
		strbuf_adds(out, ": it used a null pointer");
}

/* Adds "main.1 unlocks mutex m (bank.c:9)" and the holder. */
static void title_misuse(
	const struct builder *builder, const char *verb, const char *rest, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;
	const enum op_kind acquire = outcome->op ? (enum op_kind)outcome->op : OP_MUTEX_LOCK;
	char *object = builder_object(builder, acquire, outcome->address);

	strbuf_addf(
		out, "%s %s %s", title_failing_thread(builder), verb, object ? object : "a lock");
	title_add_place(&builder->finding->at, out);
	strbuf_adds(out, rest);
	title_add_owner(builder, out);
	free(object);
}

static void title_place(const struct builder *builder, const char *does, struct strbuf *out)
{
	strbuf_addf(out, "%s %s ", title_failing_thread(builder), does);
	title_add_function(&builder->finding->at, out);
}

/* Title of a wrong unlock, or of a condition wait, which begins with an unlock. */
static void title_unlock(const struct builder *builder, struct strbuf *out)
{
	const struct finding_source *source = builder->source;
	const struct trace_event *last =
		source->event_count ? &source->events[source->event_count - 1] : NULL;
	const bool is_wait =
		last && last->kind == OP_COND_WAIT && last->thread == source->outcome->thread.index;

	title_misuse(builder, is_wait ? "waits on a condition variable with" : "unlocks",
		", which it does not hold", out);
}

static void title_add_text(const struct builder *builder, struct strbuf *out)
{
	const char *text = builder->source->outcome->text;

	if (*text)
		strbuf_addf(out, ": %.*s", (int)strcspn(text, "\n"), text);
}

/* Adds what assert() or a library said about the abort. */
/* The C++ library ends the program when a constructor or destructor reaches a function without a body. */
static bool title_is_pure_call(const struct finding_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->frames[i].function &&
			!strcmp(stack->frames[i].function, "__cxa_pure_virtual"))
			return true;
	return false;
}

static void title_add_abort_message(const struct builder *builder, struct strbuf *out)
{
	const pid_t pid = builder->source->pid;
	const char *assertion;
	struct strbuf text = STRBUF_EMPTY;

	if (pid && builder->symbols && symbols_abort_message(builder->symbols, pid, &text)) {
		assertion = strstr(text.text, "Assertion `");
		if (!assertion)
			assertion = strstr(text.text, "assertion failed");
		strbuf_addf(out, ": %s", assertion ? assertion : text.text);
		if (out->text[out->length - 1] == '.')
			out->text[--out->length] = '\0';
	} else if (title_is_pure_call(&builder->finding->at)) {
		strbuf_adds(out, ": it called a pure virtual function");
	} else {
		title_add_text(builder, out);
	}
	strbuf_release(&text);
}

/* "main.0 writes counter (racy.c:12)" */
static void title_add_access(
	const struct builder *builder, const struct finding_access *access, struct strbuf *out)
{
	char *variable = builder_race_variable(builder, true);

	finding_add_thread(builder->finding, access->thread, out);
	strbuf_addf(out, " %s %.*s", access->verb, finding_short_name(variable), variable);
	free(variable);
	title_add_place(&access->at, out);
}

/* "main.0 writes counter (racy.c:12) while main.1 reads it (racy.c:20)" */
static void title_race(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;
	const struct finding_access *later = &finding->race[FINDING_LATER];

	title_add_access(builder, &finding->race[FINDING_EARLIER], out);
	strbuf_adds(out, " while ");
	finding_add_thread(finding, later->thread, out);
	strbuf_addf(out, " %s it", later->verb);
	title_add_place(&later->at, out);
}

/* "main.0 reads session->mode (device.c:18), which main.1 has freed (device.c:30)" */
static void title_freed(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;
	const struct finding_access *earlier = &finding->race[FINDING_EARLIER];
	const struct finding_access *later = &finding->race[FINDING_LATER];

	title_add_access(builder, later, out);
	if (!builder->source->outcome->other_site) {
		strbuf_adds(out, ", which has been freed"); /* the freeing thread is unknown */
		return;
	}
	strbuf_addf(out, ", which %s has %s",
		strcmp(earlier->thread, later->thread) ? earlier->thread : "it",
		outcome_is_of_destroyed(builder->source->outcome) ? "destroyed" : "freed");
	title_add_place(&earlier->at, out);
}

static void title_livelock(const struct builder *builder, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;

	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		if (op_descriptions[outcome->waits[i].op].object != OBJECT_MEMORY)
			continue;
		title_deadlock(builder, out);
		return;
	}
	if (!outcome->text[0])
		strbuf_addf(out, "the program does not end within %" PRIu64 " steps; last, ",
			outcome->step);
	title_place(builder, outcome->text[0] ? "repeats a loop for ever in" : "was in", out);
}

static void title_add(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;

	switch (finding->kind) {
	case OUTCOME_DEADLOCK:
		if (builder_waits_for_itself(builder))
			title_self_deadlock(builder, out);
		else
			title_deadlock(builder, out);
		break;
	case OUTCOME_SELF_DEADLOCK:
		title_self_deadlock(builder, out);
		break;
	case OUTCOME_LOST_WAKEUP:
		title_lost_wakeup(builder, out);
		break;
	case OUTCOME_HANG:
		title_place(builder, "runs on without reaching a scheduling point in", out);
		break;
	case OUTCOME_LIVELOCK:
		title_livelock(builder, out);
		break;
	case OUTCOME_EXIT:
		strbuf_addf(out, "the program ended with status %d", finding->code);
		break;
	case OUTCOME_ABORT:
		title_place(builder, "aborted in", out);
		title_add_abort_message(builder, out);
		break;
	case OUTCOME_CRASH:
		title_crash(builder, out);
		break;
	case OUTCOME_SANITIZER:
		title_place(builder, "made a sanitizer report an error in", out);
		title_add_text(builder, out);
		break;
	case OUTCOME_UNLOCK_NOT_OWNED:
		title_unlock(builder, out);
		break;
	case OUTCOME_DESTROY_HELD:
		title_misuse(builder, "destroys", " while it is held", out);
		break;
	case OUTCOME_RACE:
		title_race(builder, out);
		break;
	case OUTCOME_WEAK:
		builder_weak_title(builder, out);
		break;
	case OUTCOME_USE_AFTER_FREE:
	case OUTCOME_DOUBLE_FREE:
		title_freed(builder, out);
		break;
	case OUTCOME_USE_AFTER_RETURN:
		builder_left_frame_title(builder, out);
		break;
	case OUTCOME_JOIN_SELF:
		strbuf_addf(out, "%s joins itself", title_failing_thread(builder));
		title_add_place(&finding->at, out);
		break;
	case OUTCOME_JOIN_GONE:
		strbuf_addf(out, "%s joins a thread that no longer exists",
			title_failing_thread(builder));
		title_add_place(&finding->at, out);
		break;
	default:
		strbuf_adds(out, outcome_descriptions[finding->kind].sentence);
		title_add_text(builder, out);
	}
}

char *builder_title(const struct builder *builder)
{
	struct strbuf out = STRBUF_EMPTY;
	char *title;

	strbuf_addf(&out, "%s: ", outcome_descriptions[builder->finding->kind].word);
	title_add(builder, &out);
	title = visible_text(out.text, false);
	strbuf_release(&out);
	return title;
}

/* Adds the instruction and the address of a memory fault. */
static void title_add_fault(const struct builder *builder, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;
	const struct finding_stack *at = &builder->finding->at;
	const char *module = NULL;
	uint64_t offset = outcome->site;

	if (outcome->kind != OUTCOME_CRASH || !outcome->site ||
		(outcome->code != SIGSEGV && outcome->code != SIGBUS))
		return;
	if (builder->symbols)
		offset = symbols_module_offset(builder->symbols, outcome->site, &module);
	if (module && builder_is_runtime(builder, outcome->site) && at->count &&
		at->frames->function)
		strbuf_adds(out, at->frames->function); /* the function that the target called */
	else if (module)
		strbuf_addf(out, "the instruction at %s+0x%" PRIx64, module, offset);
	else
		strbuf_addf(out, "the instruction at 0x%" PRIx64 "%s", outcome->site,
			builder->symbols ? ", in no module," : "");
	if (outcome->address == OUTCOME_NO_MEMORY)
		strbuf_adds(out, " used an address that no memory can have\n");
	else
		strbuf_addf(out, " used address 0x%" PRIx64 "\n", outcome->address);
}

char *builder_detail(const struct builder *builder)
{
	const struct outcome *outcome = builder->source->outcome;
	struct strbuf out = STRBUF_EMPTY;

	builder_add_stalls(builder, &out);
	title_add_fault(builder, &out);
	if (*outcome->text)
		strbuf_addf(&out, "%s\n", outcome->text);
	if (outcome->waits_left_out)
		strbuf_addf(&out, "%" PRIu32 " more threads wait\n", outcome->waits_left_out);
	if (builder->source->events_from)
		strbuf_addf(&out, "the trace lacks the first %" PRIu64 " steps\n",
			builder->source->events_from);
	if (builder->source->events_dropped)
		strbuf_addf(&out, "the trace lacks the last %" PRIu64 " steps\n",
			builder->source->events_dropped);
	builder_add_hopes(builder, &out);
	builder_add_notices(builder, &out);
	if (out.length)
		return strbuf_detach(&out);
	strbuf_release(&out);
	return NULL;
}
