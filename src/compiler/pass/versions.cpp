// raddle-cc --native makes two versions of each function: the native version runs without raddle, as if clang had compiled it, and the
// instrumented version has the sites. The native version has the function's name and address. The
// runtime writes a jump to the instrumented version into the no-op at its start, so that a run under raddle
// executes instrumented code only. This is C++ because LLVM-C cannot copy functions.
#include "llvm-c/Core.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "abi/instrument_abi.h"

extern "C" LLVMValueRef instrument_add_native(LLVMValueRef function);
extern "C" LLVMValueRef instrument_native_address(LLVMValueRef native);
extern "C" void instrument_name_versions(LLVMValueRef function, LLVMValueRef native);

// Functions with this attribute have a native version.
static const char instrumented[] = "raddle-instrumented";

// Returns whether assembly defines a symbol, of which a module can have only one. Numbered labels may repeat.
static bool defines_symbol(llvm::StringRef assembly)
{
	llvm::SmallVector<llvm::StringRef, 8> lines;

	llvm::SplitString(assembly, lines, "\n;");
	for (llvm::StringRef line : lines) {
		line = line.trim();
		if (!line.empty() && !llvm::isDigit(line.front()) && !line.contains("${:uid}") &&
			line.take_while([](char c) {
				    return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
			    }).size() == line.find(':'))
			return true;
	}
	return false;
}

static bool can_be_copied(const llvm::Function &function)
{
	if (function.hasPrologueData())
		return false; // of a sanitizer, which reads it at the function's address
	for (const llvm::BasicBlock &block : function)
		if (block.hasAddressTaken())
			return false; // assembly or a table may jump to it
	for (const llvm::Instruction &instruction : llvm::instructions(function)) {
		const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
		const auto *code =
			call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;

		if (call && call->cannotDuplicate())
			return false;
		if (code && defines_symbol(code->getAsmString()))
			return false;
	}
	return true;
}

// Shrinks the debug information of a native version to what profilers and the back traces of other tools show: lines,
// inlined calls, and the variables that are always in memory. Debuggers of a replay see the instrumented version, whose
// debug information is complete.
static void drop_details(llvm::Function &native)
{
	llvm::LLVMContext &context = native.getContext();

	for (llvm::Instruction &instruction : llvm::instructions(native)) {
		for (llvm::DbgVariableRecord &record : llvm::make_early_inc_range(
			     llvm::filterDbgVars(instruction.getDbgRecordRange())))
			if (!record.isDbgDeclare())
				record.eraseFromParent();
		if (const llvm::DILocation *at = instruction.getDebugLoc())
			instruction.setDebugLoc(llvm::DILocation::get(
				context, at->getLine(), 0, at->getScope(), at->getInlinedAt()));
	}
	if (llvm::DISubprogram *subprogram = native.getSubprogram())
		subprogram->replaceRetainedNodes(llvm::MDTuple::get(context, {}));
}

// Adds the function's native version, which gets its name later. Returns NULL if the function cannot be copied.
LLVMValueRef instrument_add_native(LLVMValueRef of)
{
	llvm::Function *function = llvm::unwrap<llvm::Function>(of);
	llvm::ValueToValueMapTy values;

	if (!can_be_copied(*function))
		return nullptr;
	llvm::Function *native = llvm::CloneFunction(function, values);
	native->setComdat(function->getComdat());
	drop_details(*native);
	function->addFnAttr(instrumented);
	if (!function->hasOptNone()) // the code generator runs next
		function->addFnAttr(llvm::Attribute::OptimizeForSize);
	return llvm::wrap(native);
}

// Returns a symbol at the address of this very function: its name may mean another module's.
LLVMValueRef instrument_native_address(LLVMValueRef native)
{
	llvm::Function *function = llvm::unwrap<llvm::Function>(native);

	return llvm::wrap(llvm::GlobalAlias::create(function->getValueType(), 0,
		llvm::GlobalValue::PrivateLinkage, "raddle.native", function,
		function->getParent()));
}

// Returns whether a call may skip the native version: no definition in another object or module can replace this
// one, as it can if it is weak, in a COMDAT, or exported by a library.
static bool is_own(const llvm::Function &function)
{
	return function.isDSOLocal() && !function.hasComdat() &&
	       (function.hasExternalLinkage() || function.hasLocalLinkage());
}

static bool is_instrumented_call(const llvm::Use &use)
{
	const auto *call = llvm::dyn_cast<llvm::CallBase>(use.getUser());

	return call && call->isCallee(&use) && call->getFunction()->hasFnAttribute(instrumented);
}

// The words in front of the native version's code: the distance to the instrumented version, and the mark of
// `function`, if any.
static llvm::Constant *prefix_of(llvm::Function *function, llvm::Function *native)
{
	llvm::LLVMContext &context = function->getContext();
	llvm::Type *half = llvm::Type::getInt32Ty(context), *word = llvm::Type::getInt64Ty(context);
	llvm::Constant *mark =
		llvm::ConstantInt::get(word, function->hasPrefixData() ? SITE_FUNCTION_MARK : 0);
	llvm::Constant *distance =
		llvm::ConstantExpr::getSub(llvm::ConstantExpr::getPtrToInt(function, word),
			llvm::ConstantExpr::getPtrToInt(native, word));

	return llvm::ConstantStruct::getAnon({llvm::ConstantExpr::getTrunc(distance, half),
		llvm::ConstantInt::get(half, 0), mark});
}

void instrument_name_versions(LLVMValueRef of, LLVMValueRef native_of)
{
	static const uint8_t nothing[SITE_POINT_BYTES] = {0x0f, 0x1f, 0x44, 0, 0};
	llvm::Function *function = llvm::unwrap<llvm::Function>(of);
	llvm::Function *native = llvm::unwrap<llvm::Function>(native_of);
	const std::string name = function->getName().str();
	const bool own = is_own(*function);

	function->replaceUsesWithIf(
		native, [own](llvm::Use &use) { return !own || !is_instrumented_call(use); });
	native->takeName(function);
	function->setName(name + ".raddle");
	function->setVisibility(llvm::GlobalValue::DefaultVisibility);
	function->setLinkage(llvm::GlobalValue::InternalLinkage);
	native->setPrefixData(prefix_of(function, native));
	function->setPrefixData(nullptr);
	native->setPrologueData(llvm::ConstantDataArray::get(function->getContext(), nothing));
}
