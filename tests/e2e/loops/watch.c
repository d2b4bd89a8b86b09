/*
 * Replaces raddle in a program that raddle-cc compiled: switches all sites on, and records their
 * reports. Do loops without points, whose memory is not wanted, compute the same? Are all accesses
 * to wanted memory still reported?
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapes.h"
#include "support/switched_sites.h"

#define REPORTED_MOST 65536

struct reported {
	uint64_t address, behind; /* the address behind the point */
};

struct reported reported[REPORTED_MOST];
struct reported *reported_end = reported;
struct wanted_memory raddle_wanted_v5;

void report(void);

__asm__(".text\nreport:\n"
	"	movq reported_end(%rip), %r11\n"
	"	movq %r10, (%r11)\n"
	"	movq (%rsp), %r10\n"
	"	movq %r10, 8(%r11)\n"
	"	addq $16, reported_end(%rip)\n"
	"	ret\n");

static const struct instrumented_module *module;

void raddle_module_loaded(const struct instrumented_module *loaded)
{
	unsigned char *stubs = switched_stubs(loaded, report);

	module = loaded;
	for (const struct site_record *record = loaded->first; record < loaded->end; record++) {
		switched_leave_native(record);
		if (record->kind <= SITE_STORE)
			switched_turn_on(stubs, loaded, record);
	}
}

void raddle_module_unloaded(const struct instrumented_module *loaded)
{
	(void)loaded;
}

static unsigned bytes_at(uint64_t behind)
{
	for (const struct site_record *record = module->first; record < module->end; record++)
		if (record->kind <= SITE_STORE &&
			(uint64_t)(uintptr_t)switched_point(record) + SITE_POINT_BYTES == behind)
			return record->bytes;
	abort();
}

static void want(uint64_t start, uint64_t end, unsigned part)
{
	memset(&raddle_wanted_v5, 0, sizeof raddle_wanted_v5);
	for (unsigned i = 0; i < WANTED_PARTS; i++)
		raddle_wanted_v5.parts[i].start = UINT64_MAX;
	raddle_wanted_v5.parts[part].start = start;
	raddle_wanted_v5.parts[part].end = end;
}

static struct room room;

static void fill(void)
{
	memset(&room, 0, sizeof room);
	for (int i = 0; i < ELEMENTS; i++) {
		room.longs[i] = i * 7 % 100;
		room.bytes[i] = (unsigned char)(i * 11);
		room.shorts[i] = (short)(i * 5);
		room.parts[i].x = i;
	}
	for (int i = 0; i < ROWS * COLUMNS; i++)
		room.grid[i / COLUMNS][i % COLUMNS] = i % 13;
}

/* A run of a shape, and its reports. */
struct run {
	struct room after;
	long result;
	unsigned count; /* reported */
	struct {
		uint64_t start, end;
	} accesses[REPORTED_MOST];
};

static void make(struct run *run, const struct shape *shape, int n)
{
	fill();
	reported_end = reported;
	run->result = shape->run(&room, n);
	run->count = (unsigned)(reported_end - reported);
	run->after = room;
	for (unsigned i = 0; i < run->count; i++) {
		run->accesses[i].start = reported[i].address;
		run->accesses[i].end = reported[i].address + bytes_at(reported[i].behind);
	}
}

static unsigned count_of(const struct run *run, uint64_t start, uint64_t end)
{
	unsigned count = 0;

	for (unsigned i = 0; i < run->count; i++)
		count += run->accesses[i].start < end && run->accesses[i].end > start;
	return count;
}

static int failed;

static void check_same(const struct run *all, const struct run *few, const char *name, int n)
{
	if (all->result == few->result && !memcmp(&all->after, &few->after, sizeof all->after))
		return;
	printf("FAILED: %s of %d computes something else\n", name, n);
	failed = 1;
}

/* Sums of all runs of a shape. */
struct sums {
	unsigned long all, few; /* numbers of reported accesses */
};

static void check(const struct shape *shape, int n, struct sums *sums)
{
	static struct run all, few;

	want(0, UINT64_MAX, 0);
	make(&all, shape, n);
	want(UINT64_MAX, 0, 0);
	make(&few, shape, n);
	check_same(&all, &few, shape->name, n);
	for (uintptr_t at = (uintptr_t)&room; at < (uintptr_t)(&room + 1); at += 8) {
		want(at, at + 8, (unsigned)(at / 8 % WANTED_PARTS));
		make(&few, shape, n);
		check_same(&all, &few, shape->name, n);
		if (count_of(&all, at, at + 8) != count_of(&few, at, at + 8)) {
			printf("FAILED: %s of %d: %u accesses to the byte %zu, %u reported\n",
				shape->name, n, count_of(&all, at, at + 8),
				(size_t)(at - (uintptr_t)&room), count_of(&few, at, at + 8));
			failed = 1;
		}
		sums->all += all.count;
		sums->few += few.count;
	}
}

int main(void)
{
	static const int sizes[] = {0, 1, 2, 7, 8, 9, 10, 33, 100, ELEMENTS};

	for (unsigned i = 0; i < shape_count; i++) {
		struct sums sums = {0, 0};

		for (unsigned j = 0; j < sizeof sizes / sizeof *sizes; j++)
			check(&shapes[i], sizes[j], &sums);
		printf("%s %lu %lu\n", shapes[i].name, sums.all, sums.few);
	}
	return failed;
}
