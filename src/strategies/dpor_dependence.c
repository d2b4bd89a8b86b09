/* Which of dpor's ops depend on each other, and what each is about. */
#include "strategies/dpor.h"

#include <stddef.h>

static uint8_t class_of(const struct dpor_op *op)
{
	return op_descriptions[op->kind].object;
}

/* Of these, what one op does another may feel although their objects have different names. */
static bool is_entangled(uint8_t class)
{
	return class == OBJECT_FD || class == OBJECT_CHILD || class == OBJECT_SIGNAL ||
	       class == OBJECT_FUTEX;
}

/* A wait on a condition variable gives up a mutex, and may take it again. */
static bool has_mutex(const struct dpor_op *op)
{
	return op->second && class_of(op) == OBJECT_COND;
}

static bool moves_mutex_of(const struct dpor_op *wait, const struct dpor_op *op)
{
	if (!has_mutex(wait))
		return false;
	return has_mutex(op)
		       ? wait->second == op->second
		       : class_of(op) == OBJECT_MUTEX && wait->second == op_second(op->object);
}

/* Memory of more than the eight bytes that its object names. */
static bool is_wide_access(const struct dpor_op *op)
{
	return class_of(op) == OBJECT_MEMORY && op->flags & OP_WIDE;
}

bool dpor_is_plain(const struct dpor_op *op)
{
	return !is_entangled(class_of(op)) && !has_mutex(op) && !is_wide_access(op);
}

/* Besides those about the same object. */
bool dpor_dependent_otherwise(const struct dpor_op *a, const struct dpor_op *b)
{
	const uint8_t class_a = class_of(a), class_b = class_of(b);

	if (is_entangled(class_a) && class_a == class_b)
		return true;
	if (moves_mutex_of(a, b) || moves_mutex_of(b, a))
		return true;
	return class_a == OBJECT_MEMORY && class_b == OBJECT_MEMORY &&
	       (is_wide_access(a) || is_wide_access(b));
}

bool dpor_is_wide(const struct dpor_op *op)
{
	return has_mutex(op) || is_wide_access(op);
}

uint64_t dpor_key(const struct dpor_op *op)
{
	const uint8_t class = class_of(op);

	return is_entangled(class) ? class : op->object;
}

bool dpor_is_racy(const struct dpor *dpor, const struct dpor_op *op)
{
	const uint64_t key = dpor_key(op);
	const uint64_t bit = (key ^ key >> 16) % DPOR_RACY;

	return key && dpor->racy[bit / 64] >> bit % 64 & 1;
}

void dpor_note_racy(struct dpor *dpor, const struct dpor_op *op)
{
	const uint64_t key = dpor_key(op);
	const uint64_t bit = (key ^ key >> 16) % DPOR_RACY;

	dpor->racy[bit / 64] |= UINT64_C(1) << bit % 64;
}
