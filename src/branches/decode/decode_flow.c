/* Translates branches, switches and returns, and phi nodes to moves along edges. */

#include "base/array.h"
#include "branches/decode/code.h"

static uint32_t decode_flow_phi_registers(const struct decoder *decoder, LLVMBasicBlockRef block)
{
	uint32_t count = 0;

	for (LLVMValueRef phi = LLVMGetFirstInstruction(block); phi && LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi))
		count += decode_registers(decoder, LLVMTypeOf(phi));
	return count;
}

static LLVMValueRef decode_flow_incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
	for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
		if (LLVMGetIncomingBlock(phi, i) == from)
			return LLVMGetIncomingValue(phi, i);
	return NULL;
}

/* Returns whether a move reads a register that an earlier move writes. Long lists are assumed to. */
static bool decode_flow_is_entangled(const struct edge *edge)
{
	if (edge->count > 64)
		return true;
	for (uint32_t i = 1; i < edge->count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (edge->moves[i].from == edge->moves[j].to)
				return true;
	return false;
}

static void decode_flow_fill_edge(
	struct decoder *decoder, struct edge *edge, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
	const uint32_t count = decode_flow_phi_registers(decoder, to);

	/* The block's number, until all blocks are decoded; then the index of its first code. */
	edge->target = value_map_get(&decoder->blocks, to);
	edge->moves = array_new(count + 1u, sizeof *edge->moves);
	for (LLVMValueRef phi = LLVMGetFirstInstruction(to); phi && LLVMIsAPHINode(phi);
		phi = LLVMGetNextInstruction(phi)) {
		const uint32_t lanes = decode_registers(decoder, LLVMTypeOf(phi));
		const int32_t target = decode_operand(decoder, phi);
		const int32_t source = decode_operand(decoder, decode_flow_incoming(phi, from));

		for (uint32_t i = 0; i < lanes; i++)
			edge->moves[edge->count++] =
				(struct move){decode_lane(target, i), decode_lane(source, i)};
	}
	edge->is_entangled = decode_flow_is_entangled(edge);
}

struct edge *decode_edge(struct decoder *decoder, LLVMValueRef from, LLVMBasicBlockRef to)
{
	struct edge *edge = array_new(1, sizeof *edge);
	decode_flow_fill_edge(decoder, edge, LLVMGetInstructionParent(from), to);
	return edge;
}

uint32_t decode_branch_number(struct decoder *decoder, LLVMValueRef instruction)
{
	struct code_book *book = decoder->book;

	ARRAY_APPEND(book->branches, book->branch_count, instruction);
	return book->branch_count - 1;
}

void decode_end(struct decoder *decoder, LLVMValueRef instruction)
{
	const unsigned count = LLVMGetNumSuccessors(instruction);
	const bool is_switch = LLVMIsASwitchInst(instruction) != NULL;
	const bool is_conditional = is_switch || LLVMIsConditional(instruction);
	const int32_t condition = is_conditional ? decode_operand_at(decoder, instruction, 0) : 0;
	struct edge *edges = array_new(count + 1u, sizeof *edges);
	struct code *code;

	for (unsigned i = 0; i < count; i++) {
		decode_flow_fill_edge(decoder, &edges[i], LLVMGetInstructionParent(instruction),
			LLVMGetSuccessor(instruction, i));
		if (is_switch && i)
			edges[i].value =
				LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 2 * i));
	}
	code = decode_add(decoder,
		is_switch	 ? CODE_SWITCH
		: is_conditional ? CODE_BRANCH
				 : CODE_GO,
		instruction);
	code->a = condition;
	code->edges = edges;
	code->count = count;
	if (is_switch)
		code->width = (uint8_t)decode_width(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	if (is_conditional)
		code->branch = decode_branch_number(decoder, instruction);
}

void decode_return(struct decoder *decoder, LLVMValueRef instruction)
{
	int32_t operand = 0;
	uint32_t count = 0;
	struct code *code;

	if (LLVMGetNumOperands(instruction)) {
		operand = decode_operand_at(decoder, instruction, 0);
		count = decode_registers(decoder, LLVMTypeOf(LLVMGetOperand(instruction, 0)));
	}
	code = decode_add(decoder, CODE_RETURN, instruction);
	code->a = operand;
	code->count = count;
}
