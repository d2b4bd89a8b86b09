#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/capture.h"

static void print(struct capture *capture, const char *text)
{
	assert_int_equal(write(capture->file, text, strlen(text)), (ssize_t)strlen(text));
}

static void test_capture__gives_back_what_was_printed(void **state)
{
	struct capture capture;
	struct strbuf text;
	struct error err;

	(void)state;
	assert_int_equal(capture_open(&capture, &err), 0);
	strbuf_init(&text);
	print(&capture, "first run");
	capture_clear(&capture);
	print(&capture, "one ");
	print(&capture, "two");
	capture_read(&capture, &text);
	assert_string_equal(text.text, "one two");
	strbuf_release(&text);
	capture_close(&capture);
}

static void test_capture__keeps_head_and_tail_in_bounded_memory(void **state)
{
	static char block[1 << 16];
	struct capture capture;
	struct strbuf text;
	struct stat status;
	struct error err;

	(void)state;
	assert_int_equal(capture_open(&capture, &err), 0);
	memset(block, '.', sizeof block);
	print(&capture, "the beginning");
	for (int i = 0; i < 1024; i++) {
		assert_int_equal(write(capture.file, block, sizeof block), sizeof block);
		capture_trim(&capture);
		assert_int_equal(fstat(capture.file, &status), 0);
		assert_in_range(status.st_blocks * 512, 0, 5 * CAPTURE_KEPT_BYTES);
	}
	print(&capture, "the end");
	strbuf_init(&text);
	capture_read(&capture, &text);
	assert_in_range(text.length, 2 * CAPTURE_KEPT_BYTES, 2 * CAPTURE_KEPT_BYTES + 100);
	assert_memory_equal(text.text, "the beginning", 13);
	assert_string_equal(text.text + text.length - 7, "the end");
	assert_non_null(strstr(text.text, "bytes left out"));
	strbuf_release(&text);
	capture_close(&capture);
}

static void test_capture__keeps_everything_that_is_to_be_judged(void **state)
{
	static char block[4 * CAPTURE_KEPT_BYTES], got[sizeof block];
	struct capture capture;
	struct error err;

	(void)state;
	assert_int_equal(capture_open(&capture, &err), 0);
	capture.keeps_all = true;
	memset(block, '.', sizeof block);
	assert_int_equal(write(capture.file, block, sizeof block), sizeof block);
	capture_trim(&capture);
	assert_int_equal(pread(capture.file, got, sizeof got, 0), sizeof got);
	assert_memory_equal(got, block, sizeof block);
	capture_close(&capture);
}

static void test_capture__passes_on_each_byte_once(void **state)
{
	struct capture capture;
	char got[64] = "";
	struct error err;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(capture_open(&capture, &err), 0);
	print(&capture, "hello ");
	assert_true(capture_pass_on(&capture, ends[1]));
	assert_true(capture_pass_on(&capture, ends[1]));
	print(&capture, "world");
	assert_true(capture_pass_on(&capture, ends[1]));
	assert_int_equal(read(ends[0], got, sizeof got - 1), 11);
	assert_string_equal(got, "hello world");
	capture_close(&capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture__gives_back_what_was_printed),
		cmocka_unit_test(test_capture__keeps_head_and_tail_in_bounded_memory),
		cmocka_unit_test(test_capture__keeps_everything_that_is_to_be_judged),
		cmocka_unit_test(test_capture__passes_on_each_byte_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
