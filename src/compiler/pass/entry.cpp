// clang's plugin entry point, which is C++, and what the LLVM-C API lacks.
#include "llvm-c/Core.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <algorithm>
#include <cstdlib>

extern "C" void instrument_check_version(unsigned built_for);
extern "C" void instrument_mark(LLVMModuleRef module);
extern "C" bool instrument_module(LLVMModuleRef module);
extern "C" bool instrument_is_builtin(const char *triple, const char *name);
extern "C" LLVMMemoryBufferRef instrument_write_bitcode(LLVMModuleRef module);

// Static: a compiler process has one target.
bool instrument_is_builtin(const char *triple, const char *name)
{
	static const llvm::TargetLibraryInfoImpl known{llvm::Triple(triple)};
	llvm::LibFunc function;

	return known.getLibFunc(name, function);
}

// Readers use the names of locals that have an address. All other names in a function, a quarter of
// the bitcode, are dropped; so are all hints for the optimiser, and attributes for the code generator.
static void drop_unread_parts(llvm::Function &function)
{
	llvm::AttributeMask texts;

	for (const llvm::Attribute attribute : function.getAttributes().getFnAttrs())
		if (attribute.isStringAttribute())
			texts.addAttribute(attribute);
	function.removeFnAttrs(texts);
	for (llvm::Argument &argument : function.args())
		argument.setName("");
	for (llvm::BasicBlock &block : function)
		block.setName("");
	for (llvm::Instruction &instruction : llvm::instructions(function)) {
		if (!llvm::isa<llvm::AllocaInst>(instruction))
			instruction.setName("");
		instruction.dropUnknownNonDebugMetadata();
	}
}

// Without the symbol table for linkers, six per cent of the bitcode.
static LLVMMemoryBufferRef write_module(const llvm::Module &module)
{
	llvm::SmallVector<char, 0> bytes;
	llvm::BitcodeWriter writer(bytes);

	writer.writeModule(module);
	writer.writeStrtab();
	return LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.data(), bytes.size(), "");
}

// Returns the module's bitcode with line numbers as its only debug information. The analyses need no
// more of it. Types and variables would be four fifths of the bitcode, and the object file has them, too.
LLVMMemoryBufferRef instrument_write_bitcode(LLVMModuleRef module)
{
	const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvm::unwrap(module));

	llvm::stripNonLineTableDebugInfo(*copy);
	for (llvm::Function &function : *copy)
		drop_unread_parts(function);
	return write_module(*copy);
}

static std::string owned_text(char *text)
{
	const std::string copy = text ? text : "";

	std::free(text);
	return copy;
}

// Returns whether the function is an operation of std::atomic, or computes its memory order.
static bool is_atomic_operation(const llvm::Function &function)
{
	const std::string mangled = function.getName().str(); // outlives `name`, which refers to it
	llvm::ItaniumPartialDemangler name;
	llvm::StringRef inside;
	size_t length = 0;

	if (!function.hasLinkOnceODRLinkage() || name.partialDemangle(mangled.c_str()) ||
		!name.isFunction())
		return false;
	const std::string scope = owned_text(name.getFunctionDeclContextName(nullptr, &length));
	const std::string parameters = owned_text(name.getFunctionParameters(nullptr, &length));

	inside = scope;
	return inside.starts_with("std::atomic") || inside.starts_with("std::__atomic") ||
	       (inside == "std" && parameters.find("std::memory_order") != std::string::npos);
}

static bool has_atomics(const llvm::Function &function)
{
	for (const llvm::Instruction &instruction : llvm::instructions(function))
		if (instruction.isAtomic())
			return true;
	return false;
}

static bool holds_pointer(const llvm::Type *type)
{
	if (const auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
		return holds_pointer(array->getElementType());
	if (const auto *structure = llvm::dyn_cast<llvm::StructType>(type))
		return std::any_of(structure->element_begin(), structure->element_end(),
			[](const llvm::Type *element) { return holds_pointer(element); });
	return type->isPointerTy();
}

// A static pointer begins as null. If the program sets it once, the optimiser assumes that no thread uses the pointer
// before that: it replaces the pointer by the address that is stored later, and a block of malloc by a static variable.
// A thread that comes too early then finds memory where the source has a null pointer, and the bug is gone. The
// optimiser does not touch variables that llvm.compiler.used names; the linker does not see this list.
static void keep_null_pointers(llvm::Module &module)
{
	llvm::SmallVector<llvm::GlobalValue *> pointers;

	for (llvm::GlobalVariable &variable : module.globals())
		if (variable.hasLocalLinkage() && !variable.isConstant() && variable.hasInitializer() &&
			variable.getInitializer()->isNullValue() &&
			holds_pointer(variable.getValueType()))
			pointers.push_back(&variable);
	llvm::appendToCompilerUsed(module, pointers);
}

namespace
{

// Inlines std::atomic without optimisation, too, and drops the code for other memory orders than the one that
// the caller states. A loop that waits for a std::atomic then looks like one that waits for an atomic
// variable of C. The program's own variables are in memory, so that nothing else is a constant.
struct InlineAtomicsPass : llvm::PassInfoMixin<InlineAtomicsPass> {
	llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &analyses)
	{
		auto &functions =
			analyses.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module)
				.getManager();

		for (llvm::Function &function : module) {
			if (!is_atomic_operation(function))
				continue;
			function.removeFnAttr(llvm::Attribute::OptimizeNone);
			function.removeFnAttr(llvm::Attribute::NoInline);
			function.addFnAttr(llvm::Attribute::AlwaysInline);
			functions.invalidate(
				function, llvm::PromotePass().run(function, functions));
		}
		llvm::AlwaysInlinerPass(false).run(module, analyses);
		for (llvm::Function &function : module)
			if (has_atomics(function))
				functions.invalidate(
					function, llvm::SCCPPass().run(function, functions));
		return llvm::PreservedAnalyses::none();
	}
	static bool isRequired()
	{
		return true;
	}
};

struct MarkPass : llvm::PassInfoMixin<MarkPass> {
	llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &)
	{
		instrument_mark(llvm::wrap(&module));
		keep_null_pointers(module);
		return llvm::PreservedAnalyses::all();
	}
	static bool isRequired()
	{
		return true;
	}
};

struct InstrumentPass : llvm::PassInfoMixin<InstrumentPass> {
	llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &)
	{
		return instrument_module(llvm::wrap(&module)) ? llvm::PreservedAnalyses::none()
							      : llvm::PreservedAnalyses::all();
	}
	// Required, so that the pass also runs at -O0 and on functions marked optnone.
	static bool isRequired()
	{
		return true;
	}
};

} // namespace

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo()
{
	instrument_check_version(LLVM_VERSION_MAJOR);
	return {LLVM_PLUGIN_API_VERSION, "raddle", "1", [](llvm::PassBuilder &builder) {
			builder.registerPipelineStartEPCallback(
				[](llvm::ModulePassManager &manager,
					llvm::OptimizationLevel level) {
					manager.addPass(MarkPass());
					if (level == llvm::OptimizationLevel::O0)
						manager.addPass(InlineAtomicsPass());
				});
			builder.registerOptimizerLastEPCallback(
				[](llvm::ModulePassManager &manager, llvm::OptimizationLevel) {
					manager.addPass(InstrumentPass());
				});
		}};
}
