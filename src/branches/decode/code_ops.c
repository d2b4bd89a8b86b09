/* Selects for each code a specialised form (runs.def); other codes use the general case. */

#include "base/array.h"
#include "branches/decode/code.h"

struct maker {
	const struct function *function;
	const struct code *code;
	struct op *op;
};

static bool code_ops_is_constant(const struct maker *maker, int32_t operand)
{
	return operand >= 0 && (uint32_t)operand >= maker->function->value_count;
}

/* Chooses the form with two registers, or the following one if the second operand is constant. */
static void code_ops_set_pair(struct maker *maker, enum run run)
{
	const int32_t b = maker->code->b;

	maker->op->run = (uint16_t)run;
	maker->op->b = b;
	if (!code_ops_is_constant(maker, b))
		return;
	maker->op->run = (uint16_t)(run + 1);
	maker->op->immediate =
		(int64_t)maker->function->constants[(uint32_t)b - maker->function->value_count];
}

/* Chooses a specialised shift. There is one only for a constant amount below the width. */
static bool code_ops_set_shift(struct maker *maker, enum run run)
{
	const struct maker before = *maker;

	code_ops_set_pair(maker, run);
	if (maker->op->run == run + 1 && (uint64_t)maker->op->immediate < maker->code->width)
		return true;
	*maker = before;
	return false;
}

static void code_ops_make_binary(struct maker *maker)
{
	const bool is_wide = maker->code->width == 64;

	maker->op->run = RUN_BINARY;
	maker->op->scale = maker->code->sub;
	if (maker->code->sub == LLVMAnd || maker->code->sub == LLVMOr ||
		maker->code->sub == LLVMXor) {
		code_ops_set_pair(maker, maker->code->sub == LLVMAnd  ? RUN_AND
					 : maker->code->sub == LLVMOr ? RUN_OR
								      : RUN_XOR);
		return;
	}
	if (!is_wide && maker->code->width != 32)
		return;
	switch (maker->code->sub) {
	case LLVMAdd:
		code_ops_set_pair(maker, is_wide ? RUN_ADD : RUN_ADD32);
		return;
	case LLVMSub:
		code_ops_set_pair(maker, is_wide ? RUN_SUB : RUN_SUB32);
		return;
	case LLVMMul:
		code_ops_set_pair(maker, is_wide ? RUN_MUL : RUN_MUL32);
		return;
	case LLVMShl:
		if (code_ops_set_shift(maker, is_wide ? RUN_SHL : RUN_SHL32))
			return;
		break;
	case LLVMLShr:
		if (code_ops_set_shift(maker, RUN_LSHR))
			return;
		break;
	case LLVMAShr:
		if (code_ops_set_shift(maker, is_wide ? RUN_ASHR : RUN_ASHR32))
			return;
		break;
	default:
		break;
	}
	maker->op->run = RUN_BINARY;
	maker->op->b = maker->code->b;
	maker->op->scale = maker->code->sub;
}

/* Makes a comparison in one of four forms: plain or fused with the branch, each with a register or
 * a constant. */
static void code_ops_make_compare(struct maker *maker)
{
	static const struct {
		uint8_t predicate;
		uint16_t wide, narrow;
	} rows[] = {{LLVMIntEQ, RUN_EQ, RUN_EQ}, {LLVMIntNE, RUN_NE, RUN_NE},
		{LLVMIntUGT, RUN_UGT, RUN_UGT}, {LLVMIntUGE, RUN_UGE, RUN_UGE},
		{LLVMIntULT, RUN_ULT, RUN_ULT}, {LLVMIntULE, RUN_ULE, RUN_ULE},
		{LLVMIntSGT, RUN_SGT, RUN_SGT32}, {LLVMIntSGE, RUN_SGE, RUN_SGE32},
		{LLVMIntSLT, RUN_SLT, RUN_SLT32}, {LLVMIntSLE, RUN_SLE, RUN_SLE32}};
	const bool is_signed = maker->code->sub >= LLVMIntSGT;

	if (is_signed && maker->code->width != 64 && maker->code->width != 32)
		return;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].predicate != maker->code->sub)
			continue;
		code_ops_set_pair(maker, maker->code->width == 64 ? rows[i].wide : rows[i].narrow);
		/* Order of the forms: plain, fused; then the same two with a constant. */
		if (code_ops_is_constant(maker, maker->code->b))
			maker->op->run++;
	}
}

static void code_ops_make_float(struct maker *maker)
{
	if (maker->code->width != 64)
		return;
	switch (maker->code->sub) {
	case LLVMFAdd:
		maker->op->run = RUN_FADD;
		return;
	case LLVMFSub:
		maker->op->run = RUN_FSUB;
		return;
	case LLVMFMul:
		maker->op->run = RUN_FMUL;
		return;
	case LLVMFDiv:
		maker->op->run = RUN_FDIV;
		return;
	default:
		return;
	}
}

