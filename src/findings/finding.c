#include "findings/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/bug.h"
#include "base/hash.h"
#include "base/search.h"

/* More would count a failure once per caller, fewer would merge all users of one wrapper. */
#define SIGNATURE_FRAMES 4

void finding_frame_release(struct finding_frame *frame)
{
	free(frame->function);
	free(frame->file);
	free(frame->module);
}

const struct finding_frame *finding_user_frame(const struct finding_stack *stack)
{
	const struct finding_frame *best = stack->count ? &stack->frames[0] : NULL;
	const struct finding_frame *wrapper = NULL;

	for (uint32_t i = 0; i < stack->count; i++) {
		const struct finding_frame *frame = &stack->frames[i];

		if (!frame->is_system && frame->file && !frame->is_wrapper)
			return frame;
		if (!frame->is_system && frame->file && !wrapper)
			wrapper = frame;
		if (!frame->is_system && best->is_system)
			best = frame;
	}
	return wrapper ? wrapper : best;
}

bool finding_frame_is_its_line(const struct finding_frame *frame)
{
	const char *colon = frame->function ? strrchr(frame->function, ':') : NULL;

	return colon && !strncmp(frame->function, "lambda at ", 10) &&
	       strtoul(colon + 1, NULL, 10) == frame->line;
}

const char *finding_thread_label(const struct finding *finding, const char *path)
{
	for (uint32_t i = 0; i < finding->thread_count; i++)
		if (!strcmp(finding->threads[i].path, path))
			return finding->threads[i].label;
	return NULL;
}

void finding_add_thread(const struct finding *finding, const char *path, struct strbuf *out)
{
	const char *label = finding_thread_label(finding, path);

	strbuf_adds(out, path);
	if (label)
		strbuf_addf(out, " \"%s\"", label);
}

int finding_short_name(const char *object)
{
	const char *stop = strstr(object, " first used at ");

	return (int)(stop ? (size_t)(stop - object) : strlen(object));
}

static uint64_t finding_text_hash(const char *text)
{
	return text ? hash_bytes(text, strlen(text)) : 0;
}

/* Hashes the file's base name: sources in another folder give the same findings. */
static uint64_t finding_file_hash(const char *file)
{
	return finding_text_hash(base_name(file));
}

static uint64_t finding_frame_hash(const struct finding_frame *frame)
{
	uint64_t hash =
		hash_pair(finding_text_hash(frame->function), finding_file_hash(frame->file));

	return hash_pair(hash, frame->file ? frame->line : finding_text_hash(frame->module));
}

static uint64_t finding_stack_hash(const struct finding_stack *stack)
{
	uint64_t hash = 0;
	unsigned used = 0;

	for (uint32_t i = 0; i < stack->count && used < SIGNATURE_FRAMES; i++) {
		if (stack->frames[i].is_system)
			continue;
		hash = hash_pair(hash, finding_frame_hash(&stack->frames[i]));
		used++;
	}
	/* A stack of system code only is identified by its innermost frame. */
	if (!used && stack->count)
		hash = hash_pair(0, finding_frame_hash(&stack->frames[0]));
	return hash;
}

static uint64_t finding_wait_hash(const struct finding_wait *wait)
{
	uint64_t hash = hash_pair(finding_text_hash(wait->verb), finding_stack_hash(&wait->at));

	return hash_pair(hash, finding_frame_hash(&wait->held_since));
}

/*
 * Hashes the waits on the cycle if any, else all. Threads blocked at one line count once: a cycle
 * of five philosophers equals a cycle of three.
 */
static uint64_t finding_waits_hash(const struct finding *finding)
{
	FREE_SCOPED uint64_t *hashes = array_new(finding->wait_count, sizeof *hashes);
	uint64_t result = 0;
	uint32_t count = 0;
	bool has_cycle = false;

	for (uint32_t i = 0; i < finding->wait_count; i++)
		has_cycle |= finding->waits[i].is_on_cycle;
	for (uint32_t i = 0; i < finding->wait_count; i++)
		if (finding->waits[i].is_on_cycle == has_cycle)
			hashes[count++] = finding_wait_hash(&finding->waits[i]);
	qsort(hashes, count, sizeof *hashes, compare_numbers);
	for (uint32_t i = 0; i < count; i++)
		if (!i || hashes[i] != hashes[i - 1])
			result = hash_pair(result, hashes[i]);
	return result;
}

/* Leaves out numbers, because the number of one of several equal allocations depends on the run. */
static uint64_t finding_variable_hash(const char *name)
{
	uint64_t hash = 0;

	for (const char *at = name; at && *at; at++)
		if (*at < '0' || *at > '9')
			hash = hash_pair(hash, (unsigned char)*at);
	return hash;
}

const struct finding_wait *finding_wait_of(const struct finding *finding, const char *thread)
{
	for (uint32_t i = 0; thread && i < finding->wait_count; i++)
		if (!strcmp(finding->waits[i].thread, thread))
			return &finding->waits[i];
	return NULL;
}

