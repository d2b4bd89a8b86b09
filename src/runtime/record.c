/*
 * Writes the record of a run (record/record.h). Called for every site that is on and whose report is not
 * predicted (record_stubs.c), in the moving thread; the first part of the way uses general registers only
 * (CMakeLists.txt), as memory.c does.
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
#include "runtime/record_internal.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"

/* A thread that reports so often without an op may be waiting for another: it gives way. */
#define REPORTS_IN_A_TURN 200000

/* Of a thread, while others move. */
struct record_parked {
	uint64_t pending;
	uint32_t pending_bytes, wants_arguments;
	uint64_t copied_from;
	uint8_t *memory; /* NULL: it has not moved */
	uint64_t *values;
};

/* Private, and of one run: recorded runs have processes of their own. */
static struct {
	struct record_area *area; /* NULL: the run is not recorded */
	struct record_moving *moving;
	struct record_moving without_stubs;
	uintptr_t code_start, code_end; /* of the module that last called one of its functions */
	bool has_chosen;		/* some sites are points */
	struct executor executor;	/* the run's, told of here */
	const struct executor *below;
	struct record_parked parked[THREAD_CAPACITY];
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
	struct record_moving *moving = record.moving;

	if (thread == moving->thread) {
		thread->predicted += (uint64_t)(moving->mark - moving->left);
		moving->mark = --moving->left;
	}
	if (!record_room(thread))
		return false;
	record_number(thread, thread->predicted << RECORD_TAG_BITS | tag);
	thread->predicted = 0;
	return true;
}

/* ---- who moves ---- */

static void record_park(struct record_moving *moving)
{
	struct record_parked *parked = &record.parked[moving->index];

	moving->thread->predicted += (uint64_t)(moving->mark - moving->left);
	moving->mark = moving->left;
	parked->pending = moving->pending;
	parked->pending_bytes = moving->pending_bytes;
	parked->wants_arguments = moving->wants_arguments;
	parked->copied_from = moving->copied_from;
}

/* Its memory is made when it first moves: most of it is never touched. */
static void record_resume_thread(uint32_t index)
{
	struct record_moving *moving = record.moving;
	struct record_parked *parked = &record.parked[index];

	if (moving->thread)
		record_park(moving);
	if (!parked->memory) {
		parked->memory = platform_map(RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK +
						      RECORD_VALUES * sizeof(uint64_t),
			false);
		if (!parked->memory)
			runtime_refuse("there is no memory for the record of a thread");
		parked->values =
			(uint64_t *)(parked->memory + RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK);
	}
	moving->index = index;
	moving->thread = &record.area->threads[index];
	moving->pending = parked->pending;
	moving->pending_bytes = parked->pending_bytes;
	moving->wants_arguments = parked->wants_arguments;
	moving->copied_from = parked->copied_from;
	moving->memory = parked->memory;
	moving->values = parked->values;
}

static void record_transfer(struct engine_thread *from, struct engine_thread *to)
{
	if (record.area)
		record_resume_thread(to->id.index);
	record.below->transfer(from, to);
}

static void record_finish(struct engine_thread *from, struct engine_thread *to)
{
	if (record.area)
		record_resume_thread(to->id.index);
	record.below->finish(from, to);
}

const struct executor *record_executor(const struct executor *executor)
{
	record.below = executor;
	record.executor = *executor;
	record.executor.transfer = record_transfer;
	record.executor.finish = record_finish;
	return &record.executor;
}

/* ---- reports ---- */

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

static uint8_t *record_place(uint64_t address)
{
	return record.moving->memory + record_place_of(address);
}

static void record_flush(void)
{
	struct record_moving *moving = record.moving;
	const uint64_t address = moving->pending;

	for (uint32_t done = 0; address && done < moving->pending_bytes; done += 8) {
		const uint32_t left = moving->pending_bytes - done;
		uint64_t value;

		if (!record_fetch(address + done, left < 8 ? left : 8, &value))
			value = 0;
		memcpy(record_place(address + done), &value, left < 8 ? left : 8);
	}
	moving->pending = 0;
}

