/*
 * Writes the record of a run (record/record.h). Called for every site that is on, in the moving thread;
 * the first part of the way uses general registers only (CMakeLists.txt), as memory.c does.
 *
 * A site reports before its access. What a write writes is seen at the thread's next report: until then
 * it is `pending`. Where code without bitcode may have run in between, it is not looked at.
 */
#include "runtime/record.h"

#include <link.h>
#include <string.h>

#include "model/op.h"
#include "runtime/guarded_read.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"

/* A thread that reports so often without an op may be waiting for another: it gives way. */
#define REPORTS_IN_A_TURN 200000

/* Private, and of one run: recorded runs have processes of their own. */
static struct {
	struct record_area *area;	/* NULL: the run is not recorded */
	uintptr_t code_start, code_end; /* of the module that last called one of its functions */
	uint64_t turn;			/* reports that are left in this turn */
	bool has_chosen;		/* some sites are points */
} record;

bool record_is_on(void)
{
	return record.area != NULL;
}

/* ---- writing ---- */

static bool record_more(struct record_thread *thread)
{
	struct record_area *area = record.area;
	struct record_chunk *chunk;
	char *base = (char *)area;

	if (thread->last)
		((struct record_chunk *)(base + thread->last))->used =
			(uint64_t)(thread->at - (uint8_t *)(base + thread->last) - sizeof *chunk);
	if (area->is_full || area->bytes - area->used < RECORD_CHUNK_BYTES) {
		area->is_full = 1;
		return false;
	}
	chunk = (struct record_chunk *)(base + area->used);
	if (thread->last)
		((struct record_chunk *)(base + thread->last))->next = area->used;
	else
		thread->first = area->used;
	thread->last = area->used;
	area->used += RECORD_CHUNK_BYTES;
	thread->at = (uint8_t *)(chunk + 1);
	thread->end = (uint8_t *)chunk + RECORD_CHUNK_BYTES;
	return true;
}

/* Room for an entry of any kind. */
#define ENTRY_BYTES 64

static bool record_room(struct record_thread *thread)
{
	return __builtin_expect(thread->end - thread->at >= ENTRY_BYTES, 1) || record_more(thread);
}

static void record_number(struct record_thread *thread, uint64_t number)
{
	while (number >= 128) {
		*thread->at++ = (uint8_t)(number | 128);
		number >>= 7;
	}
	*thread->at++ = (uint8_t)number;
}

static bool record_entry(struct record_thread *thread, enum record_tag tag)
{
	if (!record_room(thread))
		return false;
	record_number(thread, thread->predicted << RECORD_TAG_BITS | tag);
	thread->predicted = 0;
	return true;
}

/* ---- reports ---- */

static struct record_thread *record_self(void)
{
	return &record.area->threads[engine_current()->id.index];
}

/* Up to eight bytes; odd numbers of them are read one by one. */
static bool record_fetch(uint64_t address, uint32_t bytes, uint64_t *value)
{
	uint64_t part;

	if (bytes == 8 || bytes == 4 || bytes == 2 || bytes == 1)
		return guarded_read((const void *)address, bytes, value);
	*value = 0;
	for (uint32_t i = 0; i < bytes; i++) {
		if (!guarded_read((const void *)(address + i), 1, &part))
			return false;
		*value |= part << 8 * i;
	}
	return true;
}

static void record_see(struct record_thread *thread, uint64_t address, uint32_t bytes)
{
	for (uint32_t done = 0; done < bytes; done += 8) {
		struct record_slot *slot = &thread->slots[record_slot_of(address + done)];

		slot->key = record_fetch(address + done, bytes - done < 8 ? bytes - done : 8,
				    &slot->value)
				    ? address + done
				    : 0;
	}
}

static void record_flush(struct record_thread *thread)
{
	if (!thread->pending)
		return;
	record_see(thread, thread->pending, thread->pending_bytes);
	thread->pending = 0;
}

/* Whatever was about to be written: who knows what has been written there since. */
static void record_drop(struct record_thread *thread)
{
	uint64_t address = thread->pending;

	for (uint32_t done = 0; address && done < thread->pending_bytes; done += 8)
		thread->slots[record_slot_of(address + done)].key = 0;
	thread->pending = 0;
}

