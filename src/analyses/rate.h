/* Failure rates estimated from a number of runs. */
#pragma once

#include <stdint.h>

struct rate {
	uint32_t runs, failed;
};

/* Computes Wilson's 95 % confidence interval, which is valid for few runs and for rates of 0 and
 * 1. */
void rate_interval(const struct rate *rate, double *low, double *high);
