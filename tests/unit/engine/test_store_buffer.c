/* Store buffers: the outcomes of litmus tests over all schedules are those that x86-TSO allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/store_buffer.h"
#include "support/simulation.h"

enum action { END, STORE, LOAD, FENCE, EXCHANGE, WIDE };

struct instruction {
	enum action action;
	int variable; /* of x, y, z */
	int value;    /* stored value, or the number of the register */
};

#define THREADS 4
#define INSTRUCTIONS 5
#define REGISTERS 4
#define OUTCOMES 256

/* Each digit of an outcome is the last value of a register, or of a variable. */
struct litmus {
	struct instruction threads[THREADS][INSTRUCTIONS];
	int registers; /* number of registers in the outcome */
	int variables; /* number of final values in the outcome, behind the registers */
};

static struct {
	const struct litmus *litmus;
	uint64_t memory[3];
	int registers[REGISTERS];
	bool has_seen[OUTCOMES];
	struct delayed_stores delayed;
} scene;

static struct engine_op access_of(enum op_kind kind, int variable, uint64_t site)
{
	return (struct engine_op){.kind = (uint8_t)kind,
		.address = &scene.memory[variable],
		.site = site,
		.deadline_ns = ENGINE_FOREVER,
		.object = (object_name)(100 + variable),
		.bytes = sizeof scene.memory[0]};
}

static void perform_direct(struct engine_op *op)
{
	assert_int_equal(engine_perform(op), WAIT_DONE);
	engine_note_direct_access(op);
}

static void execute(const struct instruction *at, uint64_t site)
{
	volatile uint64_t *variable = &scene.memory[at->variable];
	struct engine_op op = access_of(OP_STORE, at->variable, site);

	switch (at->action) {
	case STORE:
		if (!engine_has_store_buffers() || !engine_buffer_store(&op, true))
			perform_direct(&op);
		*variable = (uint64_t)at->value;
		break;
	case WIDE:
		op.bytes = 64;
		assert_false(engine_has_store_buffers() && engine_buffer_store(&op, true));
		op.bytes = sizeof *variable;
		perform_direct(&op);
		*variable = (uint64_t)at->value;
		break;
	case LOAD:
		op = access_of(OP_LOAD, at->variable, site);
		perform_direct(&op);
		scene.registers[at->value] = (int)*variable;
		break;
	case EXCHANGE:
		op = access_of(OP_ATOMIC_UPDATE, at->variable, site);
		perform_direct(&op);
		*variable = (uint64_t)at->value;
		break;
	default:
		op = (struct engine_op){.kind = OP_FENCE,
			.order = ORDER_SEQUENTIAL,
			.site = site,
			.deadline_ns = ENGINE_FOREVER};
		assert_int_equal(engine_perform(&op), WAIT_DONE);
	}
}

static void *run_thread(void *argument)
{
	const struct instruction *at = argument;

	for (int i = 0; i < INSTRUCTIONS && at[i].action != END; i++)
		execute(&at[i], (uint64_t)(uintptr_t)&at[i]);
	return NULL;
}

static void run_litmus(void *unused)
{
	struct engine_thread *threads[THREADS];
	int count = 0;

	(void)unused;
	for (; count < THREADS && scene.litmus->threads[count][0].action != END; count++)
		threads[count] = simulation_create(
			run_thread, (void *)(uintptr_t)scene.litmus->threads[count]);
	while (count--)
		simulation_join(threads[count]);
}

static void clear_memory(void *unused)
{
	(void)unused;
	memset(scene.memory, 0, sizeof scene.memory);
	memset(scene.registers, 0, sizeof scene.registers);
	scene.delayed.count = 0;
}

static void note_outcome(void *unused, const struct outcome *outcome)
{
	int code = 0;

	(void)unused;
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	for (int i = 0; i < scene.litmus->registers; i++)
		code = code * 3 + scene.registers[i];
	for (int i = 0; i < scene.litmus->variables; i++)
		code = code * 3 + (int)scene.memory[i];
	assert_in_range(code, 0, OUTCOMES - 1);
	scene.has_seen[code] = true;
}

static void simulate_all(const struct litmus *litmus, enum memory_model model)
{
	const struct simulation simulation = {.memory_model = model, .delayed = &scene.delayed};

	memset(&scene, 0, sizeof scene);
	scene.litmus = litmus;
	assert_true(simulate_every_schedule(
			    &simulation, run_litmus, NULL, clear_memory, note_outcome) > 0);
}

/* The outcomes seen, as words of digits with a space between: "00 01 11". */
static void assert_outcomes(
	const struct litmus *litmus, enum memory_model model, const char *expected)
{
	const int digits = litmus->registers + litmus->variables;
	char seen[OUTCOMES * 4] = "";
	char *at = seen;

	simulate_all(litmus, model);
	for (int code = 0; code < OUTCOMES; code++) {
		int power = 1;

		if (!scene.has_seen[code])
			continue;
		if (at != seen)
			*at++ = ' ';
		for (int i = 1; i < digits; i++)
			power *= 3;
		for (; power; power /= 3)
			*at++ = (char)('0' + code / power % 3);
	}
	assert_string_equal(seen, expected);
}

#define X 0
#define Y 1
#define Z 2

