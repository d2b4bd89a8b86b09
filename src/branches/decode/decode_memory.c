/* Translates loads, stores, address computations, allocas and atomic instructions. */

#include "base/array.h"
#include "branches/decode/code.h"
#include "abi/instrument_abi.h"

LLVMValueRef decode_object_behind(LLVMValueRef pointer)
{
	while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer) ||
		LLVMIsAAddrSpaceCastInst(pointer) ||
		(LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr))
		pointer = LLVMGetOperand(pointer, 0);
	return pointer;
}

bool decode_location(struct decoder *decoder, LLVMValueRef pointer, uint8_t *location,
	const struct constant_block **constant)
{
	LLVMValueRef object = decode_object_behind(pointer);

	if (LLVMIsAAllocaInst(object)) {
		*location = LOCATION_LOCAL;
		return true;
	}
	*location = LOCATION_CONSTANT;
	*constant = LLVMIsAGlobalVariable(object) && LLVMIsGlobalConstant(object)
			    ? decode_constant_block(decoder, object)
			    : NULL;
	return *constant != NULL;
}

/* Returns the element type of a vector, an array, or a struct of equal members; NULL for another
 * type. */
static LLVMTypeRef decode_memory_lane_of(LLVMTypeRef type)
{
	LLVMTypeRef first;

	switch (LLVMGetTypeKind(type)) {
	case LLVMVectorTypeKind:
	case LLVMArrayTypeKind:
		return LLVMGetElementType(type);
	case LLVMStructTypeKind:
		if (!LLVMCountStructElementTypes(type))
			return NULL;
		first = LLVMStructGetTypeAtIndex(type, 0);
		for (unsigned i = 1; i < LLVMCountStructElementTypes(type); i++) {
			LLVMTypeRef other = LLVMStructGetTypeAtIndex(type, i);

			/* 64-bit integers and pointers count as equal. */
			if (LLVMGetTypeKind(other) == LLVMPointerTypeKind)
				continue;
			if (LLVMGetTypeKind(first) != LLVMPointerTypeKind && other != first)
				return NULL;
			first = other;
		}
		return first;
	default:
		return NULL;
	}
}

/* Sets the type of an access. Returns false unless the lanes are whole bytes without gaps. */
static bool decode_memory_set_type(struct decoder *decoder, struct code *code, LLVMTypeRef type)
{
	const bool is_wide = decode_is_wide(type);
	LLVMTypeRef lane = decode_memory_lane_of(type);
	const uint32_t width = is_wide ? 64 : decode_width(lane ? lane : type);

	code->is_vector = lane || is_wide;
	code->count = decode_registers(decoder, type);
	code->width = (uint8_t)width;
	code->bytes = (uint32_t)LLVMStoreSizeOfType(decoder->unit->layout, type);
	if (!code->is_vector)
		return width && code->bytes <= 8;
	return is_wide || (width && width % 8 == 0 && code->bytes <= ACCESS_BYTES_MOST &&
				  code->bytes == code->count * (width / 8));
}

/* Decodes a load, a store, an atomic update or a compare-exchange. */
void decode_access(struct decoder *decoder, LLVMValueRef instruction)
{
	const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
	const enum code_op op = opcode == LLVMLoad	  ? CODE_LOAD
				: opcode == LLVMStore	  ? CODE_STORE
				: opcode == LLVMAtomicRMW ? CODE_UPDATE
							  : CODE_EXCHANGE;
	const bool is_atomic = op == CODE_UPDATE || op == CODE_EXCHANGE;
	const unsigned count = op == CODE_LOAD ? 1 : op == CODE_EXCHANGE ? 3 : 2;
	LLVMValueRef pointer = LLVMGetOperand(instruction, op == CODE_STORE ? 1 : 0);
	LLVMValueRef value =
		op == CODE_LOAD ? instruction : LLVMGetOperand(instruction, is_atomic ? 1 : 0);
	const struct constant_block *constant = NULL;
	int32_t operands[3] = {0};
	struct object_part object;
	uint8_t location = LOCATION_SITE;
	struct code *code;
	uint32_t site;

	for (unsigned i = 0; i < count; i++)
		operands[i] = decode_operand(decoder, LLVMGetOperand(instruction, i));
	object = decode_object(decoder, pointer);
	site = is_atomic ? decode_site(
				   decoder, instruction, SITE_ATOMIC_UPDATE, SITE_COMPARE_EXCHANGE)
			 : decode_site(decoder, instruction, SITE_LOAD, SITE_ATOMIC_STORE);
	if (site == SITE_NONE && (!decode_location(decoder, pointer, &location, &constant) ||
					 (is_atomic && location != LOCATION_LOCAL))) {
		decode_unknown(decoder, instruction, "an access to memory that raddle-cc left out");
		return;
	}
	code = decode_add(decoder, op, instruction);
	code->a = operands[0];
	code->b = operands[1];
	code->c = operands[2];
	code->site = site;
	code->location = location;
	code->constant = constant;
	code->object = object;
	if (op == CODE_UPDATE)
		code->sub = (uint8_t)LLVMGetAtomicRMWBinOp(instruction);
	if (decode_memory_set_type(decoder, code, LLVMTypeOf(value)) &&
		!(is_atomic && code->is_vector))
		return;
	code->op = CODE_UNKNOWN;
	code->text = is_atomic ? "an atomic access of more than 64 bits"
			       : "an access of a type of more than 64 bits";
}

