/*
 * Writes the record of a run (branches/record/record.h), in the moving thread. The functions handle
 * each report of a site that its quick stub (record_stubs.c) does not predict. The first part of
 * the path uses general registers only (CMakeLists.txt).
 *
 * A site reports before its access. The recorder reads a written value when the thread makes its
 * next report. Until then the write is *pending*; the recorder drops it if code without bitcode may
 * have run in between. `raddle branches` re-executes the record (the *walk*) and must make the same
 * predictions: every rule here has its counterpart there.
 */
#include "runtime/record.h"

#include <string.h>

#include "runtime/record/record_access.h"
#include "runtime/record/record_internal.h"
#include "runtime/sites.h"

void record_flush(void)
{
	struct record_moving *moving = record_state.moving;
	const uint64_t address = moving->pending;

	if (!address)
		return;
	for (uint32_t done = 0; done < moving->pending_bytes; done += 8) {
		const uint32_t left = moving->pending_bytes - done;
		uint64_t value;

		if (!record_fetch(address + done, left < 8 ? left : 8, &value))
			value = 0;
		record_put(record_slot(address + done), value, left < 8 ? left : 8);
	}
	moving->pending = 0;
}

void record_drop_pending(void)
{
	struct record_moving *moving = record_state.moving;
	uint8_t *slot = record_slot(moving->pending);

	for (uint32_t done = 0; done < moving->pending_bytes; done += 8) {
		const uint32_t left = moving->pending_bytes - done;

		record_put(slot + done, 0, left < 8 ? left : 8);
	}
	moving->pending = 0;
}

void record_read(uint64_t address, uint64_t bytes)
{
	uint64_t done = 0;

	while (done < bytes) {
		const uint64_t at = address + done, words = (bytes - done) / 8;
		/* Consecutive words have consecutive slots up to the end of the copy. */
		const uint64_t most = (RECORD_MEMORY_BYTES - record_slot_of(at) + 7) / 8;
		const uint64_t same = guarded_same_words(
			(const void *)at, record_slot(at), words < most ? words : most);

		record_state.moving->left -= (int64_t)same;
		done += 8 * same;
		if (done == bytes || (same && same == most))
			continue;
		if (!record_read_part(
			    address + done, bytes - done < 8 ? (uint32_t)(bytes - done) : 8))
			return;
		done += 8;
	}
}

void record_copied(uint64_t from, uint64_t to, uint64_t bytes)
{
	uint8_t *memory = record_state.moving->memory;
	const uint64_t source = record_slot_of(from), target = record_slot_of(to);
	const bool is_apart = target < source || target - source >= bytes;
	uint64_t done = 0;

	if (bytes < 8 && bytes && is_apart) {
		if (record_read_part(from, (uint32_t)bytes))
			record_put(memory + target, record_known(memory + source, (uint32_t)bytes),
				(uint32_t)bytes);
		return;
	}
	/* Neither range wraps around the copy's end, and they do not overlap. */
	if (bytes >= 8 && source + bytes <= RECORD_MEMORY_BYTES &&
		target + bytes <= RECORD_MEMORY_BYTES && is_apart) {
		done = guarded_same_copied(
			(const void *)from, memory + source, memory + target, bytes);
		record_state.moving->left -= (int64_t)((done + 7) / 8);
		if (done == bytes)
			return;
	}
	record_read(from + done, bytes - done);
	record_copy_known(memory, from + done, to + done, bytes - done);
}

/* Returns whether the word has a zero byte at index `byte` or later. */
static bool record_has_zero(uint64_t value, uint64_t byte)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	value |= (UINT64_C(1) << 8 * byte) - 1; /* makes the bytes before it nonzero */
	return (value - ones) & ~value & ones << 7;
}

/* Records the word if its value differs from the copy. */
static void record_string_word(uint8_t *slot, uint64_t value, uint64_t known)
{
	if (record_entry(record_state.moving->thread, RECORD_READ))
		record_number(record_state.moving->thread, record_difference(value, known, 8));
	record_put(slot, value, sizeof value);
}

struct string_progress {
	uint64_t word;
	bool has_ended;
	bool has_page; /* the page of this word is readable */
};

/* Records the first words, in any case, while they equal the copy. */
static struct string_progress record_string_start(uint64_t address, uint64_t most)
{
	const uint64_t first = address & ~UINT64_C(7), page = (address & ~UINT64_C(4095)) + 4096;
	const uint64_t least = address + (most < SITE_CONTENTS_LEAST ? most : SITE_CONTENTS_LEAST);
	const uint64_t end = least < page ? least : page;
	struct guarded_same same = {0};

