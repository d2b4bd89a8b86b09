#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "process/target.h"
#include "abi/instrument_abi.h"

/* A little executable: headers, a loader's name, a dynamic section and its strings. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[3];
	char loader[32];
	Elf64_Dyn dynamic[3];
	char strings[64];
};

static struct image make_image(void)
{
	struct image image = {
		.loader = "/lib64/ld-linux-x86-64.so.2",
		.strings = "\0libasan.so.8\0libgomp.so.1",
	};

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_type = ET_DYN;
	image.header.e_machine = EM_X86_64;
	image.header.e_entry = 0x100;
	image.header.e_phoff = offsetof(struct image, segments);
	image.header.e_phentsize = sizeof(Elf64_Phdr);
	image.header.e_phnum = 3;
	image.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof image};
	image.segments[1] = (Elf64_Phdr){
		.p_type = PT_INTERP,
		.p_offset = offsetof(struct image, loader),
		.p_filesz = strlen(image.loader) + 1,
	};
	image.segments[2] = (Elf64_Phdr){
		.p_type = PT_DYNAMIC,
		.p_offset = offsetof(struct image, dynamic),
		.p_filesz = sizeof image.dynamic,
	};
	image.dynamic[0].d_tag = DT_STRTAB;
	image.dynamic[0].d_un.d_ptr = offsetof(struct image, strings);
	image.dynamic[1].d_tag = DT_STRSZ;
	image.dynamic[1].d_un.d_val = sizeof image.strings;
	return image;
}

static int read_image(const struct image *image, struct target_traits *traits, struct error *err)
{
	return target_read_elf(image, sizeof *image, "program", traits, err);
}

static void expect_refusal(const struct image *image, const char *words)
{
	struct target_traits traits;
	struct error err = {0};

	assert_int_equal(read_image(image, &traits, &err), ERROR_TARGET);
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void test_target_elf__reads_loader_and_libraries(void **state)
{
	struct image image = make_image();
	struct target_traits traits;
	struct error err = {0};

	(void)state;
	assert_int_equal(read_image(&image, &traits, &err), 0);
	assert_string_equal(traits.loader, image.loader);
	assert_true(traits.has_address_sanitizer);
	assert_true(traits.has_gnu_openmp);
}

static void test_target_elf__knows_how_thread_sanitizer_is_called(void **state)
{
	static const struct {
		const char strings[sizeof((struct image *)NULL)->strings];
		bool has_preinit;
		enum target_tsan expected;
	} forms[] = {
		{"\0libtsan.so.2\0__tsan_init", true, TSAN_SERVED},
		{"\0__tsan_init\0__interceptor_malloc", true, TSAN_SERVED},
		{"\0libtsan.so.0\0__tsan_init", true, TSAN_OTHER},
		{"\0libclang_rt.tsan-x86_64.so\0__tsan_init", false, TSAN_OTHER},
		{"\0libc.so.6", true, TSAN_NONE},
		{"\0libc.so.6\0ThreadSanitizer", true, TSAN_NONE},
		{"\0libc.so.6\0ThreadSanitizer: incorrect value for io_sync", false, TSAN_NONE},
		{"\0libc.so.6\0ThreadSanitizer: incorrect value for io_sync", true, TSAN_NO_NAMES},
	};

	(void)state;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct image image = make_image();
		struct target_traits traits;
		struct error err = {0};

		memcpy(image.strings, forms[i].strings, sizeof image.strings);
		image.dynamic[2].d_tag = forms[i].has_preinit ? DT_PREINIT_ARRAY : DT_NULL;
		assert_int_equal(read_image(&image, &traits, &err), 0);
		if (traits.tsan != forms[i].expected)
			fail_msg("form %zu: %d, not %d", i, traits.tsan, forms[i].expected);
	}
}

static void test_target_elf__refuses_what_cannot_be_controlled(void **state)
{
	struct image image = make_image();

	(void)state;
	image.segments[1].p_type = PT_NULL;
	expect_refusal(&image, "statically linked");
	image.header.e_entry = 0;
	expect_refusal(&image, "shared library");
	image = make_image();
	image.header.e_ident[EI_CLASS] = ELFCLASS32;
	expect_refusal(&image, "32-bit");
	image = make_image();
	image.header.e_machine = EM_AARCH64;
	expect_refusal(&image, "another processor");
	image = make_image();
	image.header.e_type = ET_REL;
	expect_refusal(&image, "object file");
	image = make_image();
	image.header.e_type = ET_CORE;
	expect_refusal(&image, "core dump");
	memcpy(&image, "#!/bin/sh\n", 10);
	expect_refusal(&image, "script");
	memcpy(&image, "plain text", 10);
	expect_refusal(&image, "not an ELF");
}

/* A note as raddle-cc writes it, instead of the strings. */
static void put_note(struct image *image, uint32_t version)
{
	const Elf64_Nhdr note = {.n_namesz = 7, .n_descsz = sizeof version, .n_type = 1};

	memset(image->strings, 0, sizeof image->strings);
	memcpy(image->strings, &note, sizeof note);
	memcpy(image->strings + sizeof note, "raddle", 7);
	memcpy(image->strings + sizeof note + 8, &version, sizeof version);
	image->segments[2] = (Elf64_Phdr){
		.p_type = PT_NOTE,
		.p_offset = offsetof(struct image, strings),
		.p_filesz = sizeof note + 8 + sizeof version,
	};
}

