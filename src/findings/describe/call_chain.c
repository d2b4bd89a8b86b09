/*
 * Chooses the source line at which a report shows a step. That line is in the program's own code.
 * Library headers and the program's short wrappers are skipped, because their line is the same in
 * every step and does not distinguish steps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/hash_table.h"
#include "base/strbuf.h"
#include "findings/describe/builder.h"

#define CHAIN_MAX 32
#define CALLERS_KEPT 6
/* A short function whose steps have one line is a wrapper if it is in a header, if at least this many locations call it,
 * or if its steps are operations on objects of one class. The last kind is a constructor or destructor, or has lines for
 * the call and its error only: the run may have ended before further steps of a longer function. */
#define WRAPPER_CALLERS 3
#define CALL_LINES 2
/* The search for wrappers covers the last events of a trace only; this bounds the time that a long
 * trace takes. */
#define WRAPPER_EVENTS 20000

struct wrapper {
	char *name;			   /* function and file */
	uint64_t callers[WRAPPER_CALLERS]; /* hashes of files and lines */
	unsigned count;
	unsigned line; /* line of its first step */
	bool has_more_lines; /* its steps differ in their lines, which therefore say more than the caller's */
	enum object_class object; /* of its operations other than accesses to memory */
	unsigned flags;		  /* OP_ACQUIRE, OP_RELEASE: of these operations */
	/* it uses objects of several classes, contains a whole critical section, or accesses memory */
	bool does_more;
	UT_hash_handle hh;
};

struct call_chain {
	struct symbols_frame frames[CHAIN_MAX]; /* frames in the program's code, innermost first */
	unsigned count;
	struct symbols_frame
		library; /* outermost library frame that frames[0] calls; function NULL: none */
};

static enum code_location call_chain_location_of(const struct trace_event *event)
{
	return op_descriptions[event->kind].object == OBJECT_MEMORY || event->kind == OP_FENCE
		       ? LOCATION_OF_ACCESS
		       : LOCATION_OF_CALL;
}

static void call_chain_add_location(const struct builder *builder, uint64_t site,
	enum code_location location, struct call_chain *chain)
{
	struct symbols_frame frames[SITE_FRAMES_MAX];
	const unsigned count = builder_frames_at(builder, site, location, frames);

	for (unsigned i = 0; i < count && chain->count < CHAIN_MAX; i++) {
		if (!frames[i].is_system && frames[i].file)
			chain->frames[chain->count++] = frames[i];
		else if (!chain->count && frames[i].function)
			chain->library = frames[i];
	}
}

static void call_chain_find_chain(
	const struct builder *builder, const struct trace_event *event, struct call_chain *chain)
{
	chain->count = 0;
	chain->library.function = NULL;
	if (!builder->symbols)
		return;
	call_chain_add_location(builder, event->site, call_chain_location_of(event), chain);
	for (unsigned i = 0; i < TRACE_CALLERS && event->callers[i]; i++)
		call_chain_add_location(builder, event->callers[i], LOCATION_OF_CALL, chain);
}

static char *call_chain_wrapper_name(const struct symbols_frame *frame)
{
	char *name;

	BUG_ON(asprintf(&name, "%s\n%s", frame->function ? frame->function : "", frame->file) < 0);
	return name;
}

static uint64_t call_chain_line_key(const struct symbols_frame *frame)
{
	uint64_t key = frame->line;

	for (const char *at = frame->file; *at; at++)
		key = key * 31 + (unsigned char)*at;
	return key;
}

static struct wrapper *call_chain_find_wrapper(
	const struct builder *builder, const struct symbols_frame *frame)
{
	FREE_SCOPED char *name = call_chain_wrapper_name(frame);
	struct wrapper *wrapper;

	HASH_FIND_STR(builder->wrappers, name, wrapper);
	return wrapper;
}

static struct wrapper *call_chain_add_wrapper(
	struct builder *builder, const struct symbols_frame *frame)
{
	struct wrapper *wrapper = call_chain_find_wrapper(builder, frame);

	if (wrapper)
		return wrapper;
	wrapper = array_new(1, sizeof *wrapper);
	wrapper->name = call_chain_wrapper_name(frame);
	wrapper->line = frame->line;
	HASH_ADD_KEYPTR(hh, builder->wrappers, wrapper->name, strlen(wrapper->name), wrapper);
	return wrapper;
}

static void call_chain_note_caller(struct wrapper *wrapper, const struct symbols_frame *caller)
{
	const uint64_t key = call_chain_line_key(caller);

	for (unsigned i = 0; i < wrapper->count; i++)
		if (wrapper->callers[i] == key)
			return;
	if (wrapper->count < WRAPPER_CALLERS)
		wrapper->callers[wrapper->count++] = key;
}

/* A wrapper makes operations on objects of one class, and does not both acquire and release a lock. A function that raises
 * a signal, for example by a failed assertion, is no wrapper: reports must name it. The object of a guard has members of
 * its own, on the stack. */
