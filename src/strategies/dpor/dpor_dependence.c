/* Dependence between ops on different objects. */
#include "strategies/dpor/dpor.h"

/* Returns the class of the second object; OBJECT_NOTHING: files and descriptors. */
static uint8_t dpor_dependence_second_class(const struct dpor_op *op)
{
	return dpor_class_of(op) == OBJECT_COND	   ? OBJECT_MUTEX
	       : dpor_class_of(op) == OBJECT_FUTEX ? OBJECT_MEMORY
						   : OBJECT_NOTHING;
}

static bool dpor_dependence_concerns_second_of(const struct dpor_op *a, const struct dpor_op *b)
{
	const uint8_t class = dpor_dependence_second_class(a), of_b = dpor_class_of(b);
	const bool is_wide = (a->flags | b->flags) & OP_WIDE;

	if (!dpor_has_second(a))
		return false;
	if (class == OBJECT_MEMORY && of_b == class && is_wide)
		return true;
	/* Two writes depend on each other only if they concern one file. */
	if (dpor_has_second(b) && a->second == b->second && (class != OBJECT_NOTHING || is_wide))
		return true;
	return a->second == op_second(b->object) &&
	       (of_b == class || (class == OBJECT_NOTHING && of_b == OBJECT_FD));
}

bool dpor_dependent_otherwise(const struct dpor_op *a, const struct dpor_op *b)
{
	const uint8_t class_a = dpor_class_of(a), class_b = dpor_class_of(b);

	if (dpor_is_exit(a) || dpor_is_exit(b))
		return true;
	if (dpor_is_aimed_at(a, b->thread) || dpor_is_aimed_at(b, a->thread))
		return true;
	if (dpor_is_entangled(class_a) && class_a == class_b)
		return true;
	if (dpor_dependence_concerns_second_of(a, b) || dpor_dependence_concerns_second_of(b, a))
		return true;
	if (dpor_is_sequential_fence(a) || dpor_is_sequential_fence(b))
		return a->flags & b->flags & OP_SEQUENTIAL;
	return class_a == OBJECT_MEMORY && class_b == OBJECT_MEMORY &&
	       (dpor_is_wide_access(a) || dpor_is_wide_access(b));
}
