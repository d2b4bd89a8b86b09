/* The report of an explanation, for runs of many steps. */
#include "commands/explain/explain_result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#define STEPS 1000000u
#define PAGE_BYTES 4096u

static uint32_t resident_pages(void *start, size_t bytes)
{
	static unsigned char residency[STEPS * sizeof(struct finding_step) / PAGE_BYTES + 1];
	uint32_t count = 0;

	assert_int_equal(mincore(start, bytes, residency), 0);
	for (size_t i = 0; i < (bytes + PAGE_BYTES - 1) / PAGE_BYTES; i++)
		count += residency[i] & 1;
	return count;
}

/* Memory that is not read stays absent: the search may look at a few steps of a million. */
static void test_explain_shown_step__reads_few_steps(void **state)
{
	const size_t bytes = STEPS * sizeof(struct finding_step);
	struct finding_step *steps = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct explain_shown shown = {.run = {.steps = steps, .step_count = STEPS}};
	struct pattern pattern = {.steps = {STEPS, STEPS + 1}};

	(void)state;
	assert_ptr_not_equal(steps, MAP_FAILED);
	(void)madvise(steps, bytes, MADV_NOHUGEPAGE); /* an old kernel may have no huge pages */
	steps[STEPS - 1].step = STEPS;
	assert_ptr_equal(explain_shown_step(&shown, &pattern, 0), &steps[STEPS - 1]);
	assert_null(explain_shown_step(&shown, &pattern, 1));
	assert_in_range(resident_pages(steps, bytes), 1, 64);
	(void)munmap(steps, bytes);
}

static void test_explain_shown_step__finds_every_step(void **state)
{
	struct finding_step steps[7] = {0};
	struct explain_shown shown = {.run = {.steps = steps, .step_count = 7}};

	(void)state;
	for (uint32_t i = 0; i < 7; i++)
		steps[i].step = 10 + 2 * i;
	for (uint32_t i = 0; i < 25; i++) {
		const struct pattern pattern = {.steps = {i}};
		const struct finding_step *wanted =
			i >= 10 && i <= 22 && i % 2 == 0 ? &steps[(i - 10) / 2] : NULL;

		assert_ptr_equal(explain_shown_step(&shown, &pattern, 0), wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain_shown_step__reads_few_steps),
		cmocka_unit_test(test_explain_shown_step__finds_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
