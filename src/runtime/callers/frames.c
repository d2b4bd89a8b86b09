/* DWARF call frame information (x86-64 psABI, Linux Standard Base: .eh_frame, .eh_frame_hdr), in
 * the form that compilers use for code that makes calls. The frame's address is %rsp or %rbp plus a
 * constant; all other rules end the walk. */
#include "runtime/callers/frames.h"

#include <dlfcn.h>
#include <string.h>

#include "base/hash.h"
#include "base/hot_state.h"
#include "base/search.h"
#include "platform/platform.h"

#define FRAME_RBP 6
#define FRAME_RSP 7

/* DW_EH_PE_* */
#define ENCODED_RELATIVE_SIGNED_4 0x1b
#define ENCODED_TABLE 0x3b /* relative to the header, four bytes */

/* DWARF 5, table 7.29: upper two bits of an instruction, or all of it where both are zero. */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_ADVANCE_1 = 0x02,
	CFA_ADVANCE_2 = 0x03,
	CFA_ADVANCE_4 = 0x04,
	CFA_REMEMBER = 0x0a,
	CFA_RECALL = 0x0b,
	CFA_DEFINE = 0x0c,
	CFA_DEFINE_REGISTER = 0x0d,
	CFA_DEFINE_OFFSET = 0x0e,
	CFA_GNU_ARGUMENTS = 0x2e
};

/* Maximum size of a frame. A larger distance is a damaged register. */
#define FRAME_MOST (INT64_C(1) << 24)
/* Depth of CFA_REMEMBER; compilers use one. */
#define REMEMBERED_MOST 4

/* The rule at one address. The return address always lies directly below the frame's address. */
struct frame_rule {
	int32_t distance;     /* distance from the register to the frame's address */
	int16_t base_pointer; /* distance to the saved %rbp; 0: %rbp is unchanged */
	uint16_t base;	      /* FRAME_RSP or FRAME_RBP; 0: no rule */
};

/* Cache by return address, written by the moving thread. The key is return address XOR rule,
 * because a signal handler may overwrite an entry between the two writes. */
#define RULES_KEPT 1024
struct kept_rule {
	uint64_t key;
	uint64_t rule;
};
static HOT_STATE struct kept_rule
	*rules; /* shared with forked processes; NULL if there is no memory */

struct frame_bytes {
	const uint8_t *at, *end;
};

static uint64_t frames_frame_number(struct frame_bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(bytes->end - bytes->at) >= size)
		memcpy(&value, bytes->at, size);
	bytes->at +=
		(size_t)(bytes->end - bytes->at) >= size ? size : (size_t)(bytes->end - bytes->at);
	return value;
}

static uint64_t frames_frame_uleb(struct frame_bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0; bytes->at < bytes->end && shift < 64; shift += 7) {
		value |= (uint64_t)(*bytes->at & 0x7f) << shift;
		if (!(*bytes->at++ & 0x80))
			break;
	}
	return value;
}

static int64_t frames_frame_sleb(struct frame_bytes *bytes)
{
	const uint8_t *start = bytes->at;
	const uint64_t value = frames_frame_uleb(bytes);
	const unsigned bits = 7 * (unsigned)(bytes->at - start);

	if (bits && bits < 64 && bytes->at[-1] & 0x40)
		return (int64_t)(value | ~UINT64_C(0) << bits);
	return (int64_t)value;
}

/* Returns the body of the CIE or FDE at `start`. *id: the word before it. */
static struct frame_bytes frames_frame_entry(const uint8_t *start, uint32_t *id)
{
	uint32_t length;

	memcpy(&length, start, sizeof length);
	if (length < sizeof *id || length == UINT32_MAX)
		return (struct frame_bytes){.at = start, .end = start};
	memcpy(id, start + sizeof length, sizeof *id);
	return (struct frame_bytes){
		.at = start + sizeof length + sizeof *id, .end = start + sizeof length + length};
}

/* Returns the last FDE at or before `code` in the sorted table of .eh_frame_hdr; NULL if there is
 * none. */
