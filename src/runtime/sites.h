/*
 * Sites of the instrumented modules in this process: which exist, and which are on.
 *
 * A module registers its site_record array when it is loaded (raddle_module_loaded()), and gets a
 * range of bytes in contract_memory.sites, the same in every process and run. Between runs
 * memory_prepare_run() chooses the sites of the next run, and sites_switch() patches their points:
 * the point of a site that is off does nothing, and that of a site that is on calls a stub (stubs.h). In programs
 * of raddle-cc --native, the registration of a module also makes the native version of each function jump to the
 * version with sites.
 *
 * A point that is on leads to site_thunk.S, which first tries the filter (filter.h) and the fast
 * path (quick.h) with general registers only. The thunk then calls site_reached(). Only if
 * site_reached() returns true, the thunk saves all registers and calls site_perform().
 *
 * Patched code is private memory outside of a rewind's image: a restore does not change which sites
 * are on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/contract_memory.h"
#include "abi/instrument_abi.h"

/* Read by site_thunk.S. While runs are live, the value is SITES_LIVE, or SITES_QUICK if the fast
 * path handles most accesses. */
extern uint8_t sites_are_live;
/* Read by site_thunk.S whenever a site may be on. */
extern struct contract_quick *sites_quick;
extern struct quick_now sites_now;
/* Read by site_thunk.S: the vector registers besides %xmm0 to 15 (XCR0), and whether the processor
 * reports which are in use. The third value holds the registers that the thunk saves one by one. */
extern uint32_t sites_vectors;
extern uint8_t sites_has_xsave;
extern uint8_t sites_vectors_in_use;
extern uint32_t sites_saves_vectors;

/* Chooses the stub of a point that is on; NULL result: the site's own. Set at start-up. */
extern const unsigned char *(*sites_quick_stub)(const struct site_record *record);
/* Result of sites_quick_stub: the point stays off. */
extern const unsigned char sites_left_off[];

/* Registers all modules in a contract that is new to this process. */
void sites_report_again(void);
/* The functions of site_thunk.S to which stubs jump. */
void site_any(void);
void site_load1(void);
void site_load2(void);
void site_load4(void);
void site_load8(void);
void site_load16(void);
void site_store1(void);
void site_store2(void);
void site_store4(void);
void site_store8(void);
void site_store16(void);
/* Called by site_thunk.S with only general registers saved, before the access. `frame`: the frame
 * pointer. Returns true if the thunk must call site_perform() with all registers saved. */
bool site_reached(
	const void *address, size_t length, const struct site_record *record, uintptr_t frame);
void site_perform(void);

/* Byte in contract_memory.sites; returns NULL if the contract does not have the module. */
uint8_t *site_state(const struct site_record *record);

/* Returns the site's index among the sites of all modules; UINT32_MAX: the contract does not have
 * the module. */
uint32_t site_index(const struct site_record *record);
/* Returns the index of the site at a code address, in time linear in the sites; UINT32_MAX: none. */
uint32_t site_index_at(uint64_t code);
/* Returns whether a module with sites contains the code address. Stores the bounds of its code. */
bool sites_find_code(uintptr_t code, uintptr_t *start, uintptr_t *end);

/* Returns false if impossible; contract_memory.refusal has the reason. */
bool sites_switch(bool (*is_on)(const struct site_record *record, uint8_t *state));
/* Turns one site off. Called by the moving thread, at this site or elsewhere. */
void site_turn_off(const struct site_record *record);
/* Turns every site off until the next sites_apply(). May be called in a signal handler; returns
 * false if the handler interrupts sites_switch(), or if the switch is impossible. */
bool sites_turn_off(void);

/* Returns NULL if no command drives this process. */
struct contract_memory *sites_memory(void);
