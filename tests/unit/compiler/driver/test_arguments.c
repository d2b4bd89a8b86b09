#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler/driver/arguments.h"
#include "compiler/driver/compile.h"

static struct arguments_kind classify(char *const *argv)
{
	return arguments_classify(argv);
}

#define CLASSIFY(...) classify((char *const[]){__VA_ARGS__, NULL})

static void test_arguments_classify__separates_compiling_from_linking(void **state)
{
	struct arguments_kind kind = CLASSIFY("-O2", "a.c", "-o", "a");

	(void)state;
	assert_true(kind.compiles && kind.links && kind.has_inputs);
	kind = CLASSIFY("-c", "a.cc");
	assert_true(kind.compiles && !kind.links);
	kind = CLASSIFY("a.o", "libb.a", "-lc");
	assert_true(!kind.compiles && kind.links && kind.has_inputs);
	kind = CLASSIFY("-c", "a.s", "b.S");
	assert_false(kind.compiles);
	kind = CLASSIFY("--version");
	assert_false(kind.compiles || kind.has_inputs);
	assert_false(CLASSIFY("-MM", "a.c").links);
	assert_false(CLASSIFY("-E", "-").links);
}

static void test_arguments_classify__takes_values_of_options_for_no_inputs(void **state)
{
	(void)state;
	assert_false(CLASSIFY("-o", "a.c", "b.o").compiles);
	assert_false(CLASSIFY("-MF", "a.c", "-MT", "b.c").has_inputs);
	assert_false(CLASSIFY("-Xlinker", "a.c", "-include", "b.c").has_inputs);
}

static void test_arguments_classify__compiles_what_it_cannot_know(void **state)
{
	(void)state;
	assert_true(CLASSIFY("@response").compiles);
	assert_true(CLASSIFY("-x", "c", "weird").compiles);
	assert_true(CLASSIFY("-xc++", "-").compiles);
}

static void test_arguments_classify__sees_levels_of_debug_information(void **state)
{
	(void)state;
	assert_true(CLASSIFY("-g").names_debug);
	assert_true(CLASSIFY("-g0").names_debug);
	assert_true(CLASSIFY("-ggdb3").names_debug);
	assert_true(CLASSIFY("-gdwarf-4").names_debug);
	assert_true(CLASSIFY("-gline-tables-only").names_debug);
	assert_false(CLASSIFY("-gsplit-dwarf").names_debug);
	assert_false(CLASSIFY("-gz", "-O2").names_debug);
}

static void test_arguments_classify__sees_sections_dropped_by_gnu_ld(void **state)
{
	(void)state;
	assert_true(CLASSIFY("-Wl,--gc-sections", "a.o").gcs_sections);
	assert_true(CLASSIFY("-Wl,-z,now,--gc-sections", "-fuse-ld=bfd", "a.o").gcs_sections);
	assert_true(CLASSIFY("-Xlinker", "--gc-sections", "a.o").gcs_sections);
	assert_false(CLASSIFY("a.o").gcs_sections);
	assert_false(CLASSIFY("-Wl,--gc-sections", "-Wl,--no-gc-sections").gcs_sections);
	assert_false(CLASSIFY("-fuse-ld=lld", "-Wl,--gc-sections", "a.o").gcs_sections);
	assert_false(CLASSIFY("-Wl,--gc-sections", "-T", "own.ld", "a.o").gcs_sections);
	assert_false(CLASSIFY("-Wl,--gc-sections,-T,own.ld", "a.o").gcs_sections);
	assert_false(CLASSIFY("-r", "-Wl,--gc-sections", "a.o").gcs_sections);
}

static void test_compile_take_options__leaves_the_compilers(void **state)
{
	char *const argv[] = {
		"-O2", "-Xlinker", "--warn-opaque", "--native", "a.c", "--warn-opaque", NULL};
	struct compile_options options = {0};
	char **left;

	(void)state;
	compile_take_options(argv, &options, &left);
	assert_true(options.warns_opaque);
	assert_true(options.has_native);
	assert_string_equal(left[0], "-O2");
	assert_string_equal(left[1], "-Xlinker");
	assert_string_equal(left[2], "--warn-opaque");
	assert_string_equal(left[3], "a.c");
	assert_null(left[4]);
	free(left);
}

static void test_compile_drop_lto__leaves_values_of_options_and_what_needs_it(void **state)
{
	char *argv[] = {"-O2", "-flto=thin", "-Xlinker", "-flto", "-flto-jobs=2", "a.c", "-fno-lto",
		"-funified-lto", "-Xlinker", NULL};
	char *needing[] = {"-flto", "-fsanitize=undefined,cfi", "a.c", NULL};

	(void)state;
	assert_true(compile_drop_lto(argv));
	assert_string_equal(argv[0], "-O2");
	assert_string_equal(argv[1], "-Xlinker");
	assert_string_equal(argv[2], "-flto");
	assert_string_equal(argv[3], "a.c");
	assert_string_equal(argv[4], "-fno-lto");
	assert_string_equal(argv[5], "-Xlinker");
	assert_null(argv[6]);
	assert_false(compile_drop_lto(argv));
	assert_false(compile_drop_lto(needing));
	assert_string_equal(needing[0], "-flto");
}

static void test_compile_open_files__opens_those_that_ask_for_lto(void **state)
{
	char *argv[] = {"-O2", "@with.rsp", "@without.rsp", "@missing.rsp", NULL};
	char *plain[] = {"@without.rsp", "a.c", NULL};
	static const char *const wanted[] = {
		"-O2", "-DNAME=a b", "-flto=thin", "it's", "@without.rsp", "@missing.rsp", NULL};
	char folder[] = "/tmp/raddle-arguments-XXXXXX";
	struct arguments opened;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	file = fopen("with.rsp", "w");
	assert_non_null(file);
	assert_true(fputs("\"-DNAME=a b\"\n  @inner.rsp", file) >= 0);
	assert_int_equal(fclose(file), 0);
	file = fopen("inner.rsp", "w");
	assert_non_null(file);
	assert_true(fputs("-flto=thin it\\'s\n", file) >= 0);
	assert_int_equal(fclose(file), 0);
	file = fopen("without.rsp", "w");
	assert_non_null(file);
	assert_true(fputs("-DNAME=-flto -O1", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_true(compile_open_files(argv, &opened));
	for (size_t i = 0; wanted[i]; i++)
		assert_string_equal(opened.items[i], wanted[i]);
	assert_int_equal(opened.count, sizeof wanted / sizeof *wanted - 1);
	arguments_release(&opened);
	assert_false(compile_open_files(plain, &opened));
	assert_int_equal(unlink("with.rsp") + unlink("inner.rsp") + unlink("without.rsp"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_classify__separates_compiling_from_linking),
		cmocka_unit_test(test_arguments_classify__takes_values_of_options_for_no_inputs),
		cmocka_unit_test(test_arguments_classify__compiles_what_it_cannot_know),
		cmocka_unit_test(test_arguments_classify__sees_levels_of_debug_information),
		cmocka_unit_test(test_arguments_classify__sees_sections_dropped_by_gnu_ld),
		cmocka_unit_test(test_compile_open_files__opens_those_that_ask_for_lto),
		cmocka_unit_test(test_compile_drop_lto__leaves_values_of_options_and_what_needs_it),
		cmocka_unit_test(test_compile_take_options__leaves_the_compilers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
