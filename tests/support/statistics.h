/*
 * The arithmetic of statistical tests: how likely an observation is when the claim under test is
 * true. A test fails when that is below STATISTICS_ALPHA, so this is its chance to fail wrongly
 * for an arbitrary seed. Seeds are fixed, so a test that passed once passes always.
 */
#pragma once

#include <stdint.h>

#define STATISTICS_ALPHA 1e-6

/*
 * A seed for a statistical test: `fixed`, unless RADDLE_TEST_SEED is set to a number. Then it is a
 * fresh one made of both, and the test may fail wrongly with its computed chance.
 */
uint64_t statistics_seed(uint64_t fixed);

/* P[X <= hits] for X binomial(runs, p). */
double binomial_at_most(uint64_t hits, uint64_t runs, double p);

/* P[X >= hits] for X binomial(runs, p). */
double binomial_at_least(uint64_t hits, uint64_t runs, double p);

/* P[X >= statistic] for X chi-square distributed with so many degrees of freedom. */
double chi_square_tail(double statistic, uint32_t degrees);

/* The same tail for counts of cells that are expected to have these shares; NULL: equal shares. */
double chi_square_test(const uint64_t *counts, const double *shares, uint32_t cells);
