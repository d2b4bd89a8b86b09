// The only C++ file of the pass: clang's plugin entry point is C++.
#include "llvm-c/Core.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Utils/Cloning.h"

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

// Readers use places of instructions and files of functions only. Types and variables, four fifths
// of the bitcode, are also in the debug information of the object.
LLVMMemoryBufferRef instrument_write_bitcode(LLVMModuleRef module)
{
	const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*llvm::unwrap(module));

	llvm::stripNonLineTableDebugInfo(*copy);
	for (llvm::Function &function : *copy)
		drop_unread_parts(function);
	return write_module(*copy);
}

namespace
{

struct MarkPass : llvm::PassInfoMixin<MarkPass> {
	llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &)
	{
		instrument_mark(llvm::wrap(&module));
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
				[](llvm::ModulePassManager &manager, llvm::OptimizationLevel) {
					manager.addPass(MarkPass());
				});
			builder.registerOptimizerLastEPCallback(
				[](llvm::ModulePassManager &manager, llvm::OptimizationLevel) {
					manager.addPass(InstrumentPass());
				});
		}};
}
