/* Loops of many shapes, for watch.c; compiled by raddle-cc. Each works on the first n elements of what it is given. */
#include "shapes.h"

#include <stddef.h>

static long up(struct room *room, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++) {
		room->longs[i] += i * 3;
		sum += room->longs[i];
	}
	return sum;
}

static long down(struct room *room, int n)
{
	for (int i = n - 1; i >= 0; i--)
		room->longs[i] = room->longs[i + 1] + 1;
	return room->longs[0];
}

static long by_three(struct room *room, int n)
{
	size_t i = 0;

	for (; i < (size_t)n; i += 3)
		room->bytes[i] ^= 5;
	return (long)i;
}

static long pointers(struct room *room, int n)
{
	long sum = 0;

	for (const unsigned char *at = room->bytes, *end = at + n; at != end; at++)
		sum = sum * 31 + *at;
	return sum;
}

static long sometimes(struct room *room, int n)
{
	long seen = 0;

	for (int i = 0; i < n; i++) {
		if (room->longs[i] % 3)
			continue;
		room->parts[i].y += room->parts[i].x;
		seen = i;
	}
	return seen;
}

/* Left in the middle. */
static long search(struct room *room, int n)
{
	int i = 0;

	for (; i < n; i++)
		if (room->longs[i] == 77)
			break;
	return i < n ? room->longs[i] + i : -1;
}

static long stencil(struct room *room, int n)
{
	for (int row = 1; row < ROWS - 1; row++)
		for (int column = 1; column < n && column < COLUMNS - 1; column++)
			room->grid[row][column] =
				(room->grid[row - 1][column] + room->grid[row + 1][column] +
					room->grid[row][column - 1] + room->grid[row][column + 1]) /
				4;
	return (long)room->grid[1][1];
}

static long unsigned_count(struct room *room, int n)
{
	const unsigned first = (unsigned)n / 2;

	for (unsigned i = first; i != (unsigned)n; i++)
		room->shorts[i] = (short)(room->shorts[i - first] + 1);
	return room->shorts[first];
}

/* Two of them grow, in opposite directions. */
static long reversed(struct room *room, int n)
{
	for (int i = 0, j = ELEMENTS - 1; i < n; i++, j -= 2)
		if (j > 0)
			room->longs[i] += room->bytes[j];
	return n;
}

/* The value that the loop reads determines the place that it writes. */
static long scattered(struct room *room, int n)
{
	for (int i = 0; i < n; i++)
		room->longs[room->bytes[i] % ELEMENTS]++;
	return 0;
}

/* The loop continues where the last one stopped. */
static long handed_on(struct room *room, int n)
{
	long last = 0, best = 0;
	int i, j;

	for (i = 0; i < n / 2; i++) {
		last = room->longs[i];
		best = last > best ? last : best;
	}
	for (j = i; j < n; j++)
		room->longs[j] += last;
	return best + last + i + j;
}

const struct shape shapes[] = {
	{"up", up},
	{"down", down},
	{"by_three", by_three},
	{"pointers", pointers},
	{"sometimes", sometimes},
	{"search", search},
	{"stencil", stencil},
	{"unsigned_count", unsigned_count},
	{"reversed", reversed},
	{"scattered", scattered},
	{"handed_on", handed_on},
};
const unsigned shape_count = sizeof shapes / sizeof *shapes;
