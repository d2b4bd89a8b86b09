/*
 * State of strategy `estimate`: the number of orders that dpor would execute, from random descents.
 *
 * The weight of a leaf is the inverse of the probability of its path, and a redundant path has the
 * weight 0. The mean weight is therefore an unbiased estimate of the number of traces, whatever the
 * probabilities are.
 */
#pragma once

#include "strategies/dpor/descent.h"

#define ESTIMATE_SIZES 16384	 /* capacity of the table of subtrees; a power of two */
#define ESTIMATE_BRANCHINGS 1024 /* of one descent; later ones are not learned */
#define ESTIMATE_TAIL 64u	 /* number of largest contributions that are kept */

/* Mean size of the subtrees behind a branch (estimate_sizes.c). */
struct estimate_size {
	uint64_t key; /* 0: free */
	double count, mean;
};

/* A branch that this descent has taken. */
struct estimate_branching {
	uint64_t key;
	double weight; /* of the path that ends with the branch */
};

struct estimate {
	struct descent tree;
	double weight; /* of the current path */
	bool is_lost;  /* too many threads, or the weight is too large: no estimate */
	/* Weights of the descents since the last one with new accesses. */
	uint64_t count;
	uint64_t redundant; /* those among them that are redundant */
	/* Descent number i counts i times: later ones have better probabilities. Sums of the factors
	 * i and i^2, and of i^2 times the weight and its square. */
	double mean, factors, factors_squared, weights, squares;
	double largest; /* i times the weight above the mean of the descents before */
	/* The largest of i times the weight, in descending order. */
	double tail[ESTIMATE_TAIL + 1];

	uint32_t size_count;
	struct estimate_size sizes[ESTIMATE_SIZES];
	uint32_t branching_count;
	struct estimate_branching branchings[ESTIMATE_BRANCHINGS];
};

/* Identifies a branching, while the threads that slept before still do. */
uint64_t estimate_branching_key(const struct estimate *estimate, uint64_t branches);
/* Corrects the shares of the branches by the sizes that earlier descents have shown. */
void estimate_correct_shares(
	struct estimate *estimate, uint64_t key, uint64_t branches, double *share);
void estimate_note_branch(struct estimate *estimate, uint64_t key, uint32_t slot);
/* Learns from the descent, whose leaf has the weight. */
void estimate_learn_sizes(struct estimate *estimate, double weight);
