#include "analyses/rate.h"

#include <math.h>

/* The normal distribution has 95 % of its weight within this many standard deviations. */
#define DEVIATIONS 1.959963984540054

static double rate_value(const struct rate *rate)
{
	return rate->runs ? (double)rate->failed / rate->runs : 0;
}

void rate_interval(const struct rate *rate, double *low, double *high)
{
	const double n = rate->runs, p = rate_value(rate), z2 = DEVIATIONS * DEVIATIONS;
	double centre, reach;

	*low = 0;
	*high = 1;
	if (!rate->runs)
		return;
	centre = (p + z2 / (2 * n)) / (1 + z2 / n);
	reach = DEVIATIONS * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	if (rate->failed > 0)
		*low = centre - reach;
	if (rate->failed < rate->runs)
		*high = centre + reach;
}