/* In place of libc's, which use the widest registers there are. */
static void record_clear(uint8_t *at, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++) {
		at[i] = 0;
		__asm__("" : "+r"(i)); /* or the compiler makes memset of it */
	}
}

static bool record_is_same(const uint8_t *at, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (at[i] != (uint8_t)(value >> 8 * i))
			return false;
	return true;
}

/* Whatever was about to be written: who knows what has been written there since. */
static void record_drop(void)
{
	struct record_moving *moving = record.moving;

	if (moving->pending)
		record_clear(record_place(moving->pending), moving->pending_bytes);
	moving->pending = 0;
}

static void record_read(uint64_t address, uint64_t bytes)
{
	struct record_moving *moving = record.moving;

	for (uint64_t done = 0; done < bytes; done += 8) {
		const uint32_t part = bytes - done < 8 ? (uint32_t)(bytes - done) : 8;
		uint8_t *known = record_place(address + done);
		uint64_t value;

		if (!record_fetch(address + done, part, &value)) {
			/* Full: nothing follows anyhow. */
			(void)record_entry(moving->thread, RECORD_BAD);
			return;
		}
		if (record_is_same(known, value, part)) {
			moving->left--;
			continue;
		}
		memcpy(known, &value, part);
		if (!record_entry(moving->thread, RECORD_READ))
			return;
		memcpy(moving->thread->at, &value, 8);
		moving->thread->at += part;
	}
}

/* The memory is copied next: what is read is what will be there. */
static void record_copied(uint64_t from, uint64_t to, uint64_t bytes)
{
	record_read(from, bytes);
	record_copy_known(record.moving->memory, from, to, bytes);
}

static void record_value(uint32_t site, uint32_t part, uint64_t value)
{
	struct record_moving *moving = record.moving;
	uint64_t *known = &moving->values[record_value_slot(site, part)];

	if (*known == value) {
		moving->left--;
		return;
	}
	*known = value;
	if (record_entry(moving->thread, RECORD_VALUE))
		record_number(moving->thread, value);
}

/* Is this the address of code with sites, as far as its module goes? */
static bool record_is_inside(uintptr_t code)
{
	if (code >= record.code_start && code < record.code_end)
		return true;
	return sites_find_code(code, &record.code_start, &record.code_end);
}

static void record_enter(const struct site_record *site, uintptr_t frame)
{
	struct record_moving *moving = record.moving;

	if (record_is_inside(((const uintptr_t *)frame)[1]))
		return;
	record_drop();
	moving->wants_arguments = 1;
	if (record_entry(moving->thread, RECORD_ENTER))
		record_number(moving->thread, site_index(site));
}

static void record_jump(uint32_t site, uint64_t value, uint64_t second)
{
	struct record_thread *thread = record.moving->thread;

	record_drop();
	if (!record_entry(thread, RECORD_JUMP))
		return;
	record_number(thread, site);
	record_number(thread, value);
	record_number(thread, second);
}

static void record_checked(uint32_t site, uint64_t address)
{
	struct record_thread *thread = record.moving->thread;

	if (!record_entry(thread, RECORD_REPORT))
		return;
	record_number(thread, site);
	record_number(thread, address);
}

