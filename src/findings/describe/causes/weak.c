/* Names an access that a weaker memory model permits to come before an earlier store. */
#include "base/array.h"
#include "findings/describe/causes/causes_internal.h"

/* The finding's code is the strongest memory model that permits the access.
 * "under C11 main.1 may read head (queue.c:31) as it was before main.0 wrote it (queue.c:10)" */
void builder_weak_title(const struct builder *builder, struct strbuf *out)
{
	const struct finding *finding = builder->finding;
	const struct finding_access *earlier = &finding->race[FINDING_EARLIER];
	const struct finding_access *later = &finding->race[FINDING_LATER];
	const enum op_kind op = (enum op_kind)builder->source->outcome->op;
	const bool is_read = op_descriptions[op].flags & OP_READ;
	FREE_SCOPED char *variable = builder_race_variable(builder, true);

	builder_add_sentence(builder, out,
		is_read || op == OP_ATOMIC_UPDATE
			? "under {text} {titled} may {text} {object} ({stack}) as it was before {titled} wrote it ({stack})"
			: "under {text} {titled} may {text} {object} ({stack}) before {titled} writes it ({stack})",
		finding->code == MEMORY_MODEL_TSO ? "TSO" : "C11", later->thread,
		is_read			 ? "read"
		: op == OP_ATOMIC_UPDATE ? "update"
					 : "write",
		variable, &later->at, earlier->thread, &earlier->at);
}

void builder_weak_cause(const struct builder *builder, struct strbuf *cause, struct strbuf *remedy)
{
	const struct finding *finding = builder->finding;
	const struct finding_access *earlier = &finding->race[FINDING_EARLIER];
	const struct finding_access *later = &finding->race[FINDING_LATER];
	const bool is_tso = finding->code == MEMORY_MODEL_TSO;
	FREE_SCOPED char *variable = NULL;

	builder_mark_earlier(builder, 1);
	builder_mark_later(builder, 2);
	variable = builder_race_variable(builder, true);
	builder_add_sentence(builder, cause,
		"{text} {text} {object} at {stack}\n{text} {text} it at {stack}", earlier->thread,
		earlier->verb, variable, &earlier->at, later->thread, later->verb, &later->at);
	strbuf_adds(cause,
		is_tso ? ", after [1] in every sequentially consistent execution; x86 processors may make the access before [1], because a store may wait in its thread's store buffer while later loads are made\n"
		       : ", after [1] in every sequentially consistent execution; C11 permits the access before [1]: no release/acquire between\n");
	if (is_tso) {
		strbuf_adds(remedy,
			"make the stores before these loads memory_order_seq_cst, or put atomic_thread_fence(memory_order_seq_cst) between store and load in each thread");
		return;
	}
	builder_add_sentence(builder, remedy,
		"order the store at {stack} before the access at {stack}: a memory_order_release store after that store, and a memory_order_acquire load of its value before that access; or, where each thread stores before it reads what the other stores, memory_order_seq_cst for all of these accesses",
		&earlier->at, &later->at);
}
