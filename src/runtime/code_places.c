#include "runtime/code_places.h"

#include <link.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>

#include "base/hash.h"
#include "base/hot_state.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"

/* The name of a module determines its place. Places lie between the executable and addresses that mmap returns. */
#define PLACES_START UINT64_C(0x100000000000)
#define PLACE_BYTES (UINT64_C(1) << 32)
#define PLACES 8192u

/* Written by code_places_find(). The table lies in the contract, so the command reads the same table. */
static struct {
	const struct code_module *modules;
	uint32_t count;
	uint32_t last; /* index of the module that the last look-up found */
} places;

HOT_STATE bool code_places_are_moved;

static bool code_places_are_random(void)
{
	const long persona = platform_call(SYS_personality, 0xffffffff);

	return platform_failed(persona) || !(persona & ADDR_NO_RANDOMIZE);
}

static bool code_place_is_used(const struct contract *contract, uint64_t place)
{
	for (uint32_t i = 0; i < contract->module_count; i++)
		if (contract->modules[i].place == place)
			return true;
	return false;
}

static int code_places_add(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct contract *contract = argument;
	const char *name = strrchr(info->dlpi_name, '/');
	struct code_module module = {.start = UINT64_MAX};
	uint32_t slot;

	(void)size;
	name = name ? name + 1 : info->dlpi_name;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const uint64_t start = (info->dlpi_addr + header->p_vaddr) & ~UINT64_C(4095);
		const uint64_t end = info->dlpi_addr + header->p_vaddr + header->p_memsz;

		if (header->p_type != PT_LOAD)
			continue;
		module.start = start < module.start ? start : module.start;
		module.end = end > module.end ? end : module.end;
	}
	if (module.start >= module.end || module.end - module.start > PLACE_BYTES ||
		contract->module_count == CODE_MODULES_MAX)
		return 0;
	module.end = (module.end + 4095) & ~UINT64_C(4095);
	slot = (uint32_t)(hash_bytes(name, strlen(name)) % PLACES);
	while (code_place_is_used(contract, PLACES_START + slot * PLACE_BYTES))
		slot = (slot + 1) % PLACES;
	module.place = PLACES_START + slot * PLACE_BYTES;
	contract->modules[contract->module_count++] = module;
	return 0;
}

void code_places_find(struct contract *contract)
{
	contract->module_count = 0;
	if (code_places_are_random())
		(void)dl_iterate_phdr(code_places_add, contract);
	places.modules = contract->modules;
	places.count = contract->module_count;
	places.last = 0;
	code_places_are_moved = places.count > 0;
}

uint64_t code_place_of_module(uint64_t address)
{
	const struct code_module *last = &places.modules[places.last];

	if (address - last->start < last->end - last->start)
		return last->place + (address - last->start);
	for (uint32_t i = 0; i < places.count; i++)
		if (address - places.modules[i].start <
			places.modules[i].end - places.modules[i].start) {
			places.last = i;
			return places.modules[i].place + (address - places.modules[i].start);
		}
	return address;
}
