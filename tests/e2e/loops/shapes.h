#ifndef SHAPES_H
#define SHAPES_H

#define ELEMENTS 128
#define ROWS 6
#define COLUMNS 64

struct room {
	long longs[ELEMENTS + 1];
	unsigned char bytes[ELEMENTS];
	short shorts[ELEMENTS];
	struct {
		int x, y;
	} parts[ELEMENTS];
	double grid[ROWS][COLUMNS];
};

struct shape {
	const char *name;
	long (*run)(struct room *room, int n);
};

extern const struct shape shapes[];
extern const unsigned shape_count;

#endif
