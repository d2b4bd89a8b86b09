/* Feeds the detectors of plan.detectors with the operations that the engine performs. Their state
 * is in the contract and survives rewinds and forks. */
#include "detectors/detector.h"
#include "detectors/patterns.h"
#include "base/hot_state.h"
#include "detectors/race.h"
#include "runtime/guarded_read.h"
#include "runtime/memory.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/libc/world.h"

/* Detectors see accesses by granules, because each granule has one name. */
#define DETECT_WORD 8u

/* State of each detector, set when the run begins. NULL if the detector is off. */
static HOT_STATE void *detect_states[DETECTOR_COUNT];
/* True while only the race detector is on, and no inspection waits for an access. */
static HOT_STATE bool detects_quickly;
/* True while only the patterns detector is on, and no inspection waits for an access. */
static HOT_STATE bool records_quickly;

/* Notes the sites of the pairs that the race detector has suppressed since the last call. */
static void detect_note_pairs(struct contract_memory *memory, const void *race)
{
	const struct race_pair *pairs;
	const uint32_t count = race_ignored_pairs(race, &pairs);

	for (; memory->race_pairs < count; memory->race_pairs++) {
		const struct race_pair *pair = &pairs[memory->race_pairs];
		const uint32_t one = site_index_at(pair->site), other = site_index_at(pair->other);

		if (one != UINT32_MAX)
			memory_note_racy_site(memory, one);
		if (other != UINT32_MAX)
			memory_note_racy_site(memory, other);
	}
}

/* Reports the suppressed race at once: the other access is not known later. */
static void detect_report_suppressed(const struct detector_event *event)
{
	if (race_is_watching(detect_states[DETECTOR_race]))
		detect_note_pairs(sites_memory(), detect_states[DETECTOR_race]);
	else if (race_has_suppressed(detect_states[DETECTOR_race]))
		memory_raced((const void *)(uintptr_t)event->address);
}

static void detect_event(const struct detector_event *event)
{
	struct outcome verdict;

	for (unsigned i = 0; i < DETECTOR_COUNT; i++)
		if (detect_states[i] && detectors[i]->observe(detect_states[i], event, &verdict))
			engine_fail_by_verdict(&verdict);
	if (detect_states[DETECTOR_race])
		detect_report_suppressed(event);
}

static HOT_STATE struct detector_event quick_event;

bool runtime_detect_quickly(const struct memory_access *access, enum op_kind kind, object_name name)
{
	const uint64_t address = (uint64_t)(uintptr_t)access->address;
	const struct engine_thread *self = engine_current();

	if (!detects_quickly || !engine_has_reported_all() ||
		address / DETECT_WORD != (address + access->bytes - 1) / DETECT_WORD)
		return false;
	quick_event.step = engine_step();
	quick_event.site = access->site;
	quick_event.address = address;
	quick_event.object = name;
	quick_event.bytes = (uint32_t)access->bytes;
	quick_event.thread = self->id;
	quick_event.kind = (uint8_t)kind;
	return race_passes(detect_states[DETECTOR_race], &quick_event);
}

void *runtime_detects_quickly(void)
{
	return detects_quickly ? detect_states[DETECTOR_race] : NULL;
}

/* Reports an access to the detectors. The engine names at most its first two granules. */
static void detect_access(struct detector_event *event, object_name next)
{
	uint64_t end = event->address + event->bytes;
	uint64_t first_end = (event->address | (DETECT_WORD - 1)) + 1;

	if (end <= first_end && event->object) {
		detect_event(event);
		return;
	}
	if (next && end <= first_end + DETECT_WORD) {
		event->bytes = (uint32_t)(first_end - event->address);
		detect_event(event);
		event->bytes = (uint32_t)(end - first_end);
		event->object = next;
		event->address = first_end;
		detect_event(event);
		return;
	}
	while (event->address < end) {
		uint64_t word_end = (event->address | (DETECT_WORD - 1)) + 1;

		event->bytes = (uint32_t)((end < word_end ? end : word_end) - event->address);
		event->object =
			(object_name)memory_variable_name((const void *)(uintptr_t)event->address);
		detect_event(event);
		event->address = word_end;
	}
}

static HOT_STATE struct detector_event plain_event = {
	.class_of = memory_class,
	.other = {UINT16_MAX},
};

static void detect_record_word(uint64_t address, uint64_t end, object_name name)
{
	struct outcome verdict; /* stays unused: patterns never fail */

	plain_event.address = address;
	plain_event.bytes = (uint32_t)(end - address);
	plain_event.object = name;
	(void)detectors[DETECTOR_patterns]->observe(
		detect_states[DETECTOR_patterns], &plain_event, &verdict);
}

/* Fast path of the patterns detector: plain accesses to one or two granules. */
static bool detect_record_quickly(const struct engine_performed *performed)
{
	const uint64_t address = (uint64_t)(uintptr_t)performed->address;
	const uint64_t end = address + performed->bytes;
	const uint64_t first_end = (address | (DETECT_WORD - 1)) + 1;
	const struct engine_thread *thread;

	if (!records_quickly || (performed->kind != OP_LOAD && performed->kind != OP_STORE) ||
		!performed->object ||
		(end > first_end && (!performed->next_object || end > first_end + DETECT_WORD)))
		return false;
	thread = engine_thread(performed->thread.index);
	plain_event.step = performed->step;
	plain_event.site = performed->site;
	plain_event.name = thread->name;
	plain_event.role = (uint64_t)(uintptr_t)thread->start;
	plain_event.thread = performed->thread;
	plain_event.kind = performed->kind;
	detect_record_word(address, end < first_end ? end : first_end, performed->object);
	if (end > first_end)
		detect_record_word(first_end, end, performed->next_object);
	return true;
}