static void record_access(const struct site_record *site, uint64_t address, uint64_t length)
{
	switch (site->kind) {
	case SITE_LOAD:
	case SITE_ATOMIC_LOAD:
		record_read(address, site->bytes);
		return;
	case SITE_ATOMIC_UPDATE:
	case SITE_COMPARE_EXCHANGE:
		record_read(address, site->bytes);
		/* fall through */
	case SITE_STORE:
	case SITE_ATOMIC_STORE:
		record.moving->pending = address;
		record.moving->pending_bytes = site->bytes;
		return;
	case SITE_RANGE_READ:
		record.moving->copied_from = address;
		if (site->bytes & SITE_COPIED && length <= SITE_COPIED_MOST)
			record_read(address, length);
		return;
	case SITE_RANGE_WRITE:
		if (site->bytes & SITE_FOLLOWED && length <= SITE_FOLLOWED_MOST)
			record_copied(record.moving->copied_from, address, length);
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

/* What becomes of the write that the last report was about. The walk does the same at the same places. */
static void record_look_back(const struct site_record *site)
{
	switch (site->kind) {
	case SITE_FUNCTION_ENTRY: /* it depends on who calls */
	case SITE_STRING_READ:	  /* of library calls, which end with a result */
		return;
	case SITE_RANGE_READ:
		if (site->bytes & (SITE_COPIED | SITE_FOLLOWED))
			record_flush();
		return;
	case SITE_RESULT: /* code without bitcode has run */
	case SITE_RETURNS_TWICE:
	case SITE_LANDING:
	case SITE_RANGE_WRITE:
	case SITE_STRING_WRITE:
		record_drop();
		return;
	default:
		record_flush();
		return;
	}
}

void record_report(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	struct record_moving *moving = record.moving;

	if (site->kind == SITE_ARGUMENT) {
		if (moving->wants_arguments && record_room(moving->thread))
			record_number(moving->thread, address);
		return;
	}
	moving->wants_arguments = 0;
	if (record.area->is_checked && is_checked_kind(site->kind))
		record_checked(site_index(site), address);
	record_look_back(site);
	switch (site->kind) {
	case SITE_FUNCTION_ENTRY:
		record_enter(site, frame);
		return;
	case SITE_RESULT:
	case SITE_ADDRESS:
		record_value(site_index(site), site->bytes, address);
		return;
	case SITE_RETURNS_TWICE:
	case SITE_LANDING:
		record_jump(site_index(site), address, length);
		return;
	default:
		record_access(site, address, length);
		return;
	}
}

void record_settle(void)
{
	record_flush();
}

bool record_quickly(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	if (__builtin_expect(record.has_chosen || record.moving->left <= 0, 0))
		return false;
	record_report(site, address, length, frame);
	return true;
}

bool record_turn_is_over(void)
{
	struct record_moving *moving = record.moving;

	if (__builtin_expect(moving->left > 0, 1))
		return false;
	moving->thread->predicted += (uint64_t)(moving->mark - moving->left);
	moving->mark = moving->left = REPORTS_IN_A_TURN;
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

	record_drop(); /* the moving thread stands at an op and others move */
	if (is_memory(op->kind))
		return;
	if (!record_entry(own, RECORD_SYNC))
		return;
	record_number(own, step);
	record_number(own, record.area->position++);
}

void record_resume(void)
{
	struct record_thread *thread = record.moving->thread;

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

/* Of sites that are points the general way has to be told. */
static const unsigned char *record_quick_stub(const struct site_record *site)
{
	const uint8_t *state = site_state(site);
	uintptr_t start, end;

	if (!state || *state & SITE_CHOSEN ||
		!sites_find_code(
			(uintptr_t)&site->point + (uintptr_t)(intptr_t)site->point, &start, &end))
		return NULL;
	return record_stub_of(site, site_index(site), start, end);
}

void record_begin(void)
{
	struct contract *contract = runtime.contract;

	record.area = contract_area(contract, contract->record_offset);
	record.has_chosen = contract->plan.has_chosen_sites;
	record.moving = record_stubs_open();
	if (!record.moving)
		record.moving = &record.without_stubs;
	else if (!record.area->is_checked)
		sites_quick_stub = record_quick_stub;
	record.moving->left = record.moving->mark = REPORTS_IN_A_TURN;
	record_resume_thread(0);
	sites_are_live = SITES_LIVE;
}

void record_go_live(void)
{
	record.area->object_count = 0;
	(void)dl_iterate_phdr(record_add_object, NULL); /* what does not fit is not named */
	record_drop();
	(void)record_entry(record.moving->thread, RECORD_LIVE); /* full: so the host will see */
}

void record_end(void)
{
	record_park(record.moving);
	record.area = NULL;
}
