/* Chooses the sites of a recorded run that report, and stores the image of static data at the begin
 * of control. */
#include <link.h>
#include <string.h>

#include "base/hot_state.h"
#include "runtime/memory.h"
#include "runtime/record.h"
#include "runtime/record/record_internal.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/quick.h"

/* The state is large, and most runs are not recorded. */
static HOT_STATE bool record_has_area;

bool record_is_on(void)
{
	return record_has_area;
}

/* Copies writable data into the area, except parts above a size limit or without room. */
static void record_add_images(const struct dl_phdr_info *info)
{
	struct record_area *area = record_state.area;

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
	struct record_area *area = record_state.area;
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

/* Returns true if the report carries no information. Such reports are: a function entry called only
 * by code with sites; a write to the bytes that the previous site read, which is pending already;
 * the result of a marked function. */
static bool record_needs_no_report(const struct site_record *site)
{
	switch (site->kind) {
	case SITE_FENCE:
		return true;
	case SITE_FUNCTION_ENTRY:
		return site_record_flags(site) & SITE_INSIDE;
	case SITE_STORE:
		return site_record_flags(site) & SITE_WRITES_BACK;
	case SITE_RESULT:
		return site->order & SITE_CALLEE_NAMED && record_is_marked(record_callee(site));
	default:
		return false;
	}
}

/* Returns whether a thread may have to wait at the site until its store buffer is empty: under TSO, at
 * atomic accesses other than loads. */
static bool record_may_drain(const struct site_record *site)
{
	return runtime.contract->plan.memory_model == MEMORY_MODEL_TSO &&
	       memory_kind_is_atomic(site->kind) && site->kind != SITE_ATOMIC_LOAD;
}

/* Chosen sites are scheduling points, which need the general path. */
static const unsigned char *record_quick_stub(const struct site_record *site)
{
	const uint8_t *state = site_state(site);
	uintptr_t start, end;

	record_state.outside = 0; /* the code of a new module may have any address */
	if (!state || *state & SITE_CHOSEN || record_may_drain(site) ||
		!sites_find_code(
			(uintptr_t)&site->point + (uintptr_t)(intptr_t)site->point, &start, &end))
		return NULL;
	if (record_needs_no_report(site))
		return sites_left_off;
	return record_stub_of(site, site_index(site), start, end);
}

void record_begin(void)
{
	struct contract *contract = runtime.contract;

	record_state.area = contract_area(contract, contract->record_offset);
	record_has_area = true;
	record_state.has_chosen = contract->plan.has_chosen_sites;
	record_state.moving = record_stubs_open();
	if (!record_state.moving)
		record_state.moving = &record_state.without_stubs;
	else if (!record_state.area->is_checked)
		sites_quick_stub = record_quick_stub;
	record_state.moving->left = record_state.moving->mark = REPORTS_IN_A_TURN;
	record_look_at_linkage();
	record_resume_thread(0);
	sites_are_live = SITES_LIVE;
}

void record_go_live(void)
{
	/* Images are larger than chunks: the area is emptied first. */
	if (record_state.area->is_emptied && record_state.area->used > record_state.area->bytes / 2)
		record_have_emptied();
	record_state.area->object_count = 0;
	(void)dl_iterate_phdr(record_add_object, NULL);
	record_drop();
	(void)record_entry(
		record_state.moving->thread, RECORD_LIVE); /* the command sees a full record */
}

void record_end(void)
{
	record_park(record_state.moving);
	record_state.area = NULL;
}
