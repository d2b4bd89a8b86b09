/*
 * The walk of a record makes a promise for any record that its reader accepts. The walk ends; if it
 * ends before the record's end, it gives a reason of one line. A broken promise ends the process.
 */
#pragma once

#include <stdbool.h>

#include "fuzz/fuzz_targets.h"
#include "branches/interpret/walk.h"

/* A program whose records are walked, as it was when the good one was made. */
struct walk_target {
	struct image image;
	struct code_book book;
};

/* Returns true if every thread was walked to the end of its record. */
bool walk_target_walk(struct walk_target *target, const struct run_record *record);

/* fuzz_target_walk takes the contents of a record's file (record_contents()), of the program that RADDLE_FUZZ_PROGRAM names. */
