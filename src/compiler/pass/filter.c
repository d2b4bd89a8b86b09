/*
 * Finds accesses that no other thread can observe: constant data, and locals whose address does not
 * escape. The walk of a recorded run (src/branches/interpret) stores such locals itself and must
 * therefore see each of their accesses. If an address is merged with others or passed to a
 * function, all accesses get sites.
 */
#include "compiler/pass/instrument.h"

#include <string.h>

/* Limits of the search, beyond which an address counts as escaping. Longer chains are rare in real
 * code. */
#define DEPTH_MOST 24
#define VALUES_MOST 512
/* Maximum number of values that the search for the origins of a pointer examines. A larger number costs compilation
 * time where phis of loops depend on each other. */
#define POINTERS_MOST 32

struct walk {
	LLVMValueRef seen[VALUES_MOST];
	unsigned count;
	bool is_list; /* calls that fill and copy a va_list do not count as escapes: see lists.c */
};

const char *called_name(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t length;

	return callee && LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : NULL;
}

/* Returns whether a call may keep the address, pass it on, or access the memory invisibly. */
static bool filter_call_leaks(LLVMValueRef call)
{
	const char *name = called_name(call);

	if (starts_with(name, "llvm.lifetime.") || starts_with(name, "llvm.memset") ||
		starts_with(name, "llvm.memcpy") || starts_with(name, "llvm.memmove") ||
		starts_with(name, "llvm.dbg.") || starts_with(name, "llvm.invariant") ||
		starts_with(name, "llvm.assume"))
		return false;
	return true;
}

static bool filter_escapes(struct walk *walk, LLVMValueRef address, unsigned depth);

static bool filter_use_leaks(
	struct walk *walk, LLVMValueRef user, LLVMValueRef address, unsigned depth)
{
	if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user))
		return false;
	if (LLVMIsAStoreInst(user))
		return LLVMGetOperand(user, 0) == address;
	if (LLVMIsAAtomicRMWInst(user))
		return LLVMGetOperand(user, 1) == address;
	if (LLVMIsAAtomicCmpXchgInst(user))
		return LLVMGetOperand(user, 1) == address || LLVMGetOperand(user, 2) == address;
	if (LLVMIsAGetElementPtrInst(user) || LLVMIsABitCastInst(user))
		return filter_escapes(walk, user, depth + 1);
	if (LLVMIsACallInst(user) || LLVMIsAInvokeInst(user))
		return filter_call_leaks(user) &&
		       !(walk->is_list && starts_with(called_name(user), "llvm.va_"));
	return true;
}

static bool filter_escapes(struct walk *walk, LLVMValueRef address, unsigned depth)
{
	if (depth > DEPTH_MOST || walk->count == VALUES_MOST)
		return true;
	for (unsigned i = 0; i < walk->count; i++)
		if (walk->seen[i] == address)
			return false;
	walk->seen[walk->count++] = address;
	for (LLVMUseRef use = LLVMGetFirstUse(address); use; use = LLVMGetNextUse(use))
		if (filter_use_leaks(walk, LLVMGetUser(use), address, depth))
			return true;
	return false;
}

static LLVMValueRef filter_object_of(LLVMValueRef pointer)
{
	for (unsigned i = 0; i < DEPTH_MOST; i++) {
		if (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer) ||
			LLVMIsAAddrSpaceCastInst(pointer)) {
			pointer = LLVMGetOperand(pointer, 0);
		} else if (LLVMIsAConstantExpr(pointer) &&
			   LLVMGetConstOpcode(pointer) == LLVMGetElementPtr) {
			pointer = LLVMGetOperand(pointer, 0);
		} else if (LLVMIsACallInst(pointer) &&
			   starts_with(called_name(pointer), "llvm.threadlocal.address")) {
			pointer = LLVMGetOperand(pointer, 0);
		} else {
			break;
		}
	}
	return pointer;
}

/* `left`: how many more values to examine. */
static bool filter_may_be_thread_local(LLVMValueRef pointer, unsigned *left)
{
	LLVMValueRef object = filter_object_of(pointer);
	bool is_found = LLVMIsAGlobalVariable(object) && LLVMIsThreadLocal(object);

	if (!*left)
		return is_found;
	--*left;
	if (LLVMIsASelectInst(object))
		return filter_may_be_thread_local(LLVMGetOperand(object, 1), left) ||
		       filter_may_be_thread_local(LLVMGetOperand(object, 2), left);
	for (unsigned i = 0; LLVMIsAPHINode(object) && i < LLVMCountIncoming(object) && !is_found;
		i++)
		is_found = filter_may_be_thread_local(LLVMGetIncomingValue(object, i), left);
	return is_found;
}

bool filter_is_thread_local(LLVMValueRef pointer)
{
	unsigned left = POINTERS_MOST;

	return filter_may_be_thread_local(pointer, &left);
}

bool filter_is_private(LLVMValueRef allocation)
{
	struct walk walk = {.count = 0};

	return !filter_escapes(&walk, allocation, 0);
}

bool filter_is_private_list(LLVMValueRef allocation)
{
	struct walk walk = {.is_list = true};

	return !filter_escapes(&walk, allocation, 0);
}

bool filter_skips(LLVMValueRef pointer, bool is_write)
{
	LLVMValueRef object = filter_object_of(pointer);

	if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) != 0)
		return true;
	if (LLVMIsNull(object) || LLVMIsUndef(object))
		return true;
	/* A constant of another unit has unknown contents, also for the walk. */
	if (LLVMIsAGlobalVariable(object))
		return LLVMIsGlobalConstant(object) && LLVMGetInitializer(object) && !is_write;
	return LLVMIsAAllocaInst(object) && filter_is_private(object);
}
