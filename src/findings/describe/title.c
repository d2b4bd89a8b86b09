/* Writes the title: one line per kind of outcome. */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/visible.h"
#include "findings/describe/builder.h"
#include "model/memory/freed_word.h"

/* Adds where the failing thread is: "f (bank.c:41)". */
static void title_add_function(const struct builder *builder, struct strbuf *out)
{
	const struct finding_frame *frame = finding_user_frame(&builder->finding->at);
	const bool has_name = frame && frame->function && frame->file;

	if (has_name)
		strbuf_adds(out, frame->function);
	if (!has_name || !finding_frame_is_its_line(frame))
		builder_add_sentence(builder, out, has_name ? " ({frame})" : "{frame}", frame);
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
	builder_add_sentence(builder, out, " since {frame}", &since);
	finding_frame_release(&since);
}

static const char *title_failing_thread(const struct builder *builder)
{
	return builder->failing_name ? builder->failing_name : "a thread";
}

/* Returns whether a thread has ended the process by a signal that another thread does not block. */
static bool title_is_sent(const struct builder *builder)
{
	const struct finding_source *source = builder->source;
	const struct trace_event *last =
		source->event_count ? &source->events[source->event_count - 1] : NULL;

	return last && last->kind == OP_SIGNAL_SEND &&
	       last->thread == source->outcome->thread.index &&
	       !thread_same(source->outcome->other_thread, THREAD_NONE);
}

static void title_crash(const struct builder *builder, struct strbuf *out)
{
	const char *name = sigabbrev_np(builder->finding->code);
	const uint64_t unload = builder_find_unload(builder);

	if (name && title_is_sent(builder)) {
		strbuf_addf(out, "SIG%s, which %s sent in ", name, title_failing_thread(builder));
		title_add_function(builder, out);
		strbuf_addf(out, ", ended the program: %s does not block it",
			builder_thread(builder, builder->source->outcome->other_thread));
		return;
	}

	if (name)
		strbuf_addf(out, "%s got SIG%s in ", title_failing_thread(builder), name);
	else
		strbuf_addf(out, "%s got signal %d in ", title_failing_thread(builder),
			builder->finding->code);
	if (unload != NO_EVENT) {
		builder_add_sentence(builder, out,
			"a library that {actor} has unloaded at {location}",
			&builder->source->events[unload], &builder->source->events[unload]);
		return;
	}
	title_add_function(builder, out);
	/* The first page is never mapped: the address is a null pointer, or a member of one. */
	if (builder->finding->code == SIGSEGV && builder->source->outcome->address < 4096)
		strbuf_adds(out, ": it used a null pointer");
	else if (builder->finding->code == SIGSEGV &&
		 freed_word_gives(builder->source->outcome->address))
		strbuf_adds(out, ": it used a pointer from freed memory");
}

/* Adds "main.1 unlocks mutex m (bank.c:9)" and the holder. */
static void title_misuse(
	const struct builder *builder, const char *verb, const char *rest, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;
	const enum op_kind acquire = outcome->op ? (enum op_kind)outcome->op : OP_MUTEX_LOCK;
	FREE_SCOPED char *object = builder_object(builder, acquire, outcome->address, UINT64_MAX);

	strbuf_addf(
		out, "%s %s %s", title_failing_thread(builder), verb, object ? object : "a lock");
	builder_add_sentence(builder, out, " ({stack}){text}", &builder->finding->at, rest);
	title_add_owner(builder, out);
}

static void title_location(const struct builder *builder, const char *does, struct strbuf *out)
{
	strbuf_addf(out, "%s %s ", title_failing_thread(builder), does);
	title_add_function(builder, out);
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

/* Returns what a call of the C++ library means that ends the program; NULL: no such call. */
static const char *title_fatal_call(const struct finding_stack *stack)
{
	static const struct {
		const char *function, *meaning;
	} calls[] = {
		{"__cxa_pure_virtual", "it called a pure virtual function"},
		{"std::thread::~thread",
			"it destroyed a std::thread that was neither joined nor detached"},
		{"std::thread::operator=",
			"it overwrote a std::thread that was neither joined nor detached"},
	};

	for (uint32_t i = 0; i < stack->count; i++)
		for (size_t j = 0; j < sizeof calls / sizeof *calls; j++)
			if (stack->frames[i].function &&
				!strcmp(stack->frames[i].function, calls[j].function))
				return calls[j].meaning;
	return NULL;
}

/* Adds what assert() or a library said about the abort. */
static void title_add_abort_message(const struct builder *builder, struct strbuf *out)
{
	const char *meaning = title_fatal_call(&builder->finding->at);
	const pid_t pid = builder->source->pid;
	const char *assertion;
	STRBUF_SCOPED text = STRBUF_EMPTY;

	if (pid && builder->symbols && symbols_abort_message(builder->symbols, pid, &text)) {
		assertion = strstr(text.text, "Assertion `");
		if (!assertion)
			assertion = strstr(text.text, "assertion failed");
		strbuf_addf(out, ": %s", assertion ? assertion : text.text);
		if (out->text[out->length - 1] == '.')
			out->text[--out->length] = '\0';
	} else if (meaning) {
		strbuf_addf(out, ": %s", meaning);
	} else {
		title_add_text(builder, out);
	}
}

/* "main.0 writes counter (racy.c:12)" */
static void title_add_access(
	const struct builder *builder, const struct finding_access *access, struct strbuf *out)
{
	FREE_SCOPED char *variable = builder_race_variable(builder, true);

	builder_add_sentence(builder, out, "{titled} {text} {object} ({stack})", access->thread,
		access->verb, variable, &access->at);
}

/* "main.0 writes counter (racy.c:12) while main.1 reads it (racy.c:20)" */
static void title_race(const struct builder *builder, struct strbuf *out)
{
	const struct finding_access *later = &builder->finding->race[FINDING_LATER];

	title_add_access(builder, &builder->finding->race[FINDING_EARLIER], out);
	builder_add_sentence(builder, out, " while {titled} {text} it ({stack})", later->thread,
		later->verb, &later->at);
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
	builder_add_sentence(builder, out, ", which {text} has {text} ({stack})",
		strcmp(earlier->thread, later->thread) ? earlier->thread : "it",
		outcome_is_of_destroyed(builder->source->outcome) ? "destroyed" : "freed",
		&earlier->at);
}

static void title_livelock(const struct builder *builder, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;
	char number[32];

	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		if (op_descriptions[outcome->waits[i].op].object != OBJECT_MEMORY)
			continue;
		builder_deadlock_title(builder, out);
		return;
	}
	if (!outcome->text[0])
		strbuf_addf(out, "the program does not end within %s steps; last, ",
			text_grouped(outcome->step, number));
	title_location(builder, outcome->text[0] ? "repeats a loop for ever in" : "was in", out);
}

