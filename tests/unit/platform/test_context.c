#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/platform.h"

typedef void context_switch(struct context *from, const struct context *to);

#define ROUNDS 5
#define STACK_BYTES ((size_t)64 * 1024)

static struct context main_context, other_context;
static context_switch *switch_to;
static unsigned rounds;
static uint32_t other_control;

static uint32_t sse_control(void)
{
	uint32_t control;

	__asm__ volatile("stmxcsr %0" : "=m"(control));
	return control;
}

static void set_sse_control(uint32_t control)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(control));
}

/* Sets another rounding mode, which must stay its own. */
static void other_entry(void *argument)
{
	assert_ptr_equal(argument, &rounds);
	set_sse_control(other_control);
	for (;;) {
		rounds++;
		assert_int_equal(sse_control(), other_control);
		switch_to(&other_context, &main_context);
	}
}

static void assert_switches(context_switch *function)
{
	char *stack = platform_map(STACK_BYTES, false);
	const uint32_t control = sse_control();

	assert_non_null(stack);
	switch_to = function;
	rounds = 0;
	other_control = control ^ 0x6000; /* the bits of rounding */
	main_context.thread_base = context_thread_base();
	context_make(
		&other_context, stack + STACK_BYTES, context_thread_base(), other_entry, &rounds);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		volatile uint64_t kept = i * UINT64_C(0x0101010101010101);

		switch_to(&main_context, &other_context);
		assert_int_equal(rounds, i);
		assert_int_equal(kept, i * UINT64_C(0x0101010101010101));
		assert_int_equal(sse_control(), control);
	}
	platform_unmap(stack, STACK_BYTES);
}

static void test_context_switch__keeps_stacks_and_control_words(void **state)
{
	(void)state;
	assert_switches(context_switch_plain);
	assert_switches(context_switch_prctl);
	if (context_has_fsgsbase())
		assert_switches(context_switch_fsgsbase);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_context_switch__keeps_stacks_and_control_words),
	};

	return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
