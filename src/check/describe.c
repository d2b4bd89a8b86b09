#include "check/check_internal.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "model/op.h"
#include "model/outcome/outcome.h"
#include "locations/locations.h"
#include "runtime/runtime.h"

/* Describes the last failure. `locations` NULL: only the dynamic symbol table names code. */
struct description {
	struct strbuf *out;
	const struct thread_record *threads;
	void *locations;
	locations_describe *describe_location;
	locations_name_data *name_data; /* NULL if none */
};

/* Loads lib/raddle/libraddle-check-locations.so, beside this library. */
static void *describe_load_locations(void)
{
	STRBUF_SCOPED path = STRBUF_EMPTY;
	Dl_info own;
	const char *end;
	void *library = NULL;

	if (!dladdr((void *)(uintptr_t)raddle_check_at, &own) || !own.dli_fname)
		return NULL;
	end = strrchr(own.dli_fname, '/');
	strbuf_add(&path, own.dli_fname, end ? (size_t)(end + 1 - own.dli_fname) : 0);
	strbuf_adds(&path, "raddle/" LOCATIONS_LIBRARY);
	library = dlopen(path.text, RTLD_NOW | RTLD_LOCAL);
	return library; /* stays loaded for the next failure */
}

static void describe_open_locations(struct description *description)
{
	locations_open *open = NULL;
	void *library = describe_load_locations();

	description->locations = NULL;
	if (!library)
		return;
	/* ISO C has no conversion from void * to a function pointer; POSIX has. */
	*(void **)&open = dlsym(library, LOCATIONS_OPEN);
	*(void **)&description->describe_location = dlsym(library, LOCATIONS_DESCRIBE);
	*(void **)&description->name_data = dlsym(library, LOCATIONS_NAME_DATA);
	if (open && description->describe_location)
		description->locations = open();
}

static void describe_close_locations(const struct description *description)
{
	locations_close *close = NULL;

	if (!description->locations)
		return;
	*(void **)&close = dlsym(describe_load_locations(), LOCATIONS_CLOSE);
	if (close)
		close(description->locations);
}

static void describe_add_location(
	const struct description *description, uint64_t site, bool is_return_address)
{
	struct strbuf *out = description->out;
	Dl_info found;
	const char *module;

	if (description->locations) {
		description->describe_location(
			description->locations, site, is_return_address, out);
		return;
	}
	if (!dladdr((void *)(uintptr_t)(site - is_return_address), &found) || !found.dli_fname) {
		strbuf_adds(out, "an unknown location");
		return;
	}
	module = strrchr(found.dli_fname, '/');
	strbuf_addf(out, "%s+0x%" PRIxPTR, module ? module + 1 : found.dli_fname,
		(uintptr_t)(site - is_return_address) - (uintptr_t)found.dli_fbase);
}

static void describe_add_thread(
	struct strbuf *out, const struct thread_record *threads, uint32_t index)
{
	if (!index) {
		strbuf_adds(out, "main");
		return;
	}
	describe_add_thread(out, threads, threads[index].parent.index);
	strbuf_addf(out, ".%u", threads[index].ordinal);
}

static void describe_add_access(const struct description *description, struct thread_id thread,
	enum op_kind op, uint64_t site)
{
	describe_add_thread(description->out, description->threads, thread.index);
	strbuf_addf(description->out, " %s in ", op_descriptions[op].verb);
	/* The site of an instrumented access is the code address itself, not a return address. */
	describe_add_location(description, site, runtime.has_tsan_calls);
}

static void describe_add_race(const struct description *description, const struct outcome *outcome)
{
	strbuf_adds(description->out, "race: nothing orders two accesses to the same memory: ");
	describe_add_access(
		description, outcome->other_thread, outcome->other_op, outcome->other_site);
	strbuf_adds(description->out, ", ");
	describe_add_access(description, outcome->thread, outcome->op, outcome->site);
}

