#include "support/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"

uint64_t statistics_seed(uint64_t fixed)
{
	const char *fresh = getenv("RADDLE_TEST_SEED");

	return fresh ? hash_pair(strtoull(fresh, NULL, 10), fixed) : fixed;
}

static double binomial_log(uint64_t hits, uint64_t runs, double p)
{
	const double n = (double)runs;
	const double k = (double)hits;

	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p);
}

double binomial_at_most(uint64_t hits, uint64_t runs, double p)
{
	double sum = 0;

	if (p <= 0)
		return 1;
	if (p >= 1)
		return hits >= runs ? 1 : 0;
	for (uint64_t i = 0; i <= hits && i <= runs; i++)
		sum += exp(binomial_log(i, runs, p));
	return sum < 1 ? sum : 1;
}

double binomial_at_least(uint64_t hits, uint64_t runs, double p)
{
	/* The mirrored count keeps small tails exact, where 1 - binomial_at_most() would lose them. */
	return hits == 0 ? 1 : hits > runs ? 0 : binomial_at_most(runs - hits, runs, 1 - p);
}

/* The upper regularised incomplete gamma function, by its series or continued fraction. */
static double gamma_upper(double a, double x)
{
	const double scale = exp(-x + a * log(x) - lgamma(a));
	double sum = 1 / a;
	double term = sum;
	double b, c, d, h;

	if (x < a + 1) {
		for (double n = a + 1; term > sum * 1e-16; n++)
			sum += term *= x / n;
		return 1 - sum * scale;
	}
	b = x + 1 - a;
	c = 1e300;
	d = 1 / b;
	h = d;
	for (int i = 1; i < 10000; i++) {
		const double an = -i * (i - a);
		double delta;

		b += 2;
		d = 1 / (an * d + b);
		c = b + an / c;
		delta = d * c;
		h *= delta;
		if (fabs(delta - 1) < 1e-15)
			break;
	}
	return scale * h;
}

double chi_square_tail(double statistic, uint32_t degrees)
{
	return statistic <= 0 ? 1 : gamma_upper(degrees / 2.0, statistic / 2);
}

double chi_square_test(const uint64_t *counts, const double *shares, uint32_t cells)
{
	double total = 0;
	double statistic = 0;

	for (uint32_t i = 0; i < cells; i++)
		total += (double)counts[i];
	for (uint32_t i = 0; i < cells; i++) {
		const double expected = total * (shares ? shares[i] : 1.0 / cells);
		const double difference = (double)counts[i] - expected;

		statistic += difference * difference / expected;
	}
	return chi_square_tail(statistic, cells - 1);
}
