/*
 * The view of memory of a run: which sites were on, and which variables were scheduling points. A
 * run depends on it: each finding stores it and each replay applies it, frozen
 * (abi/contract_memory.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "abi/contract_memory.h"

struct memory_view_module {
	uint64_t name;
	uint64_t fingerprint;
	uint32_t count;	     /* number of sites of the module */
	uint64_t *is_on;     /* bit set over the sites */
	uint64_t *is_chosen; /* bit set over the sites, with MEMORY_CHOSEN */
};

/* What runs have learnt about shared memory. All zero: a run without accesses to memory. */
struct memory_view {
	enum memory_mode mode;
	struct memory_view_module *modules;
	uint32_t module_count;
	variable_name *points; /* names of variables that are scheduling points, ascending */
	uint32_t point_count;
	variable_name *racy; /* subset of `points`, with MEMORY_RACES */
	uint32_t racy_count;
	bool is_partial; /* sites that touch points were off: see runtime/focus.h */
};

/* Takes the view of the last run; overwrites `view` without releasing it. */
void memory_view_take(struct memory_view *view, struct contract_memory *memory);
void memory_view_release(struct memory_view *view);

/* Writes the view into a block that no process has used yet. The view is frozen: runs learn nothing
 * new there. */
void memory_view_apply(const struct memory_view *view, struct contract_memory *memory);

/* Returns the view as JSON, which the caller frees; NULL for an empty view. */
char *memory_view_to_json(const struct memory_view *view);
int memory_view_from_json(const char *text, struct memory_view *out, struct error *err);

/* memory_mode_words has the word of each mode ("shared", "none", "all"). memory_mode_parse()
 * returns false if no mode has the word. */
extern const char *const memory_mode_words[MEMORY_MODE_COUNT];
bool memory_mode_parse(const char *word, enum memory_mode *out);
