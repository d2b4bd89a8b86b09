#include "model/outcome/outcome.h"

#include <stddef.h>

const struct outcome_description outcome_descriptions[OUTCOME_KIND_COUNT] = {
#define OUTCOME(name, word, is_failure, sentence) {word, is_failure, sentence},
#include "model/outcome/outcomes.def"
#undef OUTCOME
};

void outcome_set(struct outcome *outcome, enum outcome_kind kind, struct thread_id thread, int code)
{
	outcome->kind = (uint16_t)kind;
	outcome->thread = thread;
	outcome->code = code;
	outcome->step = 0;
	outcome->site = 0;
	outcome->address = 0;
	outcome->clock_ns = 0;
	outcome->other_site = 0;
	outcome->other_step = 0;
	outcome->other_thread = THREAD_NONE;
	outcome->other_op = OP_NONE;
	outcome->op = OP_NONE;
	outcome->wait_count = 0;
	outcome->waits_left_out = 0;
	outcome->object_group = 0;
	outcome->text[0] = '\0';
}

struct wait_edge *outcome_wait_of(const struct outcome *outcome, struct thread_id thread)
{
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (thread_same(outcome->waits[i].waiter, thread))
			return (struct wait_edge *)&outcome->waits[i];
	return NULL;
}
