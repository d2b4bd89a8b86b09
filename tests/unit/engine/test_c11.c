/* C11: the outcomes of litmus tests over all schedules and all choices of stores are those that
 * the model allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/c11.h"
#include "support/simulation.h"

#define THREADS 4
#define REGISTERS 4
#define OUTCOMES 256

/* A thread is a text of operations of four characters: W (store), R (load), A (add) or F (fence),
 * the memory order r, a, l (release), b (both) or s, the variable, and the value. */
struct litmus {
	const char *threads[THREADS];
	int variables; /* number of final values in the outcome, behind the registers */
};

static struct {
	const struct litmus *litmus;
	uint64_t memory[3];
	int registers[THREADS][REGISTERS];
	int counts[THREADS];
	bool has_seen[OUTCOMES];
	struct delayed_stores delayed;
	bool was_delayed; /* a run had an old load or an inserted store */
} scene;

static uint8_t order_of(char letter)
{
	switch (letter) {
	case 'r':
		return ORDER_RELAXED;
	case 'a':
		return ORDER_ACQUIRE;
	case 'l':
		return ORDER_RELEASE;
	case 'b':
		return ORDER_ACQUIRE_RELEASE;
	default:
		return ORDER_SEQUENTIAL;
	}
}

static void execute(const char *at, int thread)
{
	const int variable = at[0] == 'F' ? 0 : at[2] - 'x';
	volatile uint64_t *memory = &scene.memory[variable];
	struct engine_op op = {.kind = at[0] == 'W'   ? OP_ATOMIC_STORE
				       : at[0] == 'R' ? OP_ATOMIC_LOAD
				       : at[0] == 'A' ? OP_ATOMIC_UPDATE
						      : OP_FENCE,
		.address = at[0] == 'F' ? NULL : (const void *)memory,
		.site = (uint64_t)(uintptr_t)at,
		.order = order_of(at[1]),
		.deadline_ns = ENGINE_FOREVER,
		.object = at[0] == 'F' ? C11_FENCES : (object_name)(100 + variable),
		.bytes = at[0] == 'F' ? 0 : sizeof *memory};
	uint64_t value;

	assert_int_equal(engine_perform(&op), WAIT_DONE);
	c11_access(&op, true);
	if (at[0] == 'F')
		return;
	value = *memory;
	if (at[0] != 'W')
		scene.registers[thread][scene.counts[thread]++] = (int)value;
	if (at[0] == 'W')
		*memory = (uint64_t)(at[3] - '0');
	else if (at[0] == 'A')
		*memory = value + (uint64_t)(at[3] - '0');
}

static void *run_thread(void *argument)
{
	const int thread = (int)(uintptr_t)argument;

	for (const char *at = scene.litmus->threads[thread]; *at; at += 4 + (at[4] == ' '))
		execute(at, thread);
	return NULL;
}

static void run_litmus(void *unused)
{
	struct engine_thread *threads[THREADS];
	int count = 0;

	(void)unused;
	for (; count < THREADS && scene.litmus->threads[count]; count++)
		threads[count] = simulation_create(run_thread, (void *)(uintptr_t)count);
	while (count--)
		simulation_join(threads[count]);
}

static void clear_memory(void *unused)
{
	(void)unused;
	memset(scene.memory, 0, sizeof scene.memory);
	memset(scene.counts, 0, sizeof scene.counts);
	scene.delayed.count = 0;
}

static void note_outcome(void *unused, const struct outcome *outcome)
{
	int code = 0;

	(void)unused;
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	for (int thread = 0; thread < THREADS; thread++)
		for (int i = 0; i < scene.counts[thread]; i++)
			code = code * 3 + scene.registers[thread][i];
	for (int i = 0; i < scene.litmus->variables; i++)
		code = code * 3 + (int)scene.memory[i];
	assert_in_range(code, 0, OUTCOMES - 1);
	scene.has_seen[code] = true;
	scene.was_delayed |= scene.delayed.count > 0;
}