static void call_chain_note_object(struct wrapper *wrapper, const struct trace_event *event)
{
	const enum object_class object = op_descriptions[event->kind].object;
	const unsigned section = OP_ACQUIRE | OP_RELEASE;

	if (object == OBJECT_MEMORY) {
		wrapper->does_more |= !trace_event_frame_at(event, event->address);
		return;
	}
	if (object != OBJECT_COND)
		wrapper->flags |= op_descriptions[event->kind].flags & section;
	wrapper->does_more |= event->kind == OP_SIGNAL_SEND ||
			      (wrapper->object && wrapper->object != object) ||
			      (wrapper->flags & section) == section;
	wrapper->object = object;
}

/* The outermost function of a chain has no known caller, such as the start function of a thread. It is no wrapper. */
static void call_chain_note_event(struct builder *builder, const struct trace_event *event)
{
	struct call_chain chain;

	call_chain_find_chain(builder, event, &chain);
	for (unsigned at = 0; at < chain.count; at++) {
		struct wrapper *wrapper;

		if (!chain.frames[at].short_lines)
			continue;
		wrapper = call_chain_add_wrapper(builder, &chain.frames[at]);
		wrapper->has_more_lines |= wrapper->line != chain.frames[at].line;
		call_chain_note_object(wrapper, event);
		if (at + 1 < chain.count)
			call_chain_note_caller(wrapper, &chain.frames[at + 1]);
	}
}

void builder_note_wrappers(struct builder *builder)
{
	const struct finding_source *source = builder->source;
	const struct outcome *outcome = source->outcome;
	const uint64_t count = source->event_count;

	for (uint64_t i = count > WRAPPER_EVENTS ? count - WRAPPER_EVENTS : 0; i < count; i++)
		call_chain_note_event(builder, &source->events[i]);
	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct trace_event wait = {
			.kind = outcome->waits[i].op, .site = outcome->waits[i].site};

		call_chain_note_event(builder, &wait);
	}
}

void builder_forget_wrappers(struct builder *builder)
{
	HASH_FREE_EACH(builder->wrappers, wrapper, free(wrapper->name));
}

/* Returns "push_back" for "std::vector<int>::push_back". */
static const char *call_chain_last_part(const char *function)
{
	const char *part = function;
	unsigned depth = 0;

	for (const char *at = function; *at; at++) {
		depth += *at == '<';
		depth -= depth && *at == '>';
		if (!depth && at[0] == ':' && at[1] == ':')
			part = at + 2;
	}
	return part;
}

static bool call_chain_is_header(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && (dot[1] == 'h' || !strncmp(dot, ".inl", 4) || !strcmp(dot, ".tpp"));
}

/* Returns whether "lock_owner::lock_owner" or "lock_owner::~lock_owner" names a constructor or destructor. */
static bool call_chain_is_structor(const char *function)
{
	const char *method = function ? call_chain_last_part(function) : NULL;
	const char *class = method;

	if (!method || method < function + 2)
		return false;
	if (*method == '~')
		return true;
	for (class = method - 2; class > function && class[-1] != ':'; class --)
		;
	return !strncmp(class, method, strcspn(method, "(<"));
}

bool builder_is_wrapper(const struct builder *builder, const struct symbols_frame *frame)
{
	const struct wrapper *wrapper;

	if (!frame->short_lines || frame->is_system || !frame->file)
		return false;
	wrapper = call_chain_find_wrapper(builder, frame);
	if (!wrapper || !wrapper->count || wrapper->has_more_lines)
		return false;
	if (wrapper->count == WRAPPER_CALLERS || call_chain_is_header(frame->file))
		return true;
	return !wrapper->does_more &&
	       (call_chain_is_structor(frame->function) ||
		       (wrapper->object && frame->short_lines <= CALL_LINES));
}

/* Index of the innermost frame that is no wrapper; 0 where all frames are wrappers. */
static unsigned call_chain_shown_frame(
	const struct builder *builder, const struct call_chain *chain)
{
	for (unsigned i = 0; i < chain->count; i++)
		if (!builder_is_wrapper(builder, &chain->frames[i]))
			return i;
	return 0;
}

bool builder_event_passes(const struct builder *builder, const struct trace_event *event,
	const struct finding_frame *line)
{
	struct call_chain chain;

	call_chain_find_chain(builder, event, &chain);
	for (unsigned i = 0; i < chain.count && line->file; i++)
		if (chain.frames[i].line == line->line && !strcmp(chain.frames[i].file, line->file))
			return true;
	return false;
}

struct finding_frame builder_event_frame(
	const struct builder *builder, const struct trace_event *event)
{
	struct call_chain chain;

	call_chain_find_chain(builder, event, &chain);
	if (!chain.count)
		return builder_frame_at(builder, event->site, call_chain_location_of(event));
	return builder_frame_from(builder, &chain.frames[call_chain_shown_frame(builder, &chain)]);
}

void builder_add_event_location(
	const struct builder *builder, const struct trace_event *event, struct strbuf *out)
{
	struct finding_frame frame = builder_event_frame(builder, event);

	frame_location(&frame, out);
	finding_frame_release(&frame);
}

/* Returns "push_back" for "std::vector<int>::push_back". NULL for methods of atomics: reports show
 * these as accesses, not as calls, except waits and notifications, which make many accesses. */
