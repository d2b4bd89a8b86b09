/* Sites of instrumented modules as the process has them: which are there, which are on. */
#ifndef RADDLE_RUNTIME_SITES_H
#define RADDLE_RUNTIME_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/contract_memory.h"
#include "abi/instrument_abi.h"

/*
 * Read by site_thunk.S: sites that are on lead to site_reached(). Set while runs are live, to SITES_LIVE or, where
 * most accesses need not come that far, SITES_QUICK (quick.h).
 */
extern uint8_t sites_are_live;
/* Likewise, whenever a site may be on. */
extern struct contract_quick *sites_quick;
extern struct quick_now sites_now;
/*
 * Read by site_thunk.S: which vector registers, besides %xmm0 to 15, there are (XCR0); whether the
 * processor says which of them are in use; which of them are saved by hand.
 */
extern uint32_t sites_vectors;
extern uint8_t sites_has_xsave;
extern uint8_t sites_vectors_in_use;
extern uint32_t sites_vectors_by_hand;

/* Where a point that is on leads instead of the site's own stub; its answer NULL: there. Set at start-up. */
extern const unsigned char *(*sites_quick_stub)(const struct site_record *record);
/* Its answer where the point is to be left off. */
extern const unsigned char sites_left_off[];

/* To a contract that is new to this process: all modules that are loaded. */
void sites_tell_again(void);
/*
 * From site_thunk.S, with nothing but general registers saved: the code at the record's point is about to
 * do its access; `frame` is its frame pointer. True: site_perform() is to be called, with all registers saved.
 */
bool site_reached(
	const void *address, size_t length, const struct site_record *record, uintptr_t frame);
void site_perform(void);

/* The byte in contract_memory.sites of a record; NULL: its module is not known there. */
uint8_t *site_state(const struct site_record *record);

/* Its number among the sites of all modules; UINT32_MAX: its module is not known there. */
uint32_t site_index(const struct site_record *record);
/* Is there a module with sites around this address of code? Then also where it begins and ends. */
bool sites_find_code(uintptr_t code, uintptr_t *start, uintptr_t *end);

/* Patches every site of every module to what `is_on` says of its byte. False: see the refusal. */
bool sites_switch(bool (*is_on)(uint8_t kind, uint8_t state));

/* NULL: nobody drives this process. */
struct contract_memory *sites_memory(void);

#endif