static void describe_add_freed(const struct description *description, const struct outcome *outcome)
{
	struct strbuf *out = description->out;

	strbuf_addf(out, "%s: ", outcome_descriptions[outcome->kind].word);
	describe_add_thread(out, description->threads, outcome->other_thread.index);
	strbuf_adds(out, outcome_is_of_destroyed(outcome) ? " has destroyed an object in "
							  : " has freed memory in ");
	describe_add_location(description, outcome->other_site, true);
	strbuf_adds(out, ", then ");
	if (outcome->kind == OUTCOME_USE_AFTER_FREE) {
		describe_add_access(description, outcome->thread, outcome->op, outcome->site);
		return;
	}
	describe_add_thread(out, description->threads, outcome->thread.index);
	strbuf_adds(out, " frees it again in ");
	describe_add_location(description, outcome->site, true);
}

static void describe_add_outcome(
	const struct description *description, const struct outcome *outcome)
{
	struct strbuf *out = description->out;
	const bool is_abort = outcome->kind == OUTCOME_ABORT;
	const uint64_t site = is_abort ? outcome->other_site : outcome->site;

	switch (outcome->kind) {
	case OUTCOME_EXIT:
		strbuf_addf(out, "the function returned %d", outcome->code);
		return;
	case OUTCOME_CHECK_FAILED:
		strbuf_adds(out, outcome->text);
		return;
	case OUTCOME_RACE:
		describe_add_race(description, outcome);
		return;
	case OUTCOME_USE_AFTER_FREE:
	case OUTCOME_DOUBLE_FREE:
		describe_add_freed(description, outcome);
		return;
	case OUTCOME_DEADLOCK:
	case OUTCOME_LOST_WAKEUP:
	case OUTCOME_REFUSED:
		strbuf_adds(out, outcome->text[0] ? outcome->text
						  : outcome_descriptions[outcome->kind].sentence);
		return;
	case OUTCOME_ABORT:
		strbuf_adds(out, "aborted: a failed assertion, or an uncaught exception");
		break;
	case OUTCOME_CRASH:
		strbuf_addf(out, "%s%s%s", strsignal(outcome->code), outcome->text[0] ? ": " : "",
			outcome->text);
		break;
	default:
		strbuf_adds(out, outcome_descriptions[outcome->kind].sentence);
	}
	if (site) {
		strbuf_adds(out, ", in ");
		describe_add_location(description, site,
			outcome->kind != OUTCOME_CRASH && outcome->kind != OUTCOME_HANG);
	}
}

/* Returns the number of the object among the steps' objects of its class, in the order of first
 * use. */
static uint32_t describe_object_number(enum object_class class, uint64_t address)
{
	uint64_t left_out;
	const uint32_t count = steps_count(&left_out);
	uint32_t number = 1;

	for (uint32_t i = 0; i < count; i++) {
		const struct check_step *step = steps_at(i);
		bool is_first = op_descriptions[step->kind].object == class && step->address;

		if (is_first && step->address == address)
			return number;
		for (uint32_t k = 0; k < i && is_first; k++)
			is_first = op_descriptions[steps_at(k)->kind].object != class ||
				   steps_at(k)->address != step->address;
		number += is_first;
	}
	return number;
}

static void describe_add_operation(
	const struct description *description, enum op_kind kind, uint64_t address)
{
	struct strbuf *out = description->out;
	const struct op_description *op = &op_descriptions[kind];
	const bool has_noun = op->object != OBJECT_NOTHING && op->object != OBJECT_CHILD &&
			      op->object != OBJECT_SIGNAL && kind != OP_THREAD_BEGIN &&
			      kind != OP_THREAD_EXIT && kind != OP_TEST_CANCEL;

	strbuf_addf(out, "%s%s%s", op->verb, has_noun ? " " : "",
		has_noun ? object_class_text(op->object) : "");
	if (!has_noun || !address || op->object == OBJECT_THREAD || op->object == OBJECT_FD)
		return;
	strbuf_adds(out, " ");
	if (!description->locations || !description->name_data ||
		!description->name_data(description->locations, address, out))
		strbuf_addf(out, "#%" PRIu32, describe_object_number(op->object, address));
}

