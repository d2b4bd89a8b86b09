/* Controls a walk: interprets each thread from the first to the last entry of its record. */
#include "branches/interpret/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bitset.h"
#include "branches/interpret/walk_internal.h"

static void walk_open_walker(
	struct walker *walker, struct walk *walk, uint16_t thread, unsigned mode)
{
	*walker = (struct walker){.walk = walk,
		.book = walk->book,
		.thread = thread,
		.mode = mode,
		.at = walk->record->threads[thread].bytes,
		.end = walk->record->threads[thread].bytes + walk->record->threads[thread].size,
		.is_checked = walk->record->is_checked,
		.is_live = thread != 0,
		.is_before = mode & WALK_EVENTS && walk->part.begin,
		.is_noting = thread != 0 && mode & WALK_NOTING,
		.is_watching = mode & WALK_EVENTS || walk->record->is_checked,
		.out = &walk->threads[thread],
		.summary = &walk->threads[thread].summary};
	walker->room = walk->room ? walk->room : walk_room_new();
	walk->room = NULL;
	walker->frames = walker->room->frames;
	walker->registers = walker->room->registers;
	walker->terms = walker->room->terms;
	walker->locals = walker->room->locals;
	walker->memory = walker->room->memory;
	walker->touched = walker->room->touched;
	walker->values = walker->room->values;
	walker->seen = walker->room->seen;
	walker->shadow_lines = walker->room->shadow_lines;
	walk_open_visits(walker);
	*walker->summary = (struct walk_summary){.end = WALK_COMPLETE};
}

static void walk_close_walker(struct walker *walker)
{
	struct walk *walk = walker->walk;

	if (walk->room) {
		walk_room_free(walker->room);
	} else {
		walk_room_clear(walker->room, walker->local_most);
		walk->room = walker->room;
	}
	walk_trim_events(walk, walker->out);
	free(walker->visits);
	slots_release(&walker->shadows);
}

static void walk_thread(struct walk *walk, uint16_t thread, unsigned mode)
{
	struct walker walker;

	walk_open_walker(&walker, walk, thread, mode);
	walk_next_entry(&walker);
	while (!walker.is_over) {
		if (!walker.frame_count && walk_wait_outside(&walker) == STEP_OVER)
			break;
		walk_frames(&walker);
	}
	if (walker.is_before)
		walk_begin_events(walker.out);
	walker.summary->instructions = walker.instructions;
	walker.summary->steps = walker.steps;
	walk_close_walker(&walker);
}

void walk_open(struct walk *walk, struct code_book *book, const struct run_record *record)
{
	*walk = (struct walk){.book = book, .record = record};
	walk->threads = array_new(record->thread_count + 1u, sizeof *walk->threads);
	walk->chosen = array_new(BITSET_WORDS(book->image->site_count) + 1, sizeof *walk->chosen);
	for (uint32_t i = 0; i < record->thread_count; i++)
		walk->position_most += record->threads[i].size;
}

void walk_close(struct walk *walk)
{
	walk_forget_events(walk);
	stretch_release(&walk->event_memory);
	term_arena_release(&walk->terms);
	free(walk->threads);
	free(walk->weights);
	free(walk->chosen);
	walk_release_sharing(walk);
	free(walk->shared_lines);
	slots_release(&walk->shared_words);
	free(walk->unknowns);
	free(walk->semaphores);
	free(walk->releases);
	free(walk->wanted);
	free(walk->copied.pairs);
	objects_release(&walk->objects);
	walk_room_free(walk->room);
	*walk = (struct walk){0};
}

/* Notes the static variables of the instrumented modules as objects. */
static void walk_note_variables(struct walk *walk)
{
	struct image *image = walk->book->image;

	for (uint32_t i = 0; i < image->program.unit_count; i++) {
		const struct unit *unit = &image->program.units[i];

		for (LLVMValueRef global = LLVMGetFirstGlobal(unit->module); global;
			global = LLVMGetNextGlobal(global))
			if (LLVMGetInitializer(global) && !LLVMIsThreadLocal(global) &&
				!LLVMIsGlobalConstant(global))
				objects_add(&walk->objects, image_address(image, i, global),
					LLVMABISizeOfType(
						unit->layout, LLVMGlobalGetValueType(global)),
					(struct object_time){0});
	}
}

void walk_run(struct walk *walk, unsigned mode)
{
	if (!walk->objects.is_complete)
		walk_note_variables(walk);
	if (mode & WALK_SHARING)
		walk_open_sharing(walk);
	else
		walk_build_shared_lines(walk);
	if (mode & WALK_CHOOSING &&
		/* An earlier choosing walk filled the weights; each access must count once */
		walk->weights)
		memset(walk->weights, 0, walk->weight_count * sizeof *walk->weights);
	for (uint32_t i = 0; i < walk->record->thread_count; i++)
		walk_thread(walk, (uint16_t)i, mode);
	if (mode & WALK_SHARING) {
		walk_settle_sharing(walk);
		walk_unite_pieces(walk);
	}
	/* Usually the last walk for a while: frees its work memory for the solver. */
	if (mode & WALK_EVENTS) {
		walk_room_free(walk->room);
		walk->room = NULL;
	}
	objects_complete(&walk->objects);
}