	if (first < end)
		same = guarded_same_string((const void *)first, record_slot(first),
			(end - first + 7) / 8, (UINT64_C(1) << 8 * (address & 7)) - 1);
	record_state.moving->left -= (int64_t)same.words;
	return (struct string_progress){first + 8 * same.words, same.zeros != 0, same.words != 0};
}

void record_string(uint64_t address, uint64_t length)
{
	const uint64_t most = length < SITE_CONTENTS_MOST ? length : SITE_CONTENTS_MOST;
	struct string_progress progress = record_string_start(address, most);
	/* Added to `left` late, to avoid a chain of dependent stores */
	int64_t same = 0;

	for (; progress.word < address + most; progress.word += 8) {
		const uint64_t word = progress.word;
		uint8_t *slot = record_slot(word);
		uint64_t value, known = record_known(slot, sizeof known);

		if (progress.has_ended && (word >= address + SITE_CONTENTS_LEAST || !(word & 4095)))
			break;
		/* If one word of a page is readable, all are. */
		if (progress.has_page && word & 4095) {
			memcpy(&value, (const void *)word, sizeof value);
			if (__builtin_expect(known == value, 1)) {
				same++;
			} else {
				record_state.moving->left -= same;
				same = 0;
				record_string_word(slot, value, known);
			}
		} else {
			record_state.moving->left -= same;
			same = 0;
			progress.has_page = record_read_part(word, sizeof value);
			value = record_known(slot, sizeof value);
		}
		progress.has_ended |= record_has_zero(value, word < address ? address & 7 : 0);
	}
	record_state.moving->left -= same;
}

void record_range(uint64_t address, uint64_t length)
{
	const uint64_t first = address & ~UINT64_C(7);
	const uint64_t end = address + (length < SITE_RANGE_MOST ? length : SITE_RANGE_MOST);

	if (end > first)
		record_read(first, (end - first + 7) & ~UINT64_C(7));
}

void record_argument(uint64_t value)
{
	struct record_moving *moving = record_state.moving;
	uint64_t *known;

	if (!moving->wants_arguments)
		return;
	known = &moving->values[record_argument_slot(
		moving->entered, moving->wants_arguments++ - 1)];
	if (record_room(moving->thread))
		record_number(moving->thread, record_difference(value, *known, 8));
	*known = value;
}

bool record_is_inside(uintptr_t code)
{
	if (code >= record_state.code_start && code < record_state.code_end)
		return true;
	return sites_find_code(code, &record_state.code_start, &record_state.code_end);
}

void record_enter(uint32_t site, uintptr_t frame)
{
	struct record_moving *moving = record_state.moving;

	if (record_is_inside(((const uintptr_t *)frame)[1]))
		return;
	record_state.outside = ((const uintptr_t *)frame)[1];
	record_drop();
	moving->wants_arguments = 1;
	if (site == moving->entered) {
		(void)record_entry(moving->thread, RECORD_ENTER_AGAIN);
		return;
	}
	moving->entered = site;
	if (record_entry(moving->thread, RECORD_ENTER))
		record_number(moving->thread, site);
}

static void record_jump(uint32_t site, uint64_t value, uint64_t second)
{
	struct record_thread *thread = record_state.moving->thread;

	record_drop();
	if (!record_entry(thread, RECORD_JUMP))
		return;
	record_number(thread, site);
	record_number(thread, value);
	record_number(thread, second);
}

static void record_checked(uint32_t site, uint64_t address)
{
	struct record_moving *moving = record_state.moving;
	const bool has_room = record_entry(moving->thread, RECORD_REPORT);

	/* Checked records must not change the length of time slices. */
	moving->mark = ++moving->left;
	if (!has_room)
		return;
	record_number(moving->thread, site);
	record_number(moving->thread, address);
}

static void record_access(const struct site_record *site, uint64_t address, uint64_t length)
{
	switch (site->kind) {
	case SITE_LOAD:
		record_read(address, site->bytes);
		if (record_pends(site))
			record_pend(address, site->bytes);
		return;
	case SITE_ATOMIC_LOAD:
		record_read(address, site->bytes);
		return;
	case SITE_ATOMIC_UPDATE:
	case SITE_COMPARE_EXCHANGE:
		record_read(address, site->bytes);
		/* fall through */
	case SITE_STORE:
	case SITE_ATOMIC_STORE:
		record_pend(address, site->bytes);
		return;
	case SITE_RANGE_READ:
		record_state.moving->copied_from = address;
		if (site->bytes & SITE_COPIED && length <= SITE_COPIED_MOST)
			record_read(address, length);
		else if (site->bytes & SITE_CONTENTS)
			record_range(address, length);
		return;
	case SITE_STRING_READ:
		if (site->bytes & SITE_CONTENTS)
			record_string(address, length);
		return;
	case SITE_RANGE_WRITE:
		if (site->bytes & SITE_FOLLOWED && length <= SITE_FOLLOWED_MOST)
			record_copied(record_state.moving->copied_from, address, length);
		return;
	default:
		return;
	}
}