static void describe_add_wait(const struct description *description, const struct wait_edge *edge)
{
	struct strbuf *out = description->out;

	strbuf_adds(out, "  ");
	describe_add_thread(out, description->threads, edge->waiter.index);
	strbuf_adds(out, " ");
	describe_add_operation(description,
		edge->op == OP_COND_WAKE ? OP_COND_WAIT : (enum op_kind)edge->op,
		edge->object_address);
	strbuf_adds(out, " in ");
	describe_add_location(description, edge->site, true);
	if (edge->holder.index != THREAD_NONE.index) {
		strbuf_adds(out, ", waiting for ");
		describe_add_thread(out, description->threads, edge->holder.index);
		if (edge->holder_site) {
			strbuf_adds(out, ", who did so in ");
			describe_add_location(description, edge->holder_site, true);
		}
	}
	if (edge->lost_signals)
		strbuf_addf(out, ", signalled %u time%s before it waited", edge->lost_signals,
			edge->lost_signals == 1 ? "" : "s");
	strbuf_adds(out, "\n");
}

/* Returns true if a segment that begins at this step preempts a thread that was still enabled. */
static bool describe_is_preemption(const struct schedule *schedule, uint64_t step)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < schedule->count && at <= step; i++) {
		const struct schedule_segment *segment = &schedule->segments[i];

		if (segment->flags & SEGMENT_VALUE)
			continue;
		if (at == step)
			return segment->flags & SEGMENT_PREEMPTS;
		at += segment->count;
	}
	return false;
}

static void describe_add_step(const struct description *description, const struct check_step *step,
	uint16_t before, const struct schedule *schedule)
{
	const struct op_description *op = &op_descriptions[step->kind];
	const bool is_return_address = op->object != OBJECT_MEMORY || runtime.has_tsan_calls;
	struct strbuf *out = description->out;
	size_t start;

	strbuf_addf(out, "  %s ",
		step->thread == before			       ? " "
		: describe_is_preemption(schedule, step->step) ? "!"
							       : ">");
	start = out->length;
	describe_add_thread(out, description->threads, step->thread);
	strbuf_addf(
		out, "%*s ", out->length - start < 8 ? (int)(8 - (out->length - start)) : 0, "");
	describe_add_operation(description, (enum op_kind)step->kind, step->address);
	if (step->site) {
		strbuf_adds(out, " in ");
		describe_add_location(description, step->site, is_return_address);
	}
	strbuf_adds(out, "\n");
}

static void describe_add_steps(
	const struct description *description, const struct schedule *schedule)
{
	uint64_t left_out;
	const uint32_t count = steps_count(&left_out);
	uint16_t before = count ? steps_at(0)->thread : 0;

	if (!count)
		return;
	strbuf_adds(description->out, "  interleaving:   > context switch   ! preemption\n");
	if (left_out)
		strbuf_addf(description->out, "    ... %" PRIu64 " earlier steps\n", left_out);
	for (uint32_t i = 0; i < count; i++) {
		describe_add_step(description, steps_at(i), before, schedule);
		before = steps_at(i)->thread;
	}
}

#define SEGMENTS_SHOWN 24

static void describe_add_order(
	const struct description *description, const struct schedule *schedule)
{
	struct strbuf *out = description->out;
	const uint32_t first =
		schedule->count > SEGMENTS_SHOWN ? schedule->count - SEGMENTS_SHOWN : 0;

	if (!schedule->count)
		return;
	strbuf_addf(out, "  steps in this order: %s", first ? "..., " : "");
	for (uint32_t i = first; i < schedule->count; i++) {
		const struct schedule_segment *segment = &schedule->segments[i];

		if (i > first)
			strbuf_adds(out, ", ");
		if (segment->flags & SEGMENT_VALUE) {
			strbuf_addf(out, "value %u of %u", segment->thread, segment->count);
			continue;
		}
		describe_add_thread(out, description->threads, segment->thread);
		strbuf_addf(out, " %u", segment->count);
	}
	strbuf_adds(out, "\n");
}

void describe_failure(struct strbuf *message, struct strbuf *run)
{
	struct contract *contract = room_contract();
	struct description description = {.out = message, .threads = contract_threads(contract)};

	describe_open_locations(&description);
	describe_add_outcome(&description, &contract->outcome);
	description.out = run;
	for (uint32_t i = 0; i < contract->outcome.wait_count; i++)
		describe_add_wait(&description, &contract->outcome.waits[i]);
	describe_add_steps(&description, contract_schedule(contract));
	describe_add_order(&description, contract_schedule(contract));
	describe_close_locations(&description);
}
