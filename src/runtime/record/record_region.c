/* Runs while a single thread moves, before the module's code runs. */
#include "runtime/record/record_region.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "platform/platform.h"
#include "branches/record/record.h"
#include "runtime/code_memory.h"
#include "runtime/record.h"
#include "runtime/sites.h"

#define REGIONS_MOST 16
#define REGION_BYTES (UINT64_C(1) << 21)
#define REGION_REACH (UINT64_C(7) << 28) /* reach of jumps, minus room for large modules */
#define PIECE_MOST 320
#define PAGE UINT64_C(4096)

/* Private to the process. Written while modules are loaded. */
static struct {
	struct stub_region regions[REGIONS_MOST];
	uint32_t region_count;
	bool is_refused; /* the system forbids memory that is writable and executable */
} stubs;

struct record_moving *record_region_state;

struct record_moving *record_stubs_open(void)
{
	const long start = platform_call(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (platform_failed(start))
		return NULL;
	record_region_state = (struct record_moving *)start;
	return record_region_state;
}

static void record_region_put_flush_of(
	struct writer *writer, unsigned bytes, const char *move, size_t length)
{
	PUT(writer, "\x83\x3c\x25"); /* cmpl $bytes, pending_bytes */
	put_word(writer, STATE(pending_bytes));
	put_byte(writer, bytes);
	PUT(writer, "\x75");
	put_byte(writer, (unsigned)length + 13);
	put(writer, move, length);
	PUT(writer, "\x48\xc7\x04\x25"); /* movq $0, pending */
	put_word(writer, STATE(pending));
	put_word(writer, 0);
	PUT(writer, "\xc3");
}

/* Writes the routine that copies the pending write into the thread's copy of memory. */
static void record_region_put_flush_routine(struct stub_region *region, struct writer *writer)
{
	static void (*const kinds[STUB_COUNT])(void) = {
		[STUB_GENERAL] = site_any,
		[STUB_READ] = record_near_read,
		[STUB_READ_1] = record_near_read1,
		[STUB_READ_2] = record_near_read2,
		[STUB_READ_4] = record_near_read4,
		[STUB_READ_8] = record_near_read8,
		[STUB_UPDATE] = record_near_update,
		[STUB_UPDATE_1] = record_near_update1,
		[STUB_UPDATE_2] = record_near_update2,
		[STUB_UPDATE_4] = record_near_update4,
		[STUB_UPDATE_8] = record_near_update8,
		[STUB_RESULT] = record_near_result,
		[STUB_ADDRESS] = record_near_address,
		[STUB_ARGUMENT] = record_near_argument,
		[STUB_ENTER] = record_near_enter,
		[STUB_COPIED] = record_near_copied,
		[STUB_COPY] = record_near_copy,
		[STUB_STRING] = record_near_string,
		[STUB_CONTENTS] = record_near_contents,
		[STUB_RANGE] = record_near_range,
	};

	region->kinds = writer->at;
	put(writer, (const char *)kinds, sizeof kinds);
	region->flush = writer->at;
	PUT(writer, "\x4c\x8b\x14\x25"); /* mov pending, %r10 */
	put_word(writer, STATE(pending));
	PUT(writer, "\x45\x89\xd3\x41\x81\xe3"); /* mov %r10d, %r11d; and $..., %r11d */
	put_word(writer, RECORD_MEMORY_BYTES - 1);
	PUT(writer, "\x4c\x03\x1c\x25"); /* add memory, %r11 */
	put_word(writer, STATE(memory));
#define MOVE(bytes, code) record_region_put_flush_of(writer, bytes, code, sizeof(code) - 1)
	MOVE(8, "\x4d\x8b\x12\x4d\x89\x13"); /* mov (%r10), %r10; mov %r10, (%r11) */
	MOVE(4, "\x45\x8b\x12\x45\x89\x13");
	MOVE(1, "\x45\x8a\x12\x45\x88\x13");
	MOVE(2, "\x66\x45\x8b\x12\x66\x45\x89\x13");
#undef MOVE
	PUT(writer,
		"\x48\x89\x7c\x24\xc0\x48\x89\x74\x24\xb8\x48\x89\x4c\x24\xb0"); /* save %rdi, %rsi, %rcx */
	PUT(writer, "\x4c\x89\xd6\x4c\x89\xdf"); /* arguments: %r10 and %r11 */
	PUT(writer, "\x8b\x0c\x25");		 /* mov pending_bytes, %ecx */
	put_word(writer, STATE(pending_bytes));
	region->flush_bytes = writer->at;
	PUT(writer, "\xf3\xa4"); /* rep movsb */
	region->flush_bytes_failed = writer->at;
	PUT(writer, "\x48\x8b\x7c\x24\xc0\x48\x8b\x74\x24\xb8\x48\x8b\x4c\x24\xb0");
	region->flush_failed = writer->at;
	PUT(writer, "\x48\xc7\x04\x25");
	put_word(writer, STATE(pending));
	put_word(writer, 0);
	PUT(writer, "\xc3");
}

static bool record_region_map(struct stub_region *region, uintptr_t code_start)
{
	region->start = region->at = code_memory_map(
		code_start, code_start, REGION_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (!region->start)
		return false;
	region->end = region->start + REGION_BYTES;
	region->pieces = (struct stub_piece *)region->end;
	return true;
}

static bool record_region_is_near(const struct stub_region *region, uintptr_t code_start)
{
	const uintptr_t start = (uintptr_t)region->start;

	return (start < code_start ? code_start - start : start - code_start) < REGION_REACH;
}

static bool record_region_has_room(const struct stub_region *region)
{
	return (size_t)((unsigned char *)region->pieces - region->at) >
	       PIECE_MOST + sizeof(struct stub_piece);
}

struct stub_region *record_region_for(uintptr_t code_start)
{
	struct stub_region *region;
	struct writer writer;

	for (uint32_t i = stubs.region_count; i-- > 0;)
		if (record_region_has_room(&stubs.regions[i]) &&
			record_region_is_near(&stubs.regions[i], code_start))
			return &stubs.regions[i];
	if (stubs.is_refused || stubs.region_count == REGIONS_MOST)
		return NULL;
	region = &stubs.regions[stubs.region_count];
	if (!record_region_map(region, code_start)) {
		stubs.is_refused = true;
		return NULL;
	}
	stubs.region_count++;
	writer.at = region->at;
	record_region_put_flush_routine(region, &writer);
	region->at = writer.at;
	return region;
}

bool record_stub_has_failed(int signal, const siginfo_t *info, void *context)
{
	greg_t *next = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	const unsigned char *at = (const unsigned char *)(uintptr_t)*next;

	if ((signal != SIGSEGV && signal != SIGBUS) || info->si_code <= 0)
		return false;
	for (uint32_t i = 0; i < stubs.region_count; i++) {
		const struct stub_region *region = &stubs.regions[i];
		const struct stub_piece *piece = region->pieces;

		if (at < region->start || at >= region->at)
			continue;
		if (at < region->flush_failed) {
			*next = (greg_t)(uintptr_t)(at == region->flush_bytes
							    ? region->flush_bytes_failed
							    : region->flush_failed);
			return true;
		}
		/* The table is sorted by decreasing start. */
		while ((size_t)(at - region->start) < piece->start)
			piece++;
		*next = (greg_t)(uintptr_t)(region->start + piece->slow);
		return true;
	}
	return false;
}
