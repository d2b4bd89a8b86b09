#include "runtime/runtime.h"

#include "check/check_internal.h"

/* Number of steps that the log keeps. The last steps of a simplified run show the failure. */
#define STEPS_KEPT 64

/* Written in the runs between steps_begin() and steps_end(). */
static struct {
	struct check_step steps[STEPS_KEPT]; /* a ring buffer */
	uint64_t count;
	bool detects;
} noted;

static void steps_note(const struct engine_performed *performed)
{
	if (noted.detects)
		runtime_detect(performed);
	if (op_descriptions[performed->kind].object == OBJECT_MEMORY && !performed->is_point)
		return;
	noted.steps[noted.count++ % STEPS_KEPT] = (struct check_step){.step = performed->step,
		.site = performed->site,
		.address = (uint64_t)(uintptr_t)performed->address,
		.thread = performed->thread.index,
		.kind = performed->kind};
}

void steps_begin(void)
{
	noted.count = 0;
	noted.detects = runtime.contract->plan.detectors != 0;
	engine_set_performed(steps_note);
}

void steps_end(void)
{
	engine_set_performed(noted.detects ? runtime_detect : NULL);
}

void steps_forget(void)
{
	noted.count = 0;
}

uint32_t steps_count(uint64_t *left_out)
{
	*left_out = noted.count > STEPS_KEPT ? noted.count - STEPS_KEPT : 0;
	return (uint32_t)(noted.count - *left_out);
}

const struct check_step *steps_at(uint32_t index)
{
	const uint64_t first = noted.count > STEPS_KEPT ? noted.count - STEPS_KEPT : 0;

	return &noted.steps[(first + index) % STEPS_KEPT];
}
