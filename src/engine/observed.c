/* Reports performed ops to the host (engine_host.performed). The result of an op is known only
 * after its scheduling point, so the last op is held back until the next is performed. A memory
 * access always succeeds and is reported at once, while its thread is still at the access. */
#include "base/hash.h"
#include "engine/c11.h"
#include "engine/engine.h"
#include "engine/engine_internal.h"

static void observed_engine_flush_performed(void)
{
	struct engine_performed last;

	if (engine.performed.kind == OP_NONE)
		return;
	last = engine.performed;
	engine.performed.kind = OP_NONE;
	engine.host.performed(&last);
}

static struct thread_id observed_engine_thread_at(const struct engine_op *op)
{
	if (op_descriptions[op->kind].object != OBJECT_THREAD || !op->address)
		return THREAD_NONE;
	return ((const struct engine_thread *)op->address)->id;
}

/* Reports an access at once. The function is on the path of every access, so the report is not
 * stored. */
static void observed_engine_report_access(
	const struct engine_thread *self, const struct engine_op *op, uint64_t step, bool is_point)
{
	const struct engine_performed performed = {
		.step = step,
		.site = op->site,
		.address = op->address,
		.argument = op->argument,
		.object = op->object,
		.next_object = op->next_object,
		.bytes = op->bytes,
		.thread = self->id,
		.other = THREAD_NONE,
		.kind = op->kind,
		.order = op->order,
		.exchange = op->exchange,
		.order_of_failure = op->order_of_failure,
		.is_point = is_point,
		.messages = engine.run.memory_model == MEMORY_MODEL_C11
				    ? c11_take_messages()
				    : (struct store_messages){0},
	};

	engine.host.performed(&performed);
}

void engine_report_use(const struct engine_op *op)
{
	if (op->kind == OP_COND_WAKE || op->kind == OP_BARRIER_LEAVE)
		return;
	switch ((enum object_class)op_descriptions[op->kind].object) {
	case OBJECT_MUTEX:
	case OBJECT_COND:
	case OBJECT_RWLOCK:
	case OBJECT_SPIN:
	case OBJECT_BARRIER:
	case OBJECT_SEM:
	case OBJECT_FILE:
		engine.host.used(op);
		break;
	default:
		break;
	}
}

void engine_report_performed(
	const struct engine_thread *self, const struct engine_op *op, enum engine_result result)
{
	engine_begin_epoch();
	if (op->kind == OP_SPIN)
		return;
	observed_engine_flush_performed();
	if (op->is_reported_later)
		return;
	if (op_descriptions[op->kind].object == OBJECT_MEMORY || op->kind == OP_FENCE) {
		observed_engine_report_access(self, op, engine.step - 1, true);
		return;
	}
	engine.performed = (struct engine_performed){
		.step = engine.step - 1,
		.site = op->site,
		.address = op->address,
		.argument = op->argument,
		.object = op->object,
		.thread = self->id,
		.other = observed_engine_thread_at(op),
		.kind = op->kind,
		.has_failed = result != WAIT_DONE,
	};
}

void engine_report_rest(void)
{
	if (engine.is_live && engine.host.performed)
		observed_engine_flush_performed();
}

void engine_note(enum op_kind kind, const void *address, uint64_t site)
{
	const struct engine_op op = {.kind = (uint8_t)kind, .address = address, .site = site};

	if (engine.run.memory_model == MEMORY_MODEL_C11)
		c11_synchronise(&op);
	if (engine.is_live && engine.host.performed)
		engine_report_performed(engine.current, &op, WAIT_DONE);
}

void engine_note_access(const struct engine_op *op)
{
	if (!engine.is_live || !engine.host.performed)
		return;
	observed_engine_flush_performed();
	if (op->kind != OP_LOAD && op->kind != OP_STORE)
		engine_begin_epoch();
	observed_engine_report_access(engine.current, op, engine.step, false);
}

void engine_note_point(const struct engine_op *op)
{
	if (engine.is_live && engine.host.performed)
		observed_engine_report_access(engine.current, op, engine.step - 1, true);
}

void engine_count_epochs(struct engine_epochs *epochs)
{
	engine_settle();
	engine.epochs = epochs;
}

bool engine_has_reported_all(void)
{
	return engine.performed.kind == OP_NONE;
}

void engine_failed(void)
{
	engine.performed.has_failed = true;
}

void engine_note_other(struct thread_id other)
{
	engine.performed.other = other;
}

void engine_note_round(uint64_t round, bool is_last)
{
	engine.performed.argument = round;
	engine.performed.is_last = is_last;
}

void engine_note_comparison(uint64_t values)
{
	engine.performed.argument = values;
}

void engine_add_operation(const struct engine_thread *thread, const struct engine_op *op)
{
	const object_name object = op->object	 ? op->object
				   : op->address ? engine_object_name(op->address)
						 : 0;

	*engine.run.operations = hash_pair(*engine.run.operations,
		hash_pair(object, (uint64_t)op->kind << 16 | thread->id.index));
}
