/*
 * Chooses which steps of an interleaving a table shows. A screen holds few rows, and compiled code
 * has many accesses that decide nothing.
 */
#pragma once

#include <stdbool.h>

#include "report/text/text.h"

enum interleaving_row {
	ROW_SHOWN,
	ROW_FOLDED,  /* inside the call of the step before, which shows the call */
	ROW_LIBRARY, /* inside a library */
	ROW_PRIVATE, /* on memory, or an object without a name, that no other thread uses at that time */
	ROW_REPEATED, /* a further turn of a loop whose first turn is shown */
	ROW_MIDDLE,   /* in the middle of a long interleaving */
};

/*
 * Sets rows[i] for each step i of the finding. The table has at most style->steps_most rows, and
 * those of steps that the cause names, that are at one of few preemptions, or that are among the last
 * waits. Private steps on memory and objects without a name and further turns of loops are always left
 * out; in long tables, all other private accesses as well, and then steps in the middle: the end of a
 * run matters most.
 */
void interleaving_choose_rows(const struct finding *finding, const struct report_style *style,
	enum interleaving_row *rows);

/* Returns whether accesses of one library call share a row, unless frames of libraries are
 * requested. */
bool interleaving_is_folded(const struct report_style *style, const struct finding_step *step);
