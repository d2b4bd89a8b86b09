/* A simulated program (simulated_program.h) that a test puts together op by op, mostly by chance. */
#pragma once

#include <assert.h>

#include "support/simulated_program.h"

#define RANDOM_THREADS_MOST 5
#define RANDOM_OPS_MOST 12

struct random_program {
	struct simulated_op ops[RANDOM_THREADS_MOST][RANDOM_OPS_MOST];
	struct simulated_code codes[RANDOM_THREADS_MOST];
	struct simulated_program program;
};

/* Starts the program with this many threads without ops. */
static inline void random_program_begin(struct random_program *program, uint32_t threads)
{
	assert(threads <= RANDOM_THREADS_MOST);
	*program = (struct random_program){0};
	for (uint32_t thread = 0; thread < threads; thread++)
		program->codes[thread] =
			(struct simulated_code){.ops = program->ops[thread], .repeat = 1};
	program->program = (struct simulated_program){
		.codes = program->codes, .code_count = threads, .initial_count = threads};
}

static inline void add_op(struct random_program *program, uint32_t thread, struct simulated_op op)
{
	struct simulated_code *code = &program->codes[thread];

	assert(code->op_count < RANDOM_OPS_MOST);
	program->ops[thread][code->op_count++] = op;
}
