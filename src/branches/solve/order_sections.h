/*
 * Critical sections by thread, to find those that a window has a part of without looking at all: runs have millions.
 */
#ifndef RADDLE_BRANCHES_SOLVE_ORDER_SECTIONS_H
#define RADDLE_BRANCHES_SOLVE_ORDER_SECTIONS_H

#include <stdint.h>

struct order_section;

struct order_sections {
	uint32_t *
		items; /* numbers of sections, thread by thread; of each in the order of their begins */
	uint32_t *reach; /* the last end among it and those of its thread before */
	uint32_t *first; /* by thread, and one more: where its items begin */
};

/* `sections` are in the order of the run. */
void order_sections_build(struct order_sections *index, const struct order_section *sections,
	uint32_t count, uint32_t thread_count);
void order_sections_release(struct order_sections *index);
/* The first item of the thread whose section, or one behind it, may end at this event or later. */
uint32_t order_sections_from(const struct order_sections *index, uint32_t thread, uint32_t event);

#endif
