#include "fuzz/walk_target.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "branches/record/record_file.h"
#include "branches/order/order.h"

/* The good record has some ten thousand; damaged ones may say that a loop never ends. */
#define INSTRUCTIONS_MOST 200000

static bool is_one_line(const char *text)
{
	return *text && !strchr(text, '\n');
}

static bool check_threads(const struct walk *walk)
{
	bool is_complete = true;

	for (uint32_t i = 0; i < walk->record->thread_count; i++) {
		const struct walk_summary *summary = &walk->threads[i].summary;

		is_complete &= summary->end == WALK_COMPLETE;
		BUG_ON(summary->end > WALK_LOST);
		BUG_ON(summary->end != WALK_COMPLETE && !is_one_line(summary->reason));
	}
	return is_complete;
}

/* Number of events of a part. The test walks the last part, which is behind all others. */
#define PART_EVENTS 100

static void walk_last_part(struct walk *walk)
{
	struct walk_part *parts;
	const uint32_t count = walk_divide(walk, PART_EVENTS, &parts);
	struct order order;

	walk_forget_events(walk);
	walk->part = parts[count - 1];
	walk_run(walk, WALK_EVENTS);
	(void)check_threads(walk); /* the result equals that of the whole walk */
	order_build(&order, walk);
	order_release(&order);
	free(parts);
}

bool walk_target_walk(struct walk_target *target, const struct run_record *record)
{
	struct order order;
	struct walk walk;
	bool is_complete;

	walk_open(&walk, &target->book, record);
	walk.instructions_most = INSTRUCTIONS_MOST;
	walk_run(&walk, WALK_SHARING);
	walk_run(&walk, WALK_CHOOSING);
	walk_run(&walk, WALK_EVENTS);
	is_complete = check_threads(&walk);
	order_build(&order, &walk);
	order_release(&order);
	walk_last_part(&walk);
	walk_close(&walk);
	return is_complete;
}

static bool walk_run_bytes(const uint8_t *bytes, size_t size)
{
	const char *program = getenv("RADDLE_FUZZ_PROGRAM");
	struct walk_target target;
	struct run_record record;
	struct error err = {0};
	bool is_complete = false;

	BUG_ON(!program);
	if (record_contents_read(&record, bytes, size, "fuzz", &err)) {
		BUG_ON(!is_one_line(err.text));
		return false;
	}
	if (image_open(&target.image, &record, program, &err)) {
		BUG_ON(!is_one_line(err.text));
	} else {
		code_book_open(&target.book, &target.image);
		is_complete = walk_target_walk(&target, &record);
		code_book_close(&target.book);
		image_close(&target.image);
	}
	run_record_release(&record);
	return is_complete;
}

const struct fuzz_target fuzz_target_walk = {.name = "walk", .run = walk_run_bytes};
