// Packs bitcode (abi/packed_bitcode.h). It is C++ because only LLVM's C++ interface reads single records.
#include "llvm-c/Core.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"

#include <string>
#include <vector>

#include "abi/packed_bitcode.h"

extern "C" LLVMMemoryBufferRef instrument_pack_bitcode(LLVMMemoryBufferRef bitcode);

static_assert(PACKED_FUNCTION_BLOCK == llvm::bitc::FUNCTION_BLOCK_ID &&
		      PACKED_METADATA_BLOCK == llvm::bitc::METADATA_BLOCK_ID &&
		      PACKED_DEBUG_LOCATION == llvm::bitc::FUNC_CODE_DEBUG_LOC,
	"numbers of LLVM");

static void add_number(std::string &bytes, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		bytes.push_back(static_cast<char>(number | 0x80));
	bytes.push_back(static_cast<char>(number));
}

namespace
{

struct Column {
	std::string bytes;
	uint64_t before = 0;
};

class Packer
{
      public:
	explicit Packer(llvm::StringRef bitcode) : cursor(bitcode), numbers(PACKED_COLUMNS)
	{
	}
	std::string pack();

      private:
	void pack_block(uint32_t block);
	void pack_subblock(uint32_t block, uint32_t subblock);
	void pack_record(uint32_t block, unsigned abbreviation);
	Column &column(uint32_t block, uint32_t code, uint32_t position);

	llvm::BitstreamCursor cursor;
	llvm::BitstreamBlockInfo info; // abbreviations that apply to all blocks of a kind
	std::string structure;
	std::vector<uint32_t> numbers; // by packed_column(); 0: the column does not exist
	std::vector<Column> columns;
};

Column &Packer::column(uint32_t block, uint32_t code, uint32_t position)
{
	uint32_t &number = numbers[packed_column(block, code, position)];

	if (!number) {
		columns.emplace_back();
		number = static_cast<uint32_t>(columns.size());
	}
	return columns[number - 1];
}

// Without these, readers read all at once; they refer to positions in the bitstream.
bool is_index(uint32_t block, unsigned code)
{
	return (block == llvm::bitc::MODULE_BLOCK_ID &&
		       code == llvm::bitc::MODULE_CODE_VSTOFFSET) ||
	       (block == llvm::bitc::METADATA_BLOCK_ID &&
		       (code == llvm::bitc::METADATA_INDEX_OFFSET ||
			       code == llvm::bitc::METADATA_INDEX));
}

void Packer::pack_record(uint32_t block, unsigned abbreviation)
{
	llvm::SmallVector<uint64_t, 64> operands;
	llvm::StringRef blob;
	const unsigned code = llvm::cantFail(cursor.readRecord(abbreviation, operands, &blob));

	if (is_index(block, code))
		return;
	if (code >= PACKED_CODES)
		llvm::report_fatal_error("raddle: a record of an unknown kind in the bitcode");
	if (blob.data())
		structure.push_back(PACKED_BLOB);
	add_number(structure, blob.data() ? code : PACKED_RECORD + code);
	add_number(column(block, code, 0).bytes, operands.size());
	for (size_t i = 0; i < operands.size(); i++) {
		Column &to = column(block, code, packed_operand_position(i));
		const auto difference = static_cast<int64_t>(operands[i] - to.before);

		add_number(to.bytes, !packed_is_difference(block, code) ? operands[i]
				     : difference < 0 ? -static_cast<uint64_t>(difference) * 2 - 1
						      : static_cast<uint64_t>(difference) * 2);
		to.before = operands[i];
	}
	if (blob.data()) {
		Column &to = column(block, code, PACKED_BLOB_POSITION);

		add_number(to.bytes, blob.size());
		to.bytes += blob;
	}
}

void Packer::pack_subblock(uint32_t block, uint32_t subblock)
{
	if (subblock == llvm::bitc::BLOCKINFO_BLOCK_ID) {
		info = *llvm::cantFail(cursor.ReadBlockInfoBlock());
		cursor.setBlockInfo(&info);
	} else if (block == llvm::bitc::MODULE_BLOCK_ID &&
		   subblock == llvm::bitc::VALUE_SYMTAB_BLOCK_ID) {
		llvm::cantFail(cursor.SkipBlock()); // the positions of functions
	} else {
		if (subblock >= PACKED_BLOCKS)
			llvm::report_fatal_error(
				"raddle: a block of an unknown kind in the bitcode");
		structure.push_back(PACKED_BLOCK);
		add_number(structure, subblock);
		llvm::cantFail(cursor.EnterSubBlock(subblock));
		pack_block(subblock);
		structure.push_back(PACKED_END);
	}
}

void Packer::pack_block(uint32_t block)
{
	while (!cursor.AtEndOfStream()) {
		const llvm::BitstreamEntry entry = llvm::cantFail(cursor.advance());

		if (entry.Kind == llvm::BitstreamEntry::EndBlock)
			return;
		if (entry.Kind == llvm::BitstreamEntry::SubBlock)
			pack_subblock(block, entry.ID);
		else
			pack_record(block, entry.ID);
	}
}

std::string Packer::pack()
{
	std::string all;

	llvm::cantFail(cursor.Read(32)); // the magic number
	pack_block(PACKED_BLOCKS - 1);	 // no block of LLVM
	add_number(all, columns.size());
	for (const Column &one : columns)
		add_number(all, one.bytes.size());
	add_number(all, structure.size());
	all += structure;
	for (const Column &one : columns)
		all += one.bytes;
	return all;
}

} // namespace

LLVMMemoryBufferRef instrument_pack_bitcode(LLVMMemoryBufferRef bitcode)
{
	const std::string packed =
		Packer({LLVMGetBufferStart(bitcode), LLVMGetBufferSize(bitcode)}).pack();

	return LLVMCreateMemoryBufferWithMemoryRangeCopy(packed.data(), packed.size(), "");
}