static const uint8_t *frames_frame_find_entry(const uint8_t *header, uint64_t code)
{
	const int32_t *table = (const int32_t *)(const void *)(header + 12);
	const int64_t wanted = (int64_t)(code - (uint64_t)(uintptr_t)header);
	uint32_t low, count;

	/* version, then the encodings of the frames' address, the count and the table */
	if (!header || header[0] != 1 || header[2] != 0x03 || header[3] != ENCODED_TABLE)
		return NULL;
	memcpy(&count, header + 8, sizeof count);
	SEARCH(low, 0, count, table[(size_t)2 * low] <= wanted);
	return low ? header + table[(size_t)2 * low - 1] : NULL;
}

/* The part of a CIE that its FDEs share. */
struct frame_common {
	uint64_t code_factor;
	int64_t data_factor;
	struct frame_bytes instructions;
};

static bool frames_frame_read_common(const uint8_t *start, struct frame_common *common)
{
	uint32_t id = 1;
	struct frame_bytes bytes = frames_frame_entry(start, &id);
	const char *augmentation = (const char *)bytes.at + 1;
	uint8_t encoding = 0;
	uint64_t length;

	/* Accepts "zR" and "zPLR". 'S' marks a signal frame, whose registers lie elsewhere. */
	if (id || bytes.at == bytes.end || *bytes.at != 1 || *augmentation != 'z' ||
		strchr(augmentation, 'S'))
		return false;
	bytes.at += 1 + strlen(augmentation) + 1;
	common->code_factor = frames_frame_uleb(&bytes);
	common->data_factor = frames_frame_sleb(&bytes);
	(void)frames_frame_uleb(&bytes);
	length = frames_frame_uleb(&bytes);
	common->instructions = (struct frame_bytes){.at = bytes.at + length, .end = bytes.end};
	for (const char *at = augmentation + 1; *at; at++) {
		if (*at == 'R')
			encoding = (uint8_t)frames_frame_number(&bytes, 1);
		else if (*at == 'L')
			(void)frames_frame_number(&bytes, 1);
		else if (*at == 'P')
			(void)frames_frame_number(
				&bytes, frames_frame_number(&bytes, 1) & 4 ? 8 : 4);
		else
			return false;
	}
	return encoding == ENCODED_RELATIVE_SIGNED_4;
}

struct frame_machine {
	const struct frame_common *common;
	struct frame_rule rule, initial, remembered[REMEMBERED_MOST];
	unsigned depth;
	uint64_t at, code;
};

static void frames_frame_save(struct frame_machine *machine, uint64_t saved, uint64_t factored)
{
	if (saved == FRAME_RBP)
		machine->rule.base_pointer =
			(int16_t)((int64_t)factored * machine->common->data_factor);
}

static void frames_frame_restore(struct frame_machine *machine, uint64_t restored)
{
	if (restored == FRAME_RBP)
		machine->rule.base_pointer = machine->initial.base_pointer;
}

/* Returns false if the instruction defines a rule of another form. */
static bool frames_frame_define(
	struct frame_machine *machine, uint8_t instruction, struct frame_bytes *bytes)
{
	switch (instruction) {
	case CFA_NOP:
		return true;
	case CFA_GNU_ARGUMENTS:
		(void)frames_frame_uleb(bytes);
		return true;
	case CFA_REMEMBER:
		if (machine->depth == REMEMBERED_MOST)
			return false;
		machine->remembered[machine->depth++] = machine->rule;
		return true;
	case CFA_RECALL:
		if (!machine->depth)
			return false;
		machine->rule = machine->remembered[--machine->depth];
		return true;
	case CFA_DEFINE:
		machine->rule.base = (uint16_t)frames_frame_uleb(bytes);
		machine->rule.distance = (int32_t)frames_frame_uleb(bytes);
		return true;
	case CFA_DEFINE_REGISTER:
		machine->rule.base = (uint16_t)frames_frame_uleb(bytes);
		return true;
	case CFA_DEFINE_OFFSET:
		machine->rule.distance = (int32_t)frames_frame_uleb(bytes);
		return true;
	default:
		return false;
	}
}

