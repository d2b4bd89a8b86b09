/* Shared by the files that build a finding: the source, and its threads and objects as words. */
#pragma once

#include "base/strbuf.h"
#include "findings/describe/build.h"
#include "findings/describe/signals.h"

/* Upper bound for the frames at one location, inlined functions included. */
#define SITE_FRAMES_MAX 16

/* A location in the code is either the return address of a call or the address of an access to memory. */
enum code_location { LOCATION_OF_CALL, LOCATION_OF_ACCESS };

struct wrapper;	  /* call_chain.c: a short function and its call sites */
struct first_use; /* words.c: first use of an object, by address and class */

#define EARLY_EVENTS_MAX 16

/* The events before the finding's first step that the cause names, with their lines. */
struct early_events {
	uint32_t count;
	uint64_t events[EARLY_EVENTS_MAX];
	uint32_t lines[EARLY_EVENTS_MAX];
};

struct builder {
	const struct finding_source *source;
	struct symbols *symbols; /* NULL if none */
	struct finding *finding;
	char **paths;			/* thread path by index */
	struct symbols_thread *threads; /* the same threads for symbols_describe_data() */
	struct first_use *first_uses;
	struct wrapper *wrappers;
	uint64_t first_step; /* event of the finding's first step */
	struct early_events *early;
	/* Indices of the finding's steps that are no events (ending.c). They are 0 as long as there is no such step. */
	uint32_t free_step, failure_step;
	uint32_t culprit; /* index of the wait whose signal was lost; UINT32_MAX: unknown */
	struct signal_history signals; /* signals that concern the culprit */
	/* the failing thread's name as titles show it; NULL if there is no such thread */
	char *failing_name;
};

/* ---- sentence.c ---- */

/*
 * Adds text in which each word in braces stands for the next value:
 *   {text} const char *
 *   {object} const char *, of builder_object() and its like: without the location of its first use;
 *     NULL: "it"
 *   {thread} struct thread_id: "main.0"
 *   {titled} const char *, a thread's path, with the name that the program gave the thread
 *   {frame} const struct finding_frame *: "bank.c:41", "f in libfoo.so", or "an unknown location"
 *   {stack} const struct finding_stack *: its frame in the user's code, as {frame}
 *   {actor} const struct trace_event *, an event of the trace: its thread
 *   {location} const struct trace_event *: its location
 *   {step} no value: the location of the last {actor}, whose step is marked as explained by this line
 */
void builder_add_sentence(
	const struct builder *builder, struct strbuf *out, const char *format, ...);

/* ---- words.c ---- */

/* Indexes the trace by object. Must precede all queries for object names. */
void builder_note_first_uses(struct builder *builder);
void builder_forget_first_uses(struct builder *builder);
/* Infers contents of memory blocks from the trace. Must precede all queries for names of memory. */
void builder_note_accesses(struct builder *builder);

/* "main.0"; "a thread" for an unknown index. Owned by the builder. */
const char *builder_thread(const struct builder *builder, struct thread_id thread);
/*
 * "mutex forks[1]", "mutex #3 first used at pool.c:12 by main.0"; returns NULL if there is none. `step`: when the
 * object is used, because its memory may hold another object later; UINT64_MAX: at the end of the run. The caller frees
 * the text.
 */
char *builder_object(
	const struct builder *builder, enum op_kind kind, uint64_t address, uint64_t step);
/* The memory of the described run, for questions to symbols.h. */
struct symbols_memory builder_symbols_memory(const struct builder *builder);
/* "counter", "((struct account *)malloc at bank.c:41, #3).balance". The caller frees it. */
char *builder_memory(const struct builder *builder, const struct symbols_access *access);
/* Adds a name such as " pool.cv_" for an object on a stack or in heap memory of known type. Returns
 * false if the object has no name. */
bool builder_add_placed_name(const struct builder *builder, enum object_class class,
	uint64_t address, uint64_t step, struct strbuf *out);
/* The object of an event. Returns NULL if there is no object. The caller frees the text. */
char *builder_event_object(const struct builder *builder, const struct trace_event *event);
/* The event's verb: "accepts on", "sends SIGUSR1 to the process", "times out waiting on". The caller frees the text. */
char *builder_event_verb(const struct trace_event *event);
/* The object that a blocked thread needs; returns NULL if there is none. The caller frees the
 * text. */