static void sb__shows_both_old_values_under_tso_only(void **unused)
{
	static const struct litmus litmus = {
		{{{STORE, X, 1}, {LOAD, Y, 0}}, {{STORE, Y, 1}, {LOAD, X, 1}}}, 2, 0};
	static const struct litmus fenced = {{{{STORE, X, 1}, {FENCE, 0, 0}, {LOAD, Y, 0}},
						     {{STORE, Y, 1}, {FENCE, 0, 0}, {LOAD, X, 1}}},
		2, 0};
	static const struct litmus half_fenced = {
		{{{STORE, X, 1}, {FENCE, 0, 0}, {LOAD, Y, 0}}, {{STORE, Y, 1}, {LOAD, X, 1}}}, 2,
		0};
	static const struct litmus locked = {
		{{{EXCHANGE, X, 1}, {LOAD, Y, 0}}, {{EXCHANGE, Y, 1}, {LOAD, X, 1}}}, 2, 0};
	static const struct litmus wide = {
		{{{WIDE, X, 1}, {LOAD, Y, 0}}, {{WIDE, Y, 1}, {LOAD, X, 1}}}, 2, 0};

	(void)unused;
	assert_outcomes(&litmus, MEMORY_MODEL_SC, "01 10 11");
	assert_outcomes(&litmus, MEMORY_MODEL_TSO, "00 01 10 11");
	assert_outcomes(&fenced, MEMORY_MODEL_TSO, "01 10 11");
	assert_outcomes(&half_fenced, MEMORY_MODEL_TSO, "00 01 10 11");
	assert_outcomes(&locked, MEMORY_MODEL_TSO, "01 10 11");
	assert_outcomes(&wide, MEMORY_MODEL_TSO, "01 10 11");
}

static void mp_and_lb__are_sequentially_consistent(void **unused)
{
	static const struct litmus mp = {
		{{{STORE, X, 1}, {STORE, Y, 1}}, {{LOAD, Y, 0}, {LOAD, X, 1}}}, 2, 0};
	static const struct litmus lb = {
		{{{LOAD, X, 0}, {STORE, Y, 1}}, {{LOAD, Y, 1}, {STORE, X, 1}}}, 2, 0};

	(void)unused;
	assert_outcomes(&mp, MEMORY_MODEL_TSO, "00 01 11");
	assert_outcomes(&lb, MEMORY_MODEL_TSO, "00 01 10");
}

static void a_thread__reads_its_own_buffered_store(void **unused)
{
	static const struct litmus forwarded = {
		{{{STORE, X, 1}, {LOAD, X, 0}, {LOAD, Y, 1}},
			{{STORE, Y, 1}, {LOAD, Y, 2}, {LOAD, X, 3}}},
		4, 0};
	static const struct litmus coherent = {
		{{{STORE, X, 1}, {STORE, X, 2}}, {{LOAD, X, 0}, {LOAD, X, 1}}}, 2, 0};

	(void)unused;
	assert_outcomes(&forwarded, MEMORY_MODEL_TSO, "1010 1011 1110 1111");
	assert_outcomes(&coherent, MEMORY_MODEL_TSO, "00 01 02 11 12 22");
}

static void s_r_and_2_2w__have_the_outcomes_of_tso(void **unused)
{
	static const struct litmus s = {
		{{{STORE, X, 2}, {STORE, Y, 1}}, {{LOAD, Y, 0}, {STORE, X, 1}}}, 1, 1};
	static const struct litmus r = {
		{{{STORE, X, 1}, {STORE, Y, 1}}, {{STORE, Y, 2}, {LOAD, X, 0}}}, 1, 2};
	static const struct litmus r_fenced = {
		{{{STORE, X, 1}, {STORE, Y, 1}}, {{STORE, Y, 2}, {FENCE, 0, 0}, {LOAD, X, 0}}}, 1,
		2};
	static const struct litmus two = {
		{{{STORE, X, 1}, {STORE, Y, 2}}, {{STORE, Y, 1}, {STORE, X, 2}}}, 0, 2};

	(void)unused;
	assert_outcomes(&s, MEMORY_MODEL_TSO, "01 02 11");
	assert_outcomes(&r, MEMORY_MODEL_SC, "011 111 112");
	assert_outcomes(&r, MEMORY_MODEL_TSO, "011 012 111 112");
	assert_outcomes(&r_fenced, MEMORY_MODEL_TSO, "011 111 112");
	assert_outcomes(&two, MEMORY_MODEL_TSO, "12 21 22");
}

static void stores__become_visible_to_all_threads_at_once(void **unused)
{
	static const struct litmus wrc = {
		{{{STORE, X, 1}}, {{LOAD, X, 0}, {STORE, Y, 1}}, {{LOAD, Y, 1}, {LOAD, X, 2}}}, 3,
		0};

	(void)unused;
	assert_outcomes(&wrc, MEMORY_MODEL_TSO, "000 001 010 011 100 101 111");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sb__shows_both_old_values_under_tso_only),
		cmocka_unit_test(mp_and_lb__are_sequentially_consistent),
		cmocka_unit_test(a_thread__reads_its_own_buffered_store),
		cmocka_unit_test(s_r_and_2_2w__have_the_outcomes_of_tso),
		cmocka_unit_test(stores__become_visible_to_all_threads_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