/* Returns whether the walk checks reports of this kind one by one. */
static bool record_is_checked_kind(uint8_t kind)
{
	return kind <= SITE_FENCE || kind >= SITE_RESULT;
}

/* Settles the pending write at the next report, as the walk does. */
static void record_look_back(const struct site_record *site)
{
	switch (site->kind) {
	case SITE_FUNCTION_ENTRY: /* record_enter() decides, by the caller */
	case SITE_FENCE:
		return;
	case SITE_STRING_READ: /* part of a library call, which ends with a result */
	case SITE_RANGE_READ:
		if (site->bytes & (SITE_COPIED | SITE_FOLLOWED | SITE_CONTENTS))
			record_flush();
		return;
	case SITE_RESULT: /* code without bitcode has run */
	case SITE_RETURNS_TWICE:
	case SITE_LANDING:
	case SITE_RANGE_WRITE:
	case SITE_STRING_WRITE:
		record_drop();
		return;
	default:
		record_flush();
		return;
	}
}

void record_report(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	struct record_moving *moving = record_state.moving;

	if (site->order & SITE_UNRECORDED && site->kind != SITE_COMPARE_EXCHANGE)
		return;
	if (site->kind == SITE_ARGUMENT) {
		record_argument(address);
		return;
	}
	moving->wants_arguments = 0;
	if (record_state.area->is_checked && record_is_checked_kind(site->kind))
		record_checked(site_index(site), address);
	record_look_back(site);
	switch (site->kind) {
	case SITE_FUNCTION_ENTRY:
		record_enter(site_index(site), frame);
		return;
	case SITE_RESULT:
	case SITE_ADDRESS:
		record_value(record_value_slot(site_index(site), site->bytes), address);
		return;
	case SITE_RETURNS_TWICE:
	case SITE_LANDING:
		record_jump(site_index(site), address, length);
		return;
	default:
		record_access(site, address, length);
		return;
	}
}

/* Settles the pending write before other threads run. The walk learns of the end of a time slice
 * only at the report. Both treat the write as the report alone would: behind a SITE_RESULT it is
 * dropped. */
void record_settle(const struct site_record *site, bool is_point)
{
	struct record_moving *moving = record_state.moving;

	if (is_point || site->kind != SITE_RESULT) {
		record_flush();
	} else if (moving->pending) {
		record_drop_pending();
		record_state.parked[moving->index].has_dropped = true;
	}
}

bool record_may_end_turn(const struct site_record *site)
{
	return site->kind == SITE_LOAD || site->kind == SITE_ATOMIC_LOAD ||
	       site->kind == SITE_ATOMIC_UPDATE || site->kind == SITE_COMPARE_EXCHANGE ||
	       site->kind == SITE_RESULT || site->kind == SITE_ADDRESS;
}

/* Fast path for the most frequent kinds, in records that are not checked. */
static bool record_often(const struct site_record *site, uint64_t address)
{
	if (site->kind == SITE_LOAD && site->bytes <= 8 && !site->order) {
		record_state.moving->wants_arguments = 0;
		record_flush();
		(void)record_read_part(address, site->bytes);
		if (record_pends(site))
			record_pend(address, site->bytes);
		return true;
	}
	if (site->kind == SITE_RESULT) {
		record_state.moving->wants_arguments = 0;
		record_drop();
		record_value(record_value_slot(site_index(site), site->bytes), address);
		return true;
	}
	return false;
}

bool record_quickly(
	const struct site_record *site, uint64_t address, uint64_t length, uintptr_t frame)
{
	if (record_is_recomputed(site, length))
		return true;
	if (__builtin_expect(record_state.has_chosen || record_state.moving->left <= 0, 0) &&
		(record_state.has_chosen || record_may_end_turn(site)))
		return false;
	if (record_state.area->is_checked || !record_often(site, address))
		record_report(site, address, length, frame);
	return true;
}

bool record_turn_is_over(void)
{
	struct record_moving *moving = record_state.moving;

	if (__builtin_expect(moving->left > 0, 1))
		return false;
	moving->thread->predicted += (uint64_t)(moving->mark - moving->left);
	moving->mark = moving->left = REPORTS_IN_A_TURN;
	return true;
}