static void title_add(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;

	switch (finding->kind) {
	case OUTCOME_DEADLOCK:
		if (builder_waits_for_itself(builder))
			builder_self_deadlock_title(builder, out);
		else
			builder_deadlock_title(builder, out);
		break;
	case OUTCOME_SELF_DEADLOCK:
		builder_self_deadlock_title(builder, out);
		break;
	case OUTCOME_LOST_WAKEUP:
		builder_lost_wakeup_title(builder, out);
		break;
	case OUTCOME_HANG:
		title_location(builder, "runs on without reaching a scheduling point in", out);
		break;
	case OUTCOME_LIVELOCK:
		title_livelock(builder, out);
		break;
	case OUTCOME_EXIT:
		strbuf_addf(out, "the program ended with status %d", finding->code);
		break;
	case OUTCOME_ABORT:
		title_location(builder, "aborted in", out);
		title_add_abort_message(builder, out);
		break;
	case OUTCOME_CRASH:
		title_crash(builder, out);
		break;
	case OUTCOME_SANITIZER:
		title_location(builder, "made a sanitizer report an error in", out);
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
		builder_add_sentence(builder, out, "{text} joins itself ({stack})",
			title_failing_thread(builder), &finding->at);
		break;
	case OUTCOME_JOIN_GONE:
		builder_add_sentence(builder, out,
			"{text} joins a thread that was joined before, ended by itself or never existed ({stack})",
			title_failing_thread(builder), &finding->at);
		break;
	default:
		strbuf_adds(out, outcome_descriptions[finding->kind].sentence);
		title_add_text(builder, out);
	}
}

char *builder_title(const struct builder *builder)
{
	STRBUF_SCOPED out = STRBUF_EMPTY;

	strbuf_addf(&out, "%s: ", outcome_descriptions[builder->finding->kind].word);
	title_add(builder, &out);
	return visible_text(out.text, false);
}

/* Adds the instruction and the address of a memory fault. */
static void title_add_fault(const struct builder *builder, struct strbuf *out)
{
	const struct outcome *outcome = builder->source->outcome;
	const struct finding_stack *at = &builder->finding->at;
	const char *module = NULL;
	uint64_t offset = outcome->site;

	if (outcome->kind != OUTCOME_CRASH || !outcome->site ||
		(outcome->code != SIGSEGV && outcome->code != SIGBUS) ||
		builder_find_unload(builder) != NO_EVENT)
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
		strbuf_addf(out, " used address 0x%" PRIx64 "%s\n", outcome->address,
			freed_word_gives(outcome->address) ? ", the mark of freed memory" : "");
}

char *builder_detail(const struct builder *builder)
{
	const struct outcome *outcome = builder->source->outcome;
	STRBUF_SCOPED out = STRBUF_EMPTY;
	char number[32];

	builder_add_stalls(builder, &out);
	title_add_fault(builder, &out);
	if (*outcome->text)
		strbuf_addf(&out, "%s\n", outcome->text);
	if (outcome->waits_left_out)
		strbuf_addf(&out, "%" PRIu32 " more threads wait\n", outcome->waits_left_out);
	if (builder->source->events_from)
		strbuf_addf(&out, "the trace lacks the first %s steps\n",
			text_grouped(builder->source->events_from, number));
	if (builder->source->events_dropped)
		strbuf_addf(&out, "the trace lacks the last %s steps\n",
			text_grouped(builder->source->events_dropped, number));
	builder_add_hopes(builder, &out);
	builder_add_notices(builder, &out);
	if (out.length)
		return strbuf_detach(&out);
	return NULL;
}
