#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbols/symbols.h"

static void assert_name(const char *raw, const char *wanted)
{
	char *name = symbols_readable_name(raw);

	assert_string_equal(name, wanted);
	free(name);
}

static void names__lose_parameters_and_suffixes(void **state)
{
	(void)state;
	assert_name("main", "main");
	assert_name("work.part.0", "work");
	assert_name("read@@GLIBC_2.2.5", "read");
	assert_name("__GI_abort", "abort");
	assert_name("_ZNK7account3getEi", "account::get");
	assert_name("m", "m");
	assert_name("_Z", "_Z");
}

/* A variable that the optimiser has divided, and an encoding of a newer compiler. */
static void names__that_the_demangler_does_not_know_keep_their_components(void **state)
{
	(void)state;
	assert_name("_ZL8instance.body", "instance");
	assert_name("_ZNSt13stop_callbackIZN7Mailbox3runESt10stop_tokenEUlvE_EC2IS2_"
		    "TnNSt9enable_ifIX18is_constructible_vIS2_T_EEiE4typeELi0EEERKS1_OS6_",
		"std::stop_callback<...>");
	assert_name("_ZN4pool4taskXX", "pool::task");
	assert_name("_Z99name", "_Z99name");
}

static void names__lose_tags_of_the_library(void **state)
{
	(void)state;
	assert_name("_Z4nameB5cxx11", "name");
}

static void names__that_are_long_lose_the_arguments_of_templates(void **state)
{
	(void)state;
	assert_name("_ZN3mapIiiE4findEi", "map<int, int>::find");
	assert_name(
		"_ZNSt8_Rb_treeIiSt4pairIKiiESt10_Select1stIS2_ESt4lessIiESaIS2_EE14_M_lower_boundE"
		"PSt13_Rb_tree_nodeIS2_EPSt18_Rb_tree_node_baseRS1_",
		"std::_Rb_tree<...>::_M_lower_bound");
}

static void names__lose_the_scopes_of_lambdas(void **state)
{
	(void)state;
	assert_name("_ZZZ4mainENK3$_0clEvE5count", "lambda::count");
	assert_name("_ZSt11make_uniqueI3boxIZZ4mainENK3$_0clEvEUlvE_EE",
		"std::make_unique<box<lambda> >");
}

static void names__of_operators_are_whole(void **state)
{
	(void)state;
	assert_name("_ZN9quadrupleImS_IiiiiES_IllllEhElsEi", "quadruple<...>::operator<<");
	assert_name("_ZN9quadrupleImS_IiiiiES_IllllEhEptEv", "quadruple<...>::operator->");
}

static void templates__are_named_without_their_return_type(void **state)
{
	(void)state;
	assert_name(
		"_ZSt4swapIiENSt9enable_ifIXsr6__and_IEE5valueEvE4typeERT_S4_", "std::swap<int>");
	assert_name("_Z5applyIPFivEEDTclfp_EET_", "apply<int (*)()>");
	assert_name("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
		"std::operator<< <std::char_traits<char> >");
	assert_name("_ZN3boxcvbEv", "box::operator bool");
	assert_name("_ZN12_GLOBAL__N_13runIiEEiT_", "(anonymous namespace)::run<int>");
}

static void types__are_named_after_their_descriptions(void **state)
{
	char *name = symbols_readable_type("_ZTSNSt8__detail15_Hash_node_baseE");

	(void)state;
	assert_string_equal(name, "std::__detail::_Hash_node_base");
	free(name);
	name = symbols_readable_type("_ZTS3boxIFvvEE");
	assert_string_equal(name, "box<void ()>");
	free(name);
	name = symbols_readable_type("account");
	assert_string_equal(name, "account");
	free(name);
}

static void paths__lose_what_leads_back(void **state)
{
	char path[] = "/usr/lib/gcc/12/../../../include/./bits//tree.h", up[] = "/../a";

	(void)state;
	symbols_simplify_path(path);
	assert_string_equal(path, "/usr/include/bits/tree.h");
	symbols_simplify_path(up);
	assert_string_equal(up, "/a");
}

static void test_short_name__of_a_type_loses_arguments_where_it_is_long(void **state)
{
	char *name = symbols_short_name(
		"std::_Sp_counted_ptr_inplace<std::__future_base::_Async_state_impl<"
		"std::thread::_Invoker<std::tuple<int (*)(int), int> >, int>, 2>");

	(void)state;
	assert_string_equal(name, "std::_Sp_counted_ptr_inplace<...>");
	free(name);
	name = symbols_short_name("struct box<int>");
	assert_string_equal(name, "struct box<int>");
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names__lose_parameters_and_suffixes),
		cmocka_unit_test(names__lose_tags_of_the_library),
		cmocka_unit_test(names__that_the_demangler_does_not_know_keep_their_components),
		cmocka_unit_test(names__that_are_long_lose_the_arguments_of_templates),
		cmocka_unit_test(names__lose_the_scopes_of_lambdas),
		cmocka_unit_test(names__of_operators_are_whole),
		cmocka_unit_test(templates__are_named_without_their_return_type),
		cmocka_unit_test(types__are_named_after_their_descriptions),
		cmocka_unit_test(paths__lose_what_leads_back),
		cmocka_unit_test(test_short_name__of_a_type_loses_arguments_where_it_is_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