/* Decides whether a compare-exchange writes: no other thread can change the memory. */
static void detect_exchange(struct detector_event *event, const struct engine_performed *performed)
{
	uint64_t found;

	if (!guarded_read(performed->address, performed->bytes, &found)) {
		event->may_only_read = true; /* the access will crash */
		return;
	}
	if (found == performed->argument)
		return;
	event->kind = OP_ATOMIC_LOAD;
	event->order = performed->order_of_failure;
}

/* Returns whether this is the access to inspect. Accesses that are no scheduling points share the
 * next step's number: code and memory address must match, too. */
static bool detect_is_wanted(
	const struct contract_plan *plan, const struct engine_performed *performed)
{
	const uint64_t address = (uint64_t)(uintptr_t)performed->address;

	return plan->inspect_step == performed->step + 1 && plan->inspect_site == performed->site &&
	       address / DETECT_WORD <= plan->inspect_address / DETECT_WORD &&
	       plan->inspect_address < address + performed->bytes + DETECT_WORD;
}

/* Returns true for classes of objects whose operations form patterns. */
static bool detect_names_objects(enum object_class class)
{
	return class >= OBJECT_THREAD && class <= OBJECT_FUTEX;
}

static void detect_any(const struct engine_performed *performed)
{
	struct detector_event event = {
		.step = performed->step,
		.site = performed->site,
		.address = (uint64_t)(uintptr_t)performed->address,
		.argument = performed->argument,
		.object = performed->object,
		.bytes = performed->bytes,
		.thread = performed->thread,
		.other = performed->other,
		.kind = performed->kind,
		.order = performed->order,
		.has_failed = performed->has_failed,
		.may_only_read = performed->exchange == EXCHANGE_UNKNOWN,
		.is_last = performed->is_last,
		.is_point = performed->is_point,
		.messages = performed->messages,
	};
	enum object_class class = op_descriptions[performed->kind].object;

	if (detect_states[DETECTOR_patterns]) {
		const struct engine_thread *thread = engine_thread(performed->thread.index);

		event.role = (uint64_t)(uintptr_t)thread->start;
		event.name = thread->name;
		event.class_of = memory_class;
		/* Named when the op was announced: the look-up creates no name. */
		if (!event.object && event.address && detect_names_objects(class) &&
			patterns_includes_orders(detect_states[DETECTOR_patterns]))
			event.object = engine_object_name(performed->address);
	}
	if (class == OBJECT_MEMORY) {
		const struct contract_plan *plan = &runtime.contract->plan;

		if (plan->inspect && detect_is_wanted(plan, performed))
			runtime_stand_still();
		if (performed->exchange == EXCHANGE_OF_EXPECTED)
			detect_exchange(&event, performed);
		detect_access(&event, performed->next_object);
		return;
	}
	if (class == OBJECT_FD && performed->address && !fd_object_is_whole(performed->address))
		event.address = 0;
	detect_event(&event);
}

void runtime_detect(const struct engine_performed *performed)
{
	if (!detect_record_quickly(performed))
		detect_any(performed);
}

bool runtime_looks_for_races(void)
{
	return detect_states[DETECTOR_race] != NULL;
}

/* Returns whether raddle sees accesses of this program. A module with sites that a later run loads counts from then on. */
static bool detect_sees_accesses(void)
{
	const struct contract_memory *memory = sites_memory();

	return runtime.has_tsan_calls || (memory && memory->module_count);
}

/* Returns whether the only detector merely watches, and this is not one of its runs. */
static bool detect_is_idle(const struct contract *contract)
{
	bool is_idle;

	if (contract->plan.detectors != 1u << DETECTOR_race || !contract->plan.watches_races)
		return false;
	is_idle = !detect_sees_accesses() || !memory_watches_run(contract->run_number);
	engine_set_performed(is_idle ? NULL : runtime_detect);
	return is_idle;
}

void runtime_note_races(struct contract_run *run)
{
	struct contract *contract = runtime.contract;
	const struct race_seen *seen;
	const void *state;

	if (!(contract->plan.detectors >> DETECTOR_race & 1))
		return;
	state = detectors_state(contract_area(contract, contract->detectors_offset), DETECTOR_race);
	run->races_suppressed = race_ignored_count(state);
	run->blind_runs = race_blind_runs(state);
	run->races_seen = race_seen_list(state, &seen);
}

void runtime_detect_begin(void)
{
	struct contract *contract = runtime.contract;
	void *block = contract_area(contract, contract->detectors_offset);

	const bool is_idle = detect_is_idle(contract);

	detects_quickly =
		contract->plan.detectors == 1u << DETECTOR_race && !contract->plan.inspect;
	records_quickly =
		contract->plan.detectors == 1u << DETECTOR_patterns && !contract->plan.inspect;
	for (unsigned i = 0; i < DETECTOR_COUNT; i++) {
		detect_states[i] = NULL;
		if (!(contract->plan.detectors >> i & 1) || is_idle)
			continue;
		detect_states[i] = detectors_state(block, i);
		if (i == DETECTOR_race && runtime.has_tsan_calls)
			race_follow_thread_sanitizer(detect_states[i]);
		detectors[i]->begin_run(detect_states[i]);
	}
}