char *builder_wait_object(const struct builder *builder, const struct wait_edge *edge);
/* Adds " #3 first used at pool.c:12 by main.0", or nothing if the trace has no use. */
void builder_add_first_use(const struct builder *builder, enum object_class class, uint64_t address,
	uint64_t step, struct strbuf *out);
/* The object of an event other than an access to memory; returns NULL if there is none. The caller
 * frees the text. */
/* Threads that wait for a std::atomic of another size than a futex wait at a word of libstdc++. Returns a read of the
 * variable that they wait for, or NULL if the address is no such word or serves several variables. */
const struct trace_event *builder_awaited_read(const struct builder *builder, uint64_t address);
char *builder_operand(const struct builder *builder, const struct trace_event *event);
/* Adds a line for each module whose variables have no names, with the remedy. */
void builder_add_notices(const struct builder *builder, struct strbuf *out);
/* Fills the frames at the location, innermost first, and returns their number; 0: no debug information covers the location. */
unsigned builder_frames_at(const struct builder *builder, uint64_t site,
	enum code_location location, struct symbols_frame frames[SITE_FRAMES_MAX]);
/* The innermost frame in the user's code at the location; where no frame is in the user's code, the innermost frame. */
struct finding_frame builder_frame_at(
	const struct builder *builder, uint64_t site, enum code_location location);
struct finding_frame builder_frame_from(
	const struct builder *builder, const struct symbols_frame *frame);
/* Does for an event what builder_frame() does for an address; in a library header, returns the
 * frame of the calling code. */
struct finding_frame builder_event_frame(
	const struct builder *builder, const struct trace_event *event);
void builder_add_event_location(
	const struct builder *builder, const struct trace_event *event, struct strbuf *out);
/* Location where the holder of a waited-for object acquired it. */
struct finding_frame builder_held_since(
	const struct builder *builder, const struct wait_edge *edge);
/* Returns whether raddle's runtime has the code at the address. Needs symbols. */
bool builder_is_runtime(const struct builder *builder, uint64_t address);
/* Call stack of a thread: unwound in a stopped process, else the frame of `site`. */
void builder_stack(const struct builder *builder, struct thread_id thread, uint64_t site,
	struct finding_stack *stack);

/*
 * Stack of an access at `site`, without the runtime's frames. `addresses`: return addresses of the
 * thread before the access; `count` 0: unknown.
 */
void builder_access_stack(const struct builder *builder, uint64_t site, const uint64_t *addresses,
	unsigned count, struct finding_stack *stack);

/* Adds "bank.c:41", "f in libfoo.so", or "an unknown location". */
void frame_location(const struct finding_frame *frame, struct strbuf *out);

/* ---- call_chain.c ---- */

/* Finds the wrappers: short functions whose steps in the trace have one line. Must run before any frame is chosen. */
void builder_note_wrappers(struct builder *builder);
void builder_forget_wrappers(struct builder *builder);
/* Is the frame's function a wrapper in a header, a constructor or destructor, or one with several call
 * sites? Its caller is then more informative. */
bool builder_is_wrapper(const struct builder *builder, const struct symbols_frame *frame);
/* Returns whether the event happens at the line, or in a call that this line makes. */
bool builder_event_passes(const struct builder *builder, const struct trace_event *event,
	const struct finding_frame *line);
/* Returns the class of the library's method that the program calls for this event: "future" for
 * std::future<int>::get. The caller frees it. NULL: no such method. */
char *builder_library_class(const struct builder *builder, const struct trace_event *event);
/* Fills the step's shown line, the wrapper or library call inside that line, and the callers of that line. */
void builder_fill_location(
	const struct builder *builder, const struct trace_event *event, struct finding_step *step);

/* ---- causes/stalls.c ---- */

void builder_fill_stalls(struct builder *builder);
/* Adds a line for each stalled thread: "depends on time: needs main.0 to be stalled for at least 1 ms at f.c:12". */
void builder_add_stalls(const struct builder *builder, struct strbuf *out);