static const char *call_chain_method_of(const struct symbols_frame *frame)
{
	const char *function = frame->function;
	const char *method = function ? call_chain_last_part(function) : NULL;

	if (!method ||
		((!strncmp(function, "std::atomic", 11) ||
			 !strncmp(function, "std::__atomic", 13)) &&
			strncmp(method, "wait", 4) != 0 && strncmp(method, "notify_", 7) != 0))
		return NULL;
	return method;
}

/* The library call of a step, such as "jobs.push_back(...)", where the accessed memory belongs to a named variable. */
static char *call_chain_library_call(
	const struct call_chain *chain, const struct trace_event *event, const char *object)
{
	const char *method = chain->library.function ? call_chain_method_of(&chain->library) : NULL;
	/* A library's own variable means nothing to a reader. */
	const bool is_named =
		object && strncmp(object, "memory ", 7) && strncmp(object, "std::", 5);
	const size_t length = is_named ? strcspn(object, "+[ ") : 0;
	char *text;

	if (!method || !chain->count || op_descriptions[event->kind].object != OBJECT_MEMORY)
		return NULL;
	if (length && *object != '(')
		BUG_ON(asprintf(&text, "%.*s.%.*s(...)", (int)length, object,
			       (int)strcspn(method, "<("), method) < 0);
	else
		BUG_ON(asprintf(&text, "%.*s(...)", (int)strcspn(method, "<("), method) < 0);
	return text;
}

/* Returns the class of "std::__basic_future<int>::wait", without what marks classes of the library's
 * own: "future". The caller frees it. NULL: the function belongs to no class. */
static char *call_chain_class_of(const char *function)
{
	const char *method = function ? call_chain_last_part(function) : NULL;
	static const char base[] = "_base", basic[] = "basic_";
	char *name, *class;
	size_t length;

	if (!method || method < function + 2)
		return NULL;
	name = string_copy_part(function, (size_t)(method - 2 - function));
	class = (char *)call_chain_last_part(name);
	class[strcspn(class, "<")] = '\0';
	class += strspn(class, "_");
	class += strncmp(class, basic, sizeof basic - 1) ? 0 : sizeof basic - 1;
	length = strlen(class);
	if (length > sizeof base && !strcmp(class + length - (sizeof base - 1), base))
		class[length - (sizeof base - 1)] = '\0';
	class = string_copy(class);
	free(name);
	return class;
}

char *builder_library_class(const struct builder *builder, const struct trace_event *event)
{
	struct call_chain chain;

	call_chain_find_chain(builder, event, &chain);
	return chain.count ? call_chain_class_of(chain.library.function) : NULL;
}

static void call_chain_add_callers(const struct builder *builder, const struct call_chain *chain,
	unsigned first, struct finding_stack *callers)
{
	const unsigned count =
		chain->count - first < CALLERS_KEPT ? chain->count - first : CALLERS_KEPT;

	callers->frames = array_new(count + 1u, sizeof *callers->frames);
	for (unsigned i = 0; i < count; i++)
		callers->frames[callers->count++] =
			builder_frame_from(builder, &chain->frames[first + i]);
}

/* A container's elements lie in blocks of their own. Such an access gets the name of the call that
 * the thread's last step shows, if both belong to one call. */
static void call_chain_continue_call(const struct builder *builder, struct finding_step *step)
{
	const struct finding *finding = builder->finding;
	const struct finding_step *last = NULL;
	ptrdiff_t more;

	for (uint64_t i = finding->step_count; i-- && !last;)
		if (!strcmp(finding->steps[i].thread, step->thread))
			last = &finding->steps[i];
	if (!last || !last->library_call || !last->where.file || !step->library_call ||
		!step->where.file || strcmp(last->where.file, step->where.file) != 0 ||
		last->where.line != step->where.line)
		return;
	more = (ptrdiff_t)strlen(last->library_call) - (ptrdiff_t)strlen(step->library_call);
	if (more <= 0 || last->library_call[more - 1] != '.' ||
		strcmp(last->library_call + more, step->library_call) != 0)
		return;
	free(step->library_call);
	step->library_call = string_copy(last->library_call);
}

void builder_fill_location(
	const struct builder *builder, const struct trace_event *event, struct finding_step *step)
{
	struct call_chain chain;
	unsigned shown;

	call_chain_find_chain(builder, event, &chain);
	step->library_call = call_chain_library_call(&chain, event, step->object);
	if (!chain.count) {
		step->where = builder_frame_at(builder, event->site, call_chain_location_of(event));
		return;
	}
	shown = call_chain_shown_frame(builder, &chain);
	step->where = builder_frame_from(builder, &chain.frames[shown]);
	call_chain_continue_call(builder, step);
	/* The class of a lock, such as a guard, says less than the line that declares it. */
	if (shown && !call_chain_is_structor(chain.frames[0].function) &&
		call_chain_line_key(&chain.frames[0]) != call_chain_line_key(&chain.frames[shown]))
		step->inner = builder_frame_from(builder, &chain.frames[0]);
	call_chain_add_callers(builder, &chain, shown + 1, &step->callers);
}