static void code_ops_make_address(struct maker *maker)
{
	const struct code *code = maker->code;

	maker->op->immediate = code->immediate;
	if (!code->count) {
		maker->op->run = RUN_ADDRESS_I;
	} else if (code->count == 1 && code->terms->width == 64 && code->terms->scale > 0 &&
		   code->terms->scale <= UINT8_MAX) {
		maker->op->run = RUN_ADDRESS_X;
		maker->op->b = code->terms->operand;
		maker->op->scale = (uint8_t)code->terms->scale;
	}
}

static void code_ops_make_access(struct maker *maker)
{
	const struct code *code = maker->code;
	const bool is_load = code->op == CODE_LOAD;
	uint32_t number;

	maker->op->run = RUN_SLOW;
	if (code->is_vector || code->place == PLACE_CONSTANT || code->width != 8 * code->bytes)
		return;
	switch (code->bytes) {
	case 1:
		number = 0;
		break;
	case 2:
		number = 1;
		break;
	case 4:
		number = 2;
		break;
	case 8:
		number = 3;
		break;
	default:
		return;
	}
	if (code->place == PLACE_LOCAL)
		maker->op->run =
			(uint16_t)((is_load ? RUN_LOCAL_LOAD1 : RUN_LOCAL_STORE1) + number);
	else
		maker->op->run = (uint16_t)((is_load ? RUN_LOAD1 : RUN_STORE1) + number);
	maker->op->number = code->site;
}

static void code_ops_make_cast(struct maker *maker)
{
	const struct code *code = maker->code;

	if (code->op == CODE_TRUNCATE) {
		maker->op->run = RUN_AND_I;
		maker->op->immediate =
			(int64_t)(code->width >= 64 ? UINT64_MAX
						    : (UINT64_C(1) << code->width) - 1);
	} else if (code->op == CODE_SIGN_EXTEND) {
		maker->op->run = RUN_SIGN;
		maker->op->scale = code->sub;
	} else {
		maker->op->run = RUN_MOVE;
	}
}

static void code_ops_make_op(struct maker *maker)
{
	const struct code *code = maker->code;

	*maker->op = (struct op){.run = code->op <= CODE_ADDRESS || code->op == CODE_INTRINSIC
						? RUN_COMPUTE
						: RUN_SLOW,
		.width = code->width,
		.to = code->to,
		.a = code->a,
		.b = code->b};
	switch (code->op) {
	case CODE_BINARY:
		code_ops_make_binary(maker);
		return;
	case CODE_COMPARE:
		code_ops_make_compare(maker);
		return;
	case CODE_FLOAT:
		code_ops_make_float(maker);
		return;
	case CODE_FLOAT_COMPARE:
		maker->op->scale = code->sub;
		if (code->width == 64)
			maker->op->run = RUN_FCMP;
		return;
	case CODE_ZERO_EXTEND:
	case CODE_MOVE:
	case CODE_TRUNCATE:
	case CODE_SIGN_EXTEND:
		code_ops_make_cast(maker);
		return;
	case CODE_ADDRESS:
		code_ops_make_address(maker);
		return;
	case CODE_LOAD:
	case CODE_STORE:
		code_ops_make_access(maker);
		return;
	case CODE_SELECT:
		maker->op->run = RUN_SELECT;
		maker->op->c = code->c;
		maker->op->number = code->branch;
		return;
	case CODE_GO:
	case CODE_BRANCH:
		maker->op->run = code->op == CODE_GO ? RUN_GO : RUN_BRANCH;
		maker->op->edges = code->edges;
		maker->op->b = (int32_t)code->branch;
		maker->op->to = (int32_t)code->instructions;
		return;
	default:
		return;
	}
}

static bool code_ops_is_compare(const struct op *op)
{
	return op->run == RUN_FCMP || op->run >= RUN_EQ;
}

void code_make_ops(struct function *function)
{
	struct maker maker = {.function = function};

	function->ops = array_new(function->code_count + 1u, sizeof *function->ops);
	for (uint32_t i = 0; i < function->code_count; i++) {
		maker.code = &function->codes[i];
		maker.op = &function->ops[i];
		code_ops_make_op(&maker);
	}
	for (uint32_t i = 1; i < function->code_count; i++) {
		struct op *op = &function->ops[i - 1];

		if (op[1].run == RUN_BRANCH && code_ops_is_compare(op) && op[1].a == op->to)
			op->run++;
	}
}