/* ---- waits.c ---- */

/* Completes the wait-for graph from the trace. */
void resolve_waits(const struct finding_source *source, struct outcome *outcome);
/* Returns whether a thread of a deadlock waits for a semaphore that it has taken itself. */
bool builder_waits_for_itself(const struct builder *builder);
/* Adds a line for each object on which threads wait for a signal: who signalled it last, and where. */
void builder_add_hopes(const struct builder *builder, struct strbuf *out);

/* ---- title.c ---- */

/*
 * One line that says what went wrong. Requires waits, stack, failing thread. The caller frees it.
 */
char *builder_title(const struct builder *builder);
/* Further text; returns NULL if there is none. The caller frees it. */
char *builder_detail(const struct builder *builder);

/* ---- title_waits.c ---- */

void builder_deadlock_title(const struct builder *builder, struct strbuf *out);
void builder_self_deadlock_title(const struct builder *builder, struct strbuf *out);
void builder_lost_wakeup_title(const struct builder *builder, struct strbuf *out);

/* ---- causes/ ---- */

/* Returns the event of the dlclose() call that unloaded the code or data at which the failing thread crashed. Returns
 * NO_EVENT if the crash has another reason. */
uint64_t builder_find_unload(const struct builder *builder);
/* Adds the title of a finding of kind "weak": a memory model weaker than sequential consistency permits that an access
 * takes effect before an earlier store of the same thread. */
void builder_weak_title(const struct builder *builder, struct strbuf *out);
/* Adds the title of a finding of kind "use-after-return": a thread accessed a local variable of another thread's function
 * after that function had returned. */
void builder_left_frame_title(const struct builder *builder, struct strbuf *out);
/* Fills the finding's cause and remedy where the trace shows them. Requires that waits and races are already filled. */
void builder_fill_cause(struct builder *builder);

/* ---- race.c ---- */

/* Returns the locks that the thread holds at the step, as in "mutex m, rwlock r", or NULL if it holds none. `own` is the
 * address of a lock to leave out, or 0. The caller frees the text. */
char *builder_held_words(
	const struct builder *builder, struct thread_id thread, uint64_t step, uint64_t own);
bool builder_holds(
	const struct builder *builder, struct thread_id thread, uint64_t address, uint64_t step);

/* "counter", or a description. The caller frees the text. */
char *builder_race_variable(const struct builder *builder, bool is_brief);
void builder_fill_race(struct builder *builder);
/* The event of the earlier of the two accesses, which may be a free, or NO_EVENT if the trace lacks it. */
uint64_t builder_find_earlier(const struct builder *builder);

/* ---- interleaving.c ---- */

void builder_fill_steps(struct builder *builder);
/* Adds the events before the finding's first step that the cause names. Must run after all lines of the cause are known. */
void builder_add_early_steps(struct builder *builder);
/* Notes at the event's step that line `line` of the cause names it. Keeps an earlier note; ignores NO_EVENT. */
void builder_mark_step(const struct builder *builder, uint64_t event, uint32_t line);
/* Returns the number of the line that is added to the cause next, from 1. */
uint32_t builder_next_line(const struct strbuf *cause);
/* Does what builder_mark_step() does, for the line that is being added to the cause. */
void builder_mark_cause(const struct builder *builder, uint64_t event, const struct strbuf *cause);
/* Do what builder_mark_step() does, for the earlier and the later of the two accesses of the failure. If the run ended
 * before the later access took place, they mark the step that builder_add_failure_step() has added. */
void builder_mark_earlier(const struct builder *builder, uint32_t line);
void builder_mark_later(const struct builder *builder, uint32_t line);

/* ---- ending.c: steps that are no scheduling points. They require that the races are already filled. ---- */

/* Returns the last event before the free of the memory that is used later, or NO_EVENT if the free is an event itself, or
 * the failure has no free. */
uint64_t builder_event_before_free(const struct builder *builder);
/* Adds the free as the finding's next step. */
void builder_add_free_step(struct builder *builder);
/* Adds the failure as the finding's last step, if it is one action of one thread. */
void builder_add_failure_step(struct builder *builder);