/* Runs the instructions up to the wanted address. Returns false for a rule of another form. */
static bool frames_frame_run(struct frame_machine *machine, struct frame_bytes bytes)
{
	while (bytes.at < bytes.end && machine->at <= machine->code) {
		const uint8_t instruction = *bytes.at++;
		uint64_t distance = 0;

		switch (instruction & 0xc0) {
		case CFA_ADVANCE:
			distance = instruction & 0x3f;
			break;
		case CFA_OFFSET:
			frames_frame_save(machine, instruction & 0x3f, frames_frame_uleb(&bytes));
			continue;
		case CFA_RESTORE:
			frames_frame_restore(machine, instruction & 0x3f);
			continue;
		default:
			if (instruction == CFA_ADVANCE_1)
				distance = frames_frame_number(&bytes, 1);
			else if (instruction == CFA_ADVANCE_2)
				distance = frames_frame_number(&bytes, 2);
			else if (instruction == CFA_ADVANCE_4)
				distance = frames_frame_number(&bytes, 4);
			else if (frames_frame_define(machine, instruction, &bytes))
				continue;
			else
				return false;
		}
		machine->at += distance * machine->common->code_factor;
	}
	return true;
}

static struct frame_rule frames_frame_find_rule(uint64_t return_address)
{
	static const struct frame_rule none;
	struct frame_common common;
	struct frame_machine machine = {.common = &common, .code = return_address - 1};
	struct dl_find_object object;
	struct frame_bytes bytes;
	const uint8_t *entry;
	uint32_t id = 0;
	uint64_t bytes_of_code;

	if (!return_address || _dl_find_object((void *)(uintptr_t)machine.code, &object))
		return none;
	entry = frames_frame_find_entry(object.dlfo_eh_frame, machine.code);
	if (!entry)
		return none;
	bytes = frames_frame_entry(entry, &id);
	if (!id || !frames_frame_read_common(entry + sizeof id - id, &common))
		return none;
	machine.at = (uint64_t)(uintptr_t)bytes.at;
	machine.at += (uint64_t)(int64_t)(int32_t)frames_frame_number(&bytes, 4);
	bytes_of_code = frames_frame_number(&bytes, 4);
	if (machine.code - machine.at >= bytes_of_code)
		return none;
	bytes.at += frames_frame_uleb(&bytes);
	if (!frames_frame_run(&machine, common.instructions))
		return none;
	machine.initial = machine.rule;
	if (!frames_frame_run(&machine, bytes))
		return none;
	return machine.rule.base == FRAME_RSP || machine.rule.base == FRAME_RBP ? machine.rule
										: none;
}

void frames_set_up(void)
{
	rules = platform_map(RULES_KEPT * sizeof *rules, true);
}

static struct frame_rule frames_frame_rule_of(uint64_t return_address)
{
	struct kept_rule *slot =
		rules ? &rules[hash_mix(return_address) % RULES_KEPT] : &(struct kept_rule){0};
	uint64_t kept = slot->rule;
	struct frame_rule rule;

	if (rules && (slot->key ^ kept) == return_address) {
		memcpy(&rule, &kept, sizeof rule);
		return rule;
	}
	rule = frames_frame_find_rule(return_address);
	memcpy(&kept, &rule, sizeof kept);
	slot->rule = kept;
	slot->key = return_address ^ kept;
	return rule;
}

bool frame_leave(struct frame *frame, frame_read *read, void *context)
{
	const struct frame_rule rule = frames_frame_rule_of(frame->return_address);
	const uint64_t start = rule.base == FRAME_RSP ? frame->stack_pointer : frame->base_pointer;
	const uint64_t least = frame->stack_pointer ? frame->stack_pointer : start;
	const uint64_t top = start + (uint64_t)(int64_t)rule.distance;

	/* Stacks grow downwards: an outer frame lies above, at a small distance. */
	if (!rule.base || !start || top <= least || top - least > FRAME_MOST || top % 8)
		return false;
	if (rule.base_pointer &&
		!read(top + (uint64_t)(int64_t)rule.base_pointer, &frame->base_pointer, context))
		return false;
	frame->stack_pointer = top;
	return read(top - 8, &frame->return_address, context) && frame->return_address;
}