static void record_read(struct record_thread *thread, uint64_t address, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes; done += 8) {
		const uint32_t part = bytes - done < 8 ? (uint32_t)(bytes - done) : 8;
		struct record_slot *slot = &thread->slots[record_slot_of(address + done)];
		uint64_t value;

		if (!record_fetch(address + done, part, &value)) {
			(void)record_entry(thread, RECORD_BAD); /* full: nothing follows anyhow */
			return;
		}
		if (__builtin_expect(slot->key == address + done && slot->value == value, 1)) {
			thread->predicted++;
			continue;
		}
		slot->key = address + done;
		slot->value = value;
		if (!record_entry(thread, RECORD_READ))
			return;
		memcpy(thread->at, &value, 8);
		thread->at += part;
	}
}

static void record_value(struct record_thread *thread, uint32_t site, uint32_t part, uint64_t value)
{
	const uint64_t key = record_site_key(site, part);
	struct record_slot *slot = &thread->slots[record_slot_of(key)];

	if (slot->key == key && slot->value == value) {
		thread->predicted++;
		return;
	}
	slot->key = key;
	slot->value = value;
	if (record_entry(thread, RECORD_VALUE))
		record_number(thread, value);
}

/* Is this the address of code with sites, as far as its module goes? */
static bool record_is_inside(uintptr_t code)
{
	if (code >= record.code_start && code < record.code_end)
		return true;
	return sites_find_code(code, &record.code_start, &record.code_end);
}

static void record_enter(
	struct record_thread *thread, const struct site_record *site, uintptr_t frame)
{
	if (record_is_inside(((const uintptr_t *)frame)[1])) {
		record_flush(thread);
		return;
	}
	record_drop(thread);
	thread->wants_arguments = 1;
	if (record_entry(thread, RECORD_ENTER))
		record_number(thread, site_index(site));
}

static void record_jump(
	struct record_thread *thread, uint32_t site, uint64_t value, uint64_t second)
{
	record_drop(thread);
	if (!record_entry(thread, RECORD_JUMP))
		return;
	record_number(thread, site);
	record_number(thread, value);
	record_number(thread, second);
}

static void record_checked(struct record_thread *thread, uint32_t site, uint64_t address)
{
	if (!record_entry(thread, RECORD_REPORT))
		return;
	record_number(thread, site);
	record_number(thread, address);
}

static void record_access(struct record_thread *thread, const struct site_record *site,
	uint64_t address, uint64_t length)
{
	switch (site->kind) {
	case SITE_LOAD:
	case SITE_ATOMIC_LOAD:
		record_read(thread, address, site->bytes);
		return;
	case SITE_ATOMIC_UPDATE:
	case SITE_COMPARE_EXCHANGE:
		record_read(thread, address, site->bytes);
		/* fall through */
	case SITE_STORE:
	case SITE_ATOMIC_STORE:
		thread->pending = address;
		thread->pending_bytes = site->bytes;
		return;
	case SITE_RANGE_READ:
		if (site->bytes & SITE_COPIED && length <= SITE_COPIED_MOST)
			record_read(thread, address, length);
		return;
	default:
		return;
	}
}

/* Those that the walk comes to one by one. */
static bool is_checked_kind(uint8_t kind)
{
	return kind <= SITE_FENCE || kind >= SITE_RESULT;
}

/* Code without bitcode has run since the last report. */
static bool is_behind_others(uint8_t kind)
{
	return kind == SITE_RESULT || kind == SITE_RETURNS_TWICE || kind == SITE_LANDING ||
	       kind == SITE_RANGE_WRITE || kind == SITE_STRING_WRITE;
}

void record_report(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	struct record_thread *thread = record_self();

	if (site->kind == SITE_ARGUMENT) {
		if (thread->wants_arguments && record_room(thread))
			record_number(thread, address);
		return;
	}
	thread->wants_arguments = 0;
	if (record.area->is_checked && is_checked_kind(site->kind))
		record_checked(thread, site_index(site), address);
	if (is_behind_others(site->kind))
		record_drop(thread);
	else if (site->kind != SITE_FUNCTION_ENTRY)
		record_flush(thread);
	switch (site->kind) {
	case SITE_FUNCTION_ENTRY:
		record_enter(thread, site, frame);
		return;
	case SITE_RESULT:
	case SITE_ADDRESS:
		record_value(thread, site_index(site), site->bytes, address);
		return;
	case SITE_RETURNS_TWICE:
	case SITE_LANDING:
		record_jump(thread, site_index(site), address, length);
		return;
	default:
		record_access(thread, site, address, length);
		return;
	}
}

