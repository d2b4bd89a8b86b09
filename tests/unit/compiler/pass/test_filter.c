/* The locals and globals that the pass leaves without sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "compiler/pass/filter.c"

#include <llvm-c/IRReader.h>

/* The allocation %local in a function with this body is private. */
static bool is_private(const char *body, bool as_list)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMMemoryBufferRef buffer;
	LLVMModuleRef module;
	LLVMValueRef local;
	char text[1024], *message = NULL;
	bool result;

	(void)snprintf(text, sizeof text,
		"@kept = global ptr null\n"
		"declare void @other(ptr)\n"
		"declare void @llvm.va_start.p0(ptr)\n"
		"declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
		"define void @function(i32 %%value, ...) {\n"
		"  %%local = alloca [4 x i32]\n"
		"  %s\n"
		"  ret void\n"
		"}\n",
		body);
	buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
	if (LLVMParseIRInContext(context, buffer, &module, &message))
		fail_msg("%s", message);
	local = LLVMGetFirstInstruction(
		LLVMGetEntryBasicBlock(LLVMGetNamedFunction(module, "function")));
	result = as_list ? filter_is_private_list(local) : filter_is_private(local);
	LLVMDisposeModule(module);
	LLVMContextDispose(context);
	return result;
}

static void test_filter__skips_locals_whose_address_stays(void **state)
{
	(void)state;
	assert_true(is_private("store i32 %value, ptr %local", false));
	assert_true(is_private("%read = load i32, ptr %local", false));
	assert_true(is_private("%at = getelementptr i32, ptr %local, i32 2\n"
			       "  store i32 %value, ptr %at",
		false));
	assert_true(is_private("%old = atomicrmw add ptr %local, i32 1 seq_cst", false));
	assert_true(is_private(
		"call void @llvm.memset.p0.i64(ptr %local, i8 0, i64 16, i1 false)", false));
}

static void test_filter__keeps_locals_whose_address_escapes(void **state)
{
	(void)state;
	assert_false(is_private("store ptr %local, ptr @kept", false));
	assert_false(is_private("call void @other(ptr %local)", false));
	assert_false(is_private("%number = ptrtoint ptr %local to i64", false));
	assert_false(is_private("%at = getelementptr i32, ptr %local, i32 2\n"
				"  call void @other(ptr %at)",
		false));
	assert_false(is_private("%old = atomicrmw xchg ptr @kept, ptr %local seq_cst", false));
}

static void test_filter__lets_a_list_be_filled(void **state)
{
	const char *const fill = "call void @llvm.va_start.p0(ptr %local)";

	(void)state;
	assert_true(is_private(fill, true));
	assert_false(is_private(fill, false));
	assert_false(is_private("call void @other(ptr %local)", true));
}

static void test_filter__skips_what_no_thread_shares(void **state)
{
	static const char text[] = "@constant = constant i32 1\n"
				   "@elsewhere = external constant i32\n"
				   "@variable = global i32 1\n"
				   "@own = thread_local global i32 1\n";
	LLVMContextRef context = LLVMContextCreate();
	LLVMMemoryBufferRef buffer =
		LLVMCreateMemoryBufferWithMemoryRangeCopy(text, sizeof text - 1, "test");
	LLVMModuleRef module;
	char *message = NULL;

	(void)state;
	assert_int_equal(LLVMParseIRInContext(context, buffer, &module, &message), 0);
#define GLOBAL(name) LLVMGetNamedGlobal(module, name)
	assert_true(filter_skips(GLOBAL("constant"), false));
	assert_false(filter_skips(GLOBAL("constant"), true));
	assert_false(filter_skips(GLOBAL("elsewhere"), false));
	assert_false(filter_skips(GLOBAL("variable"), false));
	assert_true(filter_is_thread_local(GLOBAL("own")));
	assert_false(filter_is_thread_local(GLOBAL("variable")));
	LLVMDisposeModule(module);
	LLVMContextDispose(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filter__skips_locals_whose_address_stays),
		cmocka_unit_test(test_filter__keeps_locals_whose_address_escapes),
		cmocka_unit_test(test_filter__lets_a_list_be_filled),
		cmocka_unit_test(test_filter__skips_what_no_thread_shares),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
