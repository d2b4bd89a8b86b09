/* Accesses that no other thread can notice: constant data, and locals whose address stays at home. */
#include "instrument/instrument.h"

#include <string.h>

/* Beyond these an address is taken to escape: chains this long are rare, and the walk is bounded. */
#define DEPTH_MOST 24
#define VALUES_MOST 512

struct walk {
	LLVMValueRef seen[VALUES_MOST];
	unsigned count;
};

static bool starts_with(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

const char *called_name(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t length;

	return callee && LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : NULL;
}

static bool is_nocapture(LLVMValueRef call, unsigned argument)
{
	const unsigned kind = LLVMGetEnumAttributeKindForName("nocapture", 9);
	LLVMValueRef callee = LLVMGetCalledValue(call);

	if (LLVMGetCallSiteEnumAttribute(call, argument + 1, kind))
		return true;
	return callee && LLVMIsAFunction(callee) && argument < LLVMCountParams(callee) &&
	       LLVMGetEnumAttributeAtIndex(callee, argument + 1, kind);
}

/* Does a call keep, or hand on, the address that it gets? */
static bool call_leaks(LLVMValueRef call, LLVMValueRef address)
{
	const char *name = called_name(call);

	if (starts_with(name, "llvm.lifetime.") || starts_with(name, "llvm.memset") ||
		starts_with(name, "llvm.memcpy") || starts_with(name, "llvm.memmove") ||
		starts_with(name, "llvm.dbg.") || starts_with(name, "llvm.invariant") ||
		starts_with(name, "llvm.assume"))
		return false;
	if (LLVMGetCalledValue(call) == address)
		return true;
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
		if (LLVMGetArgOperand(call, i) == address && !is_nocapture(call, i))
			return true;
	return false;
}

static bool escapes(struct walk *walk, LLVMValueRef address, unsigned depth);

static bool use_leaks(struct walk *walk, LLVMValueRef user, LLVMValueRef address, unsigned depth)
{
	if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user))
		return false;
	if (LLVMIsAStoreInst(user))
		return LLVMGetOperand(user, 0) == address;
	if (LLVMIsAAtomicRMWInst(user))
		return LLVMGetOperand(user, 1) == address;
	if (LLVMIsAAtomicCmpXchgInst(user))
		return LLVMGetOperand(user, 1) == address || LLVMGetOperand(user, 2) == address;
	if (LLVMIsAGetElementPtrInst(user) || LLVMIsABitCastInst(user) || LLVMIsAPHINode(user) ||
		LLVMIsASelectInst(user) || LLVMIsAFreezeInst(user))
		return escapes(walk, user, depth + 1);
	if (LLVMIsACallInst(user) || LLVMIsAInvokeInst(user))
		return call_leaks(user, address);
	return true;
}

static bool escapes(struct walk *walk, LLVMValueRef address, unsigned depth)
{
	if (depth > DEPTH_MOST || walk->count == VALUES_MOST)
		return true;
	for (unsigned i = 0; i < walk->count; i++)
		if (walk->seen[i] == address)
			return false;
	walk->seen[walk->count++] = address;
	for (LLVMUseRef use = LLVMGetFirstUse(address); use; use = LLVMGetNextUse(use))
		if (use_leaks(walk, LLVMGetUser(use), address, depth))
			return true;
	return false;
}

/* The object that an address is into, as far as it is written here. */
static LLVMValueRef object_of(LLVMValueRef pointer)
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

bool filter_is_thread_local(LLVMValueRef pointer)
{
	LLVMValueRef object = object_of(pointer);

	return LLVMIsAGlobalVariable(object) && LLVMIsThreadLocal(object);
}

bool filter_skips(LLVMValueRef pointer, bool is_write)
{
	LLVMValueRef object = object_of(pointer);
	struct walk walk = {.count = 0};

	if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) != 0)
		return true;
	if (LLVMIsNull(object) || LLVMIsUndef(object))
		return true;
	if (LLVMIsAGlobalVariable(object))
		return LLVMIsGlobalConstant(object) && !is_write;
	return LLVMIsAAllocaInst(object) && !escapes(&walk, object, 0);
}