static void test_target_elf__knows_the_sites_of_this_raddle_only(void **state)
{
	struct image image = make_image();
	struct target_traits traits;
	struct error err = {0};

	(void)state;
	assert_int_equal(read_image(&image, &traits, &err), 0);
	assert_false(traits.has_sites);
	put_note(&image, INSTRUMENT_ABI_VERSION);
	assert_int_equal(read_image(&image, &traits, &err), 0);
	assert_true(traits.has_sites);
	put_note(&image, INSTRUMENT_ABI_VERSION + 1);
	expect_refusal(&image, "another raddle");
	/* Notes of others, and one that ends too early. */
	image.strings[sizeof(Elf64_Nhdr)] = 'R';
	assert_int_equal(read_image(&image, &traits, &err), 0);
	assert_false(traits.has_sites);
	put_note(&image, INSTRUMENT_ABI_VERSION + 1);
	image.segments[2].p_filesz--;
	assert_int_equal(read_image(&image, &traits, &err), 0);
	assert_false(traits.has_sites);
	image.segments[2].p_offset = UINT64_MAX - 4;
	expect_refusal(&image, "damaged");
}

static void test_target_elf__says_where_it_is_damaged(void **state)
{
	struct image image = make_image();

	(void)state;
	image.header.e_phoff = UINT64_MAX - 8;
	expect_refusal(&image, "damaged");
	image = make_image();
	image.segments[0].p_offset = UINT64_MAX;
	expect_refusal(&image, "damaged");
	image = make_image();
	image.segments[1].p_filesz = 1 << 20;
	expect_refusal(&image, "loader");
	image = make_image();
	image.loader[strlen(image.loader)] = 'x';
	expect_refusal(&image, "loader");
}

/* Any file may be given: none makes the reader read outside of it (the sanitizers watch). */
static void test_target_elf__survives_any_cut_and_any_damage(void **state)
{
	struct image image = make_image();
	struct target_traits traits;
	struct rng rng;

	(void)state;
	for (size_t size = 0; size < sizeof image; size++) {
		char *cut = malloc(size ? size : 1);

		assert_non_null(cut);
		memcpy(cut, &image, size);
		assert_int_not_equal(target_read_elf(cut, size, "cut", &traits, NULL), 0);
		free(cut);
	}
	rng_seed(&rng, 1);
	for (int round = 0; round < 20000; round++) {
		struct image *damaged = malloc(sizeof *damaged);

		assert_non_null(damaged);
		*damaged = image;
		for (uint32_t i = rng_below(&rng, 8) + 1; i > 0; i--)
			((char *)damaged)[rng_below(&rng, sizeof image)] =
				(char)rng_below(&rng, 256);
		(void)read_image(damaged, &traits, NULL); /* any answer, but an answer */
		free(damaged);
	}
}

static void test_target_find__looks_in_path_as_execvp_does(void **state)
{
	struct target target;
	struct error err;

	(void)state;
	assert_int_equal(target_find(&target, "env", &err), 0);
	assert_int_equal(access(target.path, X_OK), 0);
	assert_non_null(strchr(target.path, '/'));
	target_release(&target);
	assert_int_equal(target_find(&target, "no-such-program-anywhere", &err), ERROR_NOTFOUND);
	assert_int_equal(target_find(&target, "/", &err), ERROR_TARGET);
	assert_non_null(strstr(err.text, "directory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_target_elf__reads_loader_and_libraries),
		cmocka_unit_test(test_target_elf__knows_how_thread_sanitizer_is_called),
		cmocka_unit_test(test_target_elf__refuses_what_cannot_be_controlled),
		cmocka_unit_test(test_target_elf__knows_the_sites_of_this_raddle_only),
		cmocka_unit_test(test_target_elf__says_where_it_is_damaged),
		cmocka_unit_test(test_target_elf__survives_any_cut_and_any_damage),
		cmocka_unit_test(test_target_find__looks_in_path_as_execvp_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
