/* Dependence between ops on different objects. */
#include "strategies/dpor/dpor.h"

static bool dpor_dependence_concerns_second_of(const struct dpor_op *a, const struct dpor_op *b)
{
	const uint8_t class = dpor_class_of(a) == OBJECT_COND	 ? OBJECT_MUTEX
			      : dpor_class_of(a) == OBJECT_FUTEX ? OBJECT_MEMORY
								 : OBJECT_NOTHING;

	if (!dpor_has_second(a))
		return false;
	if (class == OBJECT_MEMORY && dpor_class_of(b) == class && (a->flags | b->flags) & OP_WIDE)
		return true;
	return dpor_has_second(b) ? a->second == b->second
				  : dpor_class_of(b) == class && a->second == op_second(b->object);
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