/* Returns the register of a lane of a vector, or the first register of another value. */
static int32_t decode_memory_lane_at(struct decoder *decoder, LLVMValueRef value, uint32_t lane)
{
	const int32_t operand = decode_operand(decoder, value);

	return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind ? decode_lane(operand, lane)
									: operand;
}

/* Returns the constant index that is equal in all lanes; NULL if not constant. */
static LLVMValueRef decode_memory_number_in(LLVMValueRef index, uint32_t lane)
{
	LLVMValueRef number = index;

	if (LLVMGetTypeKind(LLVMTypeOf(index)) == LLVMVectorTypeKind)
		number = LLVMIsConstant(index) ? LLVMGetAggregateElement(index, lane) : NULL;
	return number ? LLVMIsAConstantInt(number) : NULL;
}

static void decode_memory_add_address(
	struct decoder *decoder, LLVMValueRef instruction, uint32_t lane)
{
	LLVMTargetDataRef layout = decoder->unit->layout;
	LLVMTypeRef type = LLVMGetGEPSourceElementType(instruction);
	const int count = LLVMGetNumOperands(instruction);
	const int32_t a = decode_memory_lane_at(decoder, LLVMGetOperand(instruction, 0), lane);
	struct address_term *terms = array_new((size_t)count, sizeof *terms);
	int64_t immediate = 0;
	uint32_t used = 0;
	struct code *code;

	for (int i = 1; i < count; i++) {
		LLVMValueRef index = LLVMGetOperand(instruction, (unsigned)i);
		LLVMValueRef number = decode_memory_number_in(index, lane);
		int64_t scale;

		if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
			const unsigned member = (unsigned)LLVMConstIntGetZExtValue(number);

			immediate += (int64_t)LLVMOffsetOfElement(layout, type, member);
			type = LLVMStructGetTypeAtIndex(type, member);
			continue;
		}
		if (i > 1)
			type = LLVMGetElementType(type);
		scale = (int64_t)LLVMABISizeOfType(layout, type);
		if (number) {
			immediate += scale * LLVMConstIntGetSExtValue(number);
			continue;
		}
		terms[used++] = (struct address_term){
			.operand = decode_memory_lane_at(decoder, index, lane),
			.width = (uint8_t)decode_width(decode_lane_type(LLVMTypeOf(index))),
			.scale = scale};
	}
	code = decode_add(decoder, CODE_ADDRESS, instruction);
	code->to += (int32_t)lane;
	code->a = a;
	code->immediate = immediate;
	code->terms = terms;
	code->count = used;
}

/* Decodes an address. A vector of addresses gets one code per lane. */
void decode_address(struct decoder *decoder, LLVMValueRef instruction)
{
	const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(instruction));

	for (uint32_t lane = 0; lane < lanes; lane++)
		decode_memory_add_address(decoder, instruction, lane);
}

/* Returns the site of a local. The first instruction also carries the sites of parameters, which
 * are skipped. */
static uint32_t decode_memory_site_of_local(const struct decoder *decoder, LLVMValueRef local)
{
	uint32_t site = decode_site(decoder, local, SITE_ADDRESS, SITE_ADDRESS);

	while (site != SITE_NONE && (decoder->image->sites[site].kind != SITE_ADDRESS ||
					    decoder->image->sites[site].bytes))
		site = decoder->image->sites[site].next;
	return site;
}

void decode_local(struct decoder *decoder, LLVMValueRef instruction)
{
	LLVMTypeRef type = LLVMGetAllocatedType(instruction);
	const int32_t a = decode_operand(decoder, LLVMGetOperand(instruction, 0));
	const uint32_t site = decode_memory_site_of_local(decoder, instruction);
	struct code *code = decode_add(decoder, CODE_LOCAL, instruction);

	code->a = a;
	code->site = site;
	code->width = 64;
	code->immediate = (int64_t)LLVMABISizeOfType(decoder->unit->layout, type);
}