/* The location of the lost signal, by the cause; 0: unknown. It distinguishes lost wake-ups of one object. */
static uint64_t finding_lost_signal_hash(const struct finding *finding)
{
	for (uint32_t i = 0; i < finding->step_count; i++) {
		const struct finding_step *step = &finding->steps[i];

		if (step->cause_line &&
			(!strcmp(step->verb, op_descriptions[OP_COND_SIGNAL].verb) ||
				!strcmp(step->verb, op_descriptions[OP_COND_BROADCAST].verb)))
			return finding_frame_hash(
				step->inner.function ? &step->inner : &step->where);
	}
	return 0;
}

/*
 * The object that the first waiting thread depends on (failure_key()); without a name, the waits.
 */
static uint64_t finding_lost_wakeup_hash(const struct finding *finding)
{
	const struct finding_wait *wait = finding->waits, *next = wait;

	for (uint32_t hops = 0; next && hops < finding->wait_count; hops++) {
		wait = next;
		next = finding_wait_of(finding, wait->holder);
	}
	if (!wait->object || strstr(wait->object, " first used at "))
		return finding_waits_hash(finding);
	return hash_pair(
		hash_pair(finding_text_hash(wait->verb), finding_variable_hash(wait->object)),
		finding_lost_signal_hash(finding));
}

/* The innermost frame of the user's code. Wrappers are not skipped: which functions are wrappers differs between runs. */
static const struct finding_frame *finding_innermost_frame(const struct finding_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++)
		if (!stack->frames[i].is_system && stack->frames[i].file)
			return &stack->frames[i];
	return finding_user_frame(stack);
}

/* A sum: the order of the accesses is arbitrary. */
static uint64_t finding_race_hash(const struct finding *finding)
{
	uint64_t locations = 0;

	for (unsigned i = 0; i < FINDING_ACCESSES; i++) {
		const struct finding_frame *frame = finding_innermost_frame(&finding->race[i].at);

		locations += frame ? finding_frame_hash(frame) : 0;
	}
	return hash_pair(locations, finding_variable_hash(finding->variable));
}

static uint64_t finding_evidence_hash(const struct finding *finding)
{
	const uint64_t what = hash_pair((uint64_t)finding->kind, (uint64_t)(uint32_t)finding->code);

	if (finding->race[FINDING_LATER].thread)
		return hash_pair(what, finding_race_hash(finding));
	if (!finding->wait_count)
		return hash_pair(what, finding_stack_hash(&finding->at));
	return hash_pair(what, finding->kind == OUTCOME_LOST_WAKEUP
				       ? finding_lost_wakeup_hash(finding)
				       : finding_waits_hash(finding));
}

uint64_t finding_signature(const struct finding *finding)
{
	uint64_t signature = finding_evidence_hash(finding);

	if (finding->depends_on_time)
		signature = hash_pair(signature, 1);
	return finding->needs_weak_memory ? hash_pair(signature, 2) : signature;
}

void finding_title_add_needs(struct finding *finding)
{
	char *title;

	if (!finding->title || (!finding->depends_on_time && !finding->needs_weak_memory))
		return;
	BUG_ON(asprintf(&title, "%s%s%s", finding->title,
		       finding->depends_on_time ? " (depends on time)" : "",
		       finding->needs_weak_memory ? " (needs weak memory)" : "") < 0);
	free(finding->title);
	finding->title = title;
}

/* Changes the first word ("tries to lock" gives "trying to lock"), which is regular in every verb
 * of the tables. */
void finding_add_gerund(const char *verb, struct strbuf *out)
{
	const size_t word = strcspn(verb, " ");
	size_t stem = word;

	if (stem && verb[stem - 1] == 's')
		stem--;
	if (stem > 2 && !strncmp(verb + stem - 2, "ie", 2)) {
		strbuf_addf(out, "%.*sy", (int)(stem - 2), verb);
	} else {
		/* "closes" -> "closing", "pushes" -> "pushing" */
		stem -= stem > 2 && verb[stem - 1] == 'e';
		strbuf_add(out, verb, stem);
	}
	strbuf_addf(out, "ing%s", verb + word);
}

/* Returns whether the object alone says what the thread does: it locks it or waits for it. */
static bool finding_is_object_enough(const struct finding_wait *wait)
{
	return wait->object && (!strcmp(wait->verb, "locks") || !strncmp(wait->verb, "waits ", 6));
}

void finding_add_blocked(const struct finding_wait *wait, struct strbuf *out)
{
	strbuf_adds(out, finding_is_object_enough(wait) ? "blocked on " : "blocked ");
	finding_add_blocked_on(wait, out);
}

void finding_add_blocked_on(const struct finding_wait *wait, struct strbuf *out)
{
	if (finding_is_object_enough(wait)) {
		strbuf_addf(out, "%.*s", finding_short_name(wait->object), wait->object);
		return;
	}
	finding_add_gerund(wait->verb, out);
	if (wait->object)
		strbuf_addf(out, " %.*s", finding_short_name(wait->object), wait->object);
}