/* `expected`: outcomes of `digits` digits, as words with a space between. */
static void assert_outcomes(
	const struct litmus *litmus, enum memory_model model, int digits, const char *expected)
{
	const struct simulation simulation = {.memory_model = model, .delayed = &scene.delayed};
	char seen[OUTCOMES * 5] = "";
	char *at = seen;

	memset(&scene, 0, sizeof scene);
	scene.litmus = litmus;
	assert_true(simulate_every_schedule(
			    &simulation, run_litmus, NULL, clear_memory, note_outcome) > 0);
	for (int code = 0; code < OUTCOMES; code++) {
		int power = 1;

		if (!scene.has_seen[code])
			continue;
		for (int i = 1; i < digits; i++)
			power *= 3;
		if (at != seen)
			*at++ = ' ';
		for (; power; power /= 3)
			*at++ = (char)('0' + code / power % 3);
	}
	*at = '\0';
	assert_string_equal(seen, expected);
}

static void test_c11__loads_may_read_old_stores(void **state)
{
	const struct litmus sb = {{"Wrx1 Rry0", "Wry1 Rrx0"}, 0};
	const struct litmus mp = {{"Wrx1 Wry1", "Rry0 Rrx0"}, 0};
	const struct litmus coherent = {{"Wrx1 Wrx2", "Rrx0 Rrx0"}, 0};

	(void)state;
	assert_outcomes(&sb, MEMORY_MODEL_SC, 2, "01 10 11");
	assert_false(scene.was_delayed);
	assert_outcomes(&sb, MEMORY_MODEL_C11, 2, "00 01 10 11");
	assert_true(scene.was_delayed);
	assert_outcomes(&mp, MEMORY_MODEL_C11, 2, "00 01 10 11");
	assert_outcomes(&coherent, MEMORY_MODEL_C11, 2, "00 01 02 11 12 22");
}

static void test_c11__release_and_acquire_order_what_they_join(void **state)
{
	const struct litmus released = {{"Wrx1 Wly1", "Ray0 Rrx0"}, 0};
	const struct litmus fenced = {{"Wrx1 Fl-- Wry1", "Rry0 Fa-- Rrx0"}, 0};
	const struct litmus sequence = {{"Wrx1 Wly1", "Ary1", "Ray0 Rrx0"}, 0};

	(void)state;
	assert_outcomes(&released, MEMORY_MODEL_C11, 2, "00 01 11");
	assert_outcomes(&fenced, MEMORY_MODEL_C11, 2, "00 01 11");
	/* the add returns 1: it continues the release sequence */
	assert_outcomes(&sequence, MEMORY_MODEL_C11, 3, "000 001 010 011 100 101 111 121");
}

static void test_c11__sequentially_consistent_operations_have_one_order(void **state)
{
	const struct litmus sb = {{"Wsx1 Rsy0", "Wsy1 Rsx0"}, 0};
	const struct litmus fenced = {{"Wrx1 Fs-- Rry0", "Wry1 Fs-- Rrx0"}, 0};
	const struct litmus mixed = {{"Wrx1 Fs-- Rry0", "Wsy1 Rsx0"}, 0};

	(void)state;
	assert_outcomes(&sb, MEMORY_MODEL_C11, 2, "01 10 11");
	assert_outcomes(&fenced, MEMORY_MODEL_C11, 2, "01 10 11");
	assert_outcomes(&mixed, MEMORY_MODEL_C11, 2, "01 10 11");
}

static void test_c11__modification_order_is_not_execution_order(void **state)
{
	const struct litmus relaxed = {{"Wrx1 Wry2", "Wry1 Wrx2"}, 2};
	const struct litmus sequential = {{"Wsx1 Wsy2", "Wsy1 Wsx2"}, 2};

	(void)state;
	assert_outcomes(&relaxed, MEMORY_MODEL_C11, 2, "11 12 21 22");
	assert_outcomes(&sequential, MEMORY_MODEL_C11, 2, "12 21 22");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_c11__loads_may_read_old_stores),
		cmocka_unit_test(test_c11__release_and_acquire_order_what_they_join),
		cmocka_unit_test(test_c11__sequentially_consistent_operations_have_one_order),
		cmocka_unit_test(test_c11__modification_order_is_not_execution_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
