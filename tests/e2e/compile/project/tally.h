/* A shared library in C++. */
#ifndef TALLY_H
#define TALLY_H
#ifdef __cplusplus
extern "C" {
#endif
void tally_count(const char *name);
long tally_of(const char *name);
#ifdef __cplusplus
}
#endif
#endif
