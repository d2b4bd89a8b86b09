/* Results of one process hold for the next one with the same modules, and for no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/life/known_modules.c"

struct runtime runtime;
static struct contract contract;

/* What a new process of the campaign begins with. */
static void begin_process(void)
{
	modules.hash = 0;
	modules.is_complete = true;
	runtime.contract = &contract;
}

static void test_known_modules__keeps_facts_for_equal_modules(void **state)
{
	struct contract_modules *known;

	(void)state;
	begin_process();
	known = known_modules();
	assert_non_null(known);
	assert_false(known_modules_have(known, FACT_UNWINDER));
	known->facts |= FACT_UNWINDER;
	begin_process();
	assert_true(known_modules_have(known_modules(), FACT_UNWINDER));
	assert_false(known_modules_have(known_modules(), FACT_LIBRARY));
}

static void test_known_modules__drops_facts_of_other_modules(void **state)
{
	(void)state;
	begin_process();
	known_modules()->facts = FACT_UNWINDER;
	contract.modules.key++;
	begin_process();
	assert_false(known_modules_have(known_modules(), FACT_UNWINDER));
}

static void test_known_modules__needs_a_contract_and_build_ids(void **state)
{
	(void)state;
	begin_process();
	modules.is_complete = false;
	assert_null(known_modules());
	begin_process();
	runtime.contract = NULL;
	assert_null(known_modules());
	assert_false(known_modules_have(NULL, FACT_UNWINDER));
}

static void test_add_build_id__finds_it_among_other_notes(void **state)
{
	static const struct {
		ElfW(Nhdr) other;
		char other_name[4], other_text[4];
		ElfW(Nhdr) id;
		char id_name[4], id_text[8];
	} notes = {.other = {4, 3, 1},
		.other_name = "GNU",
		.id = {4, 8, NT_GNU_BUILD_ID},
		.id_name = "GNU",
		.id_text = "1234567"};

	(void)state;
	assert_true(known_modules_add_build_id((const char *)&notes, sizeof notes));
	assert_false(
		known_modules_add_build_id((const char *)&notes, offsetof(__typeof__(notes), id)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_modules__keeps_facts_for_equal_modules),
		cmocka_unit_test(test_known_modules__drops_facts_of_other_modules),
		cmocka_unit_test(test_known_modules__needs_a_contract_and_build_ids),
		cmocka_unit_test(test_add_build_id__finds_it_among_other_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
