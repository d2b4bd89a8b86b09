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

static uint64_t code_ops_constant(const struct maker *maker, int32_t operand)
{
	return maker->function->constants[(uint32_t)operand - maker->function->value_count];
}

/* Chooses the form with two registers, or the following one if the second operand is constant. */
static void code_ops_set_pair(struct maker *maker, uint16_t run)
{
	const int32_t b = maker->code->b;

	maker->op->run = run;
	maker->op->b = b;
	if (!code_ops_is_constant(maker, b))
		return;
	maker->op->run++;
	maker->op->immediate = (int64_t)code_ops_constant(maker, b);
}

/* The specialised forms of an operation on 64 bits, and on 32. */
struct form {
	uint8_t sub;
	uint16_t wide, narrow;
};

static const struct form *code_ops_find(
	const struct form *forms, size_t count, const struct code *code)
{
	for (size_t i = 0; i < count; i++)
		if (forms[i].sub == code->sub)
			return &forms[i];
	return NULL;
}

/* Bitwise operations have one form for all widths. There are shifts only for a constant amount below the
 * width. */
static void code_ops_make_binary(struct maker *maker)
{
	static const struct form forms[] = {{LLVMAdd, RUN_ADD, RUN_ADD32},
		{LLVMSub, RUN_SUB, RUN_SUB32}, {LLVMMul, RUN_MUL, RUN_MUL32},
		{LLVMAnd, RUN_AND, RUN_AND}, {LLVMOr, RUN_OR, RUN_OR}, {LLVMXor, RUN_XOR, RUN_XOR},
		{LLVMShl, RUN_SHL, RUN_SHL32}, {LLVMLShr, RUN_LSHR, RUN_LSHR},
		{LLVMAShr, RUN_ASHR, RUN_ASHR32}};
	const struct code *code = maker->code;
	const struct form *form = code_ops_find(forms, sizeof forms / sizeof *forms, code);
	const bool is_shift = code->sub >= LLVMShl && code->sub <= LLVMAShr;

	maker->op->run = RUN_BINARY;
	maker->op->scale = code->sub;
	if (!form || (form->wide != form->narrow && code->width != 64 && code->width != 32) ||
		(is_shift && ((code->width != 64 && code->width != 32) ||
				     !code_ops_is_constant(maker, code->b) ||
				     code_ops_constant(maker, code->b) >= code->width)))
		return;
	code_ops_set_pair(maker, code->width == 64 ? form->wide : form->narrow);
}

/* Makes a comparison in one of four forms: plain or fused with the branch, each with a register or
 * a constant. */
static void code_ops_make_compare(struct maker *maker)
{
	static const struct form forms[] = {{LLVMIntEQ, RUN_EQ, RUN_EQ},
		{LLVMIntNE, RUN_NE, RUN_NE}, {LLVMIntUGT, RUN_UGT, RUN_UGT},
		{LLVMIntUGE, RUN_UGE, RUN_UGE}, {LLVMIntULT, RUN_ULT, RUN_ULT},
		{LLVMIntULE, RUN_ULE, RUN_ULE}, {LLVMIntSGT, RUN_SGT, RUN_SGT32},
		{LLVMIntSGE, RUN_SGE, RUN_SGE32}, {LLVMIntSLT, RUN_SLT, RUN_SLT32},
		{LLVMIntSLE, RUN_SLE, RUN_SLE32}};
	const struct code *code = maker->code;
	const struct form *form = code_ops_find(forms, sizeof forms / sizeof *forms, code);

	if (!form || (form->wide != form->narrow && code->width != 64 && code->width != 32))
		return;
	code_ops_set_pair(maker, code->width == 64 ? form->wide : form->narrow);
	/* Order of the forms: plain, fused; then the same two with a constant. */
	maker->op->run += code_ops_is_constant(maker, code->b);
}

static void code_ops_make_float(struct maker *maker)
{
	static const struct form forms[] = {{LLVMFAdd, RUN_FADD, 0}, {LLVMFSub, RUN_FSUB, 0},
		{LLVMFMul, RUN_FMUL, 0}, {LLVMFDiv, RUN_FDIV, 0}};
	const struct form *form = code_ops_find(forms, sizeof forms / sizeof *forms, maker->code);

	if (form && maker->code->width == 64)
		maker->op->run = form->wide;
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
	const bool is_load = code->op == CODE_LOAD, is_local = code->location == LOCATION_LOCAL;

	maker->op->run = RUN_SLOW;
	if (code->is_vector || code->location == LOCATION_CONSTANT ||
		code->width != 8 * code->bytes || code->bytes > 8 ||
		code->bytes & (code->bytes - 1))
		return;
	/* The forms for 1, 2, 4 and 8 bytes follow each other. */
	maker->op->run = (uint16_t)((is_local	      ? is_load ? RUN_LOCAL_LOAD1 : RUN_LOCAL_STORE1
					    : is_load ? RUN_LOAD1
						      : RUN_STORE1) +
				    __builtin_ctz(code->bytes));
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
