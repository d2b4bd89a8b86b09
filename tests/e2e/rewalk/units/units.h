/* Functions of other units than main's; what they return is new each time. */
#ifndef UNITS_H
#define UNITS_H

struct pair {
	long a, b;
};

typedef long (*step)(long);

#ifdef __cplusplus
extern "C" {
#endif

/* other.c */
long other_next(long n);
struct pair other_pair(long n);
double other_half(long n);
void other_count(long *at);
long other_through(step step, long n);
/* The result of the plain unit replaces its own. */
long other_tail(long n);

/* plain.c, which raddle-cc has not compiled */
long plain_next(long n);
long plain_through(step step, long n);
step plain_choice(long n);

/* library.c, a shared library */
long library_next(long n);
step library_choice(long n);

#ifdef __cplusplus
}
#endif

#endif
