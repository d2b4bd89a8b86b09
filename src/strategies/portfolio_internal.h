/* The parts of the portfolio: portfolio_plan.c says which arm makes a run, portfolio.c makes it. */
#pragma once

#include "base/rng.h"
#include "strategies/strategy.h"

struct portfolio_arm {
	const struct strategy *strategy;
	const char *text;
	int64_t option; /* value of the first option, if not the default */
	int64_t second; /* value of the second option, if not the default */
};

enum portfolio_arm_number {
	ARM_SURW, /* the first arms learn from the early runs of all */
	ARM_RFF,
	ARM_UNIFORM,
	ARM_POS,
	ARM_RANDOM, /* needs no lessons */
	ARM_RPRO,
	ARM_PCT_2, /* cheap and frequent */
	ARM_PCT_3,
	ARM_PCT_5,   /* reaches bugs that depth 3 cannot */
	ARM_IN_STEP, /* the first of the arms that always make the same run */
	ARM_NEWEST,
	ARM_UNPREEMPTED,
	ARM_SEARCH,
	ARM_COUNT
};

#define LEARNERS 3u

extern const struct portfolio_arm portfolio_arms[ARM_COUNT];

#define START ARM_COUNT /* number of the block with the search's state before this round */
/* One planned run in this many is made with depth 3. */
#define PORTFOLIO_GUARANTEE_PERIOD 64

/* A search, whose runs must be made in order. */
struct portfolio_search {
	uint64_t planned; /* number of its runs in earlier rounds */
	uint64_t made;	  /* number of runs that this state contains */
	uint32_t runs;	  /* number of its runs in this round, which come first */
	bool has_start;	  /* the block START is filled */
	bool is_possible;
	bool is_broken;	  /* some of its runs were made in another state */
	bool is_complete; /* all orders are executed */
	/* no further runs follow: the search is complete, or cannot become complete */
	bool is_over;
	bool has_changed;  /* the state has changed in the last round */
	bool is_repeated;  /* an earlier search, which saw less of the memory, has ended */
	bool is_observing; /* the run of this round shows which objects threads race for */
	/* the program waits for a child process, whose threads the search does not schedule */
	bool has_children;
};

struct portfolio_turn {
	uint16_t arm;
	uint16_t position; /* among the runs of its arm in this round */
};

struct portfolio {
	struct rng values;   /* random values for arms without choose_value() */
	uint64_t runs;	     /* number of planned runs in earlier rounds */
	uint64_t order_bits; /* size of the program, learnt */
	uint32_t position;   /* position of the run in its round */
	uint32_t arm;	     /* arm of the current or last run */
	bool has_drains;     /* the memory model has store buffers */
	bool is_running;     /* between begin_run and end_run */
	bool is_even;	     /* option `even`: the arms rotate from the first run on */
	/* every run of this round teaches all leaders, under the position of the run in the round */
	bool is_observed;
	uint32_t observers; /* bits of the arms that learn from the current run of another arm */
	struct portfolio_search search;
	/* offset of the arm's state, and of START, from the start of this block */
	uint64_t arm_offset[ARM_COUNT + 1];
	struct portfolio_turn plan[STRATEGY_ROUND_MOST]; /* turns by position */
};

static inline void *portfolio_arm_state(struct portfolio *portfolio, uint32_t arm)
{
	return (char *)portfolio + portfolio->arm_offset[arm];
}

static inline const void *portfolio_arm_state_of(const struct portfolio *portfolio, uint32_t arm)
{
	return (const char *)portfolio + portfolio->arm_offset[arm];
}

/* Plans the next round of at most `positions` runs; planned[arm]: the number of each arm's runs. */
void portfolio_plan(struct portfolio *portfolio, uint32_t positions, uint32_t *planned);
