/* Addresses that constants point to, and that global variables hold at program start. */
#include "bitcode/points_to_internal.h"

/* Adds one index of a getelementptr over elements of this size. */
static void constants_add_index(
	LLVMValueRef index, uint64_t bytes, int64_t *distance, int64_t *stride)
{
	if (LLVMIsAConstantInt(index))
		*distance += LLVMConstIntGetSExtValue(index) * (int64_t)bytes;
	else
		*stride = flow_common_divisor(*stride, bytes ? (int64_t)bytes : 1);
}

int64_t element_distance(
	const struct analysis *analysis, LLVMValueRef element_pointer, int64_t *stride)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(element_pointer);
	const int operands = LLVMGetNumOperands(element_pointer);
	int64_t distance = 0;

	*stride = 0;
	if (operands > 1)
		constants_add_index(LLVMGetOperand(element_pointer, 1), type_bytes(analysis, type),
			&distance, stride);
	for (int i = 2; i < operands; i++) {
		LLVMValueRef index = LLVMGetOperand(element_pointer, (unsigned)i);

		if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);

			distance += (int64_t)LLVMOffsetOfElement(analysis->layout, type, field);
			type = LLVMStructGetTypeAtIndex(type, field);
		} else {
			type = LLVMGetElementType(type);
			constants_add_index(index, type_bytes(analysis, type), &distance, stride);
		}
	}
	return distance;
}

static void constants_point_to_global(struct analysis *analysis, uint32_t node, LLVMValueRef global)
{
	const struct symbol *symbol = linkage_symbol(&analysis->linkage, global);

	if (symbol)
		flow_point(
			&analysis->flow, node, flow_location(&analysis->flow, symbol->object, 0));
	else
		flow_edge(&analysis->flow, analysis->flow.foreign, node);
}

void constrain_constant(struct analysis *analysis, uint32_t node, LLVMValueRef constant)
{
	const int operands = LLVMGetNumOperands(constant);
	int64_t distance, stride;

	if (LLVMIsAGlobalValue(constant)) {
		constants_point_to_global(analysis, node, constant);
		return;
	}
	if (LLVMIsABlockAddress(constant))
		return; /* jumps alone use block addresses */
	if (LLVMIsAConstantExpr(constant) && LLVMGetConstOpcode(constant) == LLVMGetElementPtr) {
		distance = element_distance(analysis, constant, &stride);
		flow_shift(analysis, node, value_node(analysis, LLVMGetOperand(constant, 0)),
			distance, stride);
		return;
	}
	if (LLVMIsAConstantExpr(constant) && LLVMGetConstOpcode(constant) == LLVMAdd) {
		for (unsigned i = 0; i < 2; i++)
			flow_anywhere(
				analysis, node, value_node(analysis, LLVMGetOperand(constant, i)));
		return;
	}
	/* Casts, aggregates and vectors: the union of all operands. */
	for (int i = 0; i < operands; i++)
		flow_edge(&analysis->flow,
			value_node(analysis, LLVMGetOperand(constant, (unsigned)i)), node);
}

/* Larger arrays are folded at once, because their accesses would fold them anyway. */
#define ELEMENTS_APART 32

static void constants_initialise(
	struct analysis *analysis, uint32_t object, int64_t distance, LLVMValueRef value);

static void constants_initialise_array(
	struct analysis *analysis, uint32_t object, int64_t distance, LLVMValueRef value)
{
	const uint64_t bytes = type_bytes(analysis, LLVMGetElementType(LLVMTypeOf(value)));
	const int count = LLVMGetNumOperands(value);

	if (count > ELEMENTS_APART && bytes)
		flow_fold(&analysis->flow, object, (int64_t)bytes);
	for (int i = 0; i < count; i++)
		constants_initialise(analysis, object, distance + i * (int64_t)bytes,
			LLVMGetOperand(value, (unsigned)i));
}

static void constants_initialise(
	struct analysis *analysis, uint32_t object, int64_t distance, LLVMValueRef value)
{
	uint32_t node, location;

	if (LLVMIsAConstantStruct(value)) {
		for (int i = 0; i < LLVMGetNumOperands(value); i++)
			constants_initialise(analysis, object,
				distance + (int64_t)LLVMOffsetOfElement(analysis->layout,
						   LLVMTypeOf(value), (unsigned)i),
				LLVMGetOperand(value, (unsigned)i));
		return;
	}
	if (LLVMIsAConstantArray(value)) {
		constants_initialise_array(analysis, object, distance, value);
		return;
	}
	node = value_node(analysis, value);
	if (node == analysis->nothing)
		return;
	location = flow_node(&analysis->flow);
	flow_point(&analysis->flow, location, flow_location(&analysis->flow, object, distance));
	flow_store(analysis, location, node, type_bytes(analysis, LLVMTypeOf(value)));
}

void constrain_initialiser(struct analysis *analysis, LLVMValueRef global)
{
	const struct symbol *symbol = linkage_symbol(&analysis->linkage, global);
	LLVMValueRef value = LLVMGetInitializer(global);

	if (value && symbol)
		constants_initialise(analysis, symbol->object, 0, value);
}