void record_settle(void)
{
	record_flush(record_self());
}

bool record_quickly(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	if (__builtin_expect(record.has_chosen || !record.turn, 0))
		return false;
	record.turn--;
	record_report(site, address, length, frame);
	return true;
}

bool record_turn_is_over(void)
{
	if (__builtin_expect(record.turn-- != 0, 1))
		return false;
	record.turn = REPORTS_IN_A_TURN;
	return true;
}

/* ---- from the engine ---- */

static bool is_memory(uint8_t kind)
{
	return op_descriptions[kind].object == OBJECT_MEMORY || kind == OP_FENCE;
}

void record_step(const struct engine_thread *thread, const struct engine_op *op, uint64_t step)
{
	struct record_thread *own = &record.area->threads[thread->id.index];

	record_drop(record_self()); /* it stands at an op and others move */
	if (is_memory(op->kind))
		return;
	record_drop(own);
	if (!record_entry(own, RECORD_SYNC))
		return;
	record_number(own, step);
	record_number(own, record.area->position++);
}

void record_resume(void)
{
	struct record_thread *thread = record_self();

	if (record_entry(thread, RECORD_TURN))
		record_number(thread, record.area->position++);
}

void record_performed(const struct engine_performed *performed)
{
	struct record_thread *ops = &record.area->ops;
	const struct record_op op = {.step = performed->step,
		.address = (uint64_t)(uintptr_t)performed->address,
		.argument = performed->argument,
		.site = performed->site,
		.thread = performed->thread.index,
		.other = performed->other.index,
		.kind = performed->kind,
		.flags = (uint8_t)((performed->has_failed ? RECORD_OP_FAILED : 0) |
				   (performed->is_last ? RECORD_OP_LAST : 0))};

	if (is_memory(performed->kind) || !record_room(ops))
		return;
	memcpy(ops->at, &op, sizeof op);
	ops->at += sizeof op;
}

/* ---- life ---- */

/* The object's data that can be written, while there is room and a limit is not passed. */
static void record_add_images(const struct dl_phdr_info *info)
{
	struct record_area *area = record.area;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const uint64_t room = (part->p_memsz + 4095) & ~UINT64_C(4095);
		uintptr_t start, end;

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_W) ||
			part->p_memsz > RECORD_IMAGE_MOST || area->bytes - area->used < room ||
			area->image_count == RECORD_IMAGES_MAX ||
			!sites_find_code(info->dlpi_addr + part->p_vaddr, &start, &end))
			continue;
		area->images[area->image_count++] =
			(struct record_image){.address = info->dlpi_addr + part->p_vaddr,
				.bytes = part->p_memsz,
				.offset = area->used};
		platform_copy((char *)area + area->used,
			(const void *)(info->dlpi_addr + part->p_vaddr), part->p_memsz);
		area->used += room;
	}
}

static int record_add_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct record_area *area = record.area;
	struct record_object *object = &area->objects[area->object_count];

	(void)size;
	(void)unused;
	if (area->object_count == RECORD_OBJECTS_MAX)
		return 1;
	record_add_images(info);
	object->base = info->dlpi_addr;
	strncpy(object->path, info->dlpi_name ? info->dlpi_name : "", sizeof object->path - 1);
	area->object_count++;
	return 0;
}

void record_begin(void)
{
	struct contract *contract = runtime.contract;

	record.area = contract_area(contract, contract->record_offset);
	record.turn = REPORTS_IN_A_TURN;
	record.has_chosen = contract->plan.has_chosen_sites;
	sites_are_live = 1;
}

void record_go_live(void)
{
	record.area->object_count = 0;
	(void)dl_iterate_phdr(record_add_object, NULL); /* what does not fit is not named */
	record_drop(record_self());
	(void)record_entry(record_self(), RECORD_LIVE); /* full: so the host will see */
}
