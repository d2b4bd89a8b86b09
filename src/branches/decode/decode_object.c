/* The array or variable that an access with a computed index must stay inside. */
#include "branches/decode/code.h"

struct part {
	LLVMTypeRef type;
	int64_t offset;
	int64_t array_offset; /* offset of the outermost of directly nested arrays */
	uint64_t array_bytes; /* 0: the type is not inside an array */
};

/* Arrays of length 0 or 1 are usually longer than declared, so they have no bounds. */
static void decode_object_enter(const struct decoder *decoder, struct part *part, LLVMTypeRef type)
{
	const bool is_array = LLVMGetTypeKind(type) == LLVMArrayTypeKind;

	if (!is_array)
		part->array_bytes = 0;
	else if (!part->array_bytes && LLVMGetArrayLength2(type) > 1) {
		part->array_offset = part->offset;
		part->array_bytes = LLVMABISizeOfType(decoder->unit->layout, type);
	}
	part->type = type;
}

static bool decode_object_follow(
	const struct decoder *decoder, struct part *part, LLVMValueRef index)
{
	LLVMTargetDataRef layout = decoder->unit->layout;
	const bool is_struct = LLVMGetTypeKind(part->type) == LLVMStructTypeKind;
	LLVMTypeRef element;

	if (is_struct) {
		const unsigned member = (unsigned)LLVMConstIntGetZExtValue(index);

		part->offset += (int64_t)LLVMOffsetOfElement(layout, part->type, member);
		decode_object_enter(decoder, part, LLVMStructGetTypeAtIndex(part->type, member));
		return true;
	}
	if (!LLVMIsAConstantInt(index))
		return false;
	element = LLVMGetElementType(part->type);
	part->offset +=
		(int64_t)LLVMABISizeOfType(layout, element) * LLVMConstIntGetSExtValue(index);
	decode_object_enter(decoder, part, element);
	return true;
}

/* Finds the array that the last index selects from, if all earlier indices are constant. */
static bool decode_object_find_array(
	struct decoder *decoder, LLVMValueRef instruction, struct object_part *object)
{
	const int count = LLVMGetNumOperands(instruction);
	LLVMValueRef first = LLVMGetOperand(instruction, 1);
	struct part part = {0};

	if (!LLVMIsAConstantInt(first) ||
		LLVMGetTypeKind(LLVMTypeOf(instruction)) != LLVMPointerTypeKind)
		return false;
	part.type = LLVMGetGEPSourceElementType(instruction);
	part.offset = (int64_t)LLVMABISizeOfType(decoder->unit->layout, part.type) *
		      LLVMConstIntGetSExtValue(first);
	decode_object_enter(decoder, &part, part.type);
	for (int i = 2; i < count; i++) {
		if (decode_object_follow(decoder, &part, LLVMGetOperand(instruction, (unsigned)i)))
			continue;
		*object = (struct object_part){.base = decode_operand_at(decoder, instruction, 0),
			.offset = part.array_offset,
			.bytes = part.array_bytes};
		return part.array_bytes != 0;
	}
	return false;
}

static uint64_t decode_object_bytes_of_local(const struct decoder *decoder, LLVMValueRef local)
{
	LLVMValueRef count = LLVMGetOperand(local, 0);

	if (!LLVMIsAConstantInt(count))
		return 0;
	return LLVMConstIntGetZExtValue(count) *
	       LLVMABISizeOfType(decoder->unit->layout, LLVMGetAllocatedType(local));
}

/* Returns the size of a global; 0: the variable is defined elsewhere, or its size may differ in
 * another unit. */
static uint64_t decode_object_bytes_of_global(const struct decoder *decoder, LLVMValueRef global)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(global);

	if (!LLVMGetInitializer(global) || !LLVMTypeIsSized(type))
		return 0;
	return LLVMABISizeOfType(decoder->unit->layout, type);
}

struct object_part decode_object(struct decoder *decoder, LLVMValueRef pointer)
{
	struct object_part object = {.base = -1};
	LLVMValueRef root = pointer;

	while (LLVMIsAGetElementPtrInst(root)) {
		if (decode_object_find_array(decoder, root, &object))
			return object;
		root = LLVMGetOperand(root, 0);
	}
	object = (struct object_part){.base = -1};
	if (root == pointer || LLVMGetTypeKind(LLVMTypeOf(root)) != LLVMPointerTypeKind)
		return object;
	if (LLVMIsAAllocaInst(root))
		object.bytes = decode_object_bytes_of_local(decoder, root);
	else if (LLVMIsAGlobalVariable(root))
		object.bytes = decode_object_bytes_of_global(decoder, root);
	object.base = decode_operand(decoder, root);
	return object;
}
