/* Stubs are written and executed: each passes the address that its record's instruction computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "runtime/sites/stubs.c"

#define DATA_OFFSET 2048

/* A page with the table of targets, a slot, and a record at DATA_OFFSET. */
static unsigned char *page;
static struct site_record *record;

/* What a stub passes, and the stack pointer at the call of the stub. */
uint64_t passed, stack_pointer; /* global: assembly names them */
void receive(void);

__asm__(".text\nreceive:\n\tmovq %r10, passed(%rip)\n\tret\n");

/* %rdi and %r12 hold known values. */
static void call_stub(const unsigned char *stub)
{
	__asm__ volatile("movq $0x7000, %%rdi\n\tmovq $0x9000, %%r12\n\tsubq $128, %%rsp\n\t"
			 "movq %%rsp, stack_pointer(%%rip)\n\tcall *%0\n\taddq $128, %%rsp"
			 :
			 : "r"(stub)
			 : "rdi", "r12", "r10", "r11", "cc", "memory");
}

static int set_up(void **state)
{
	void (**targets)(void);

	(void)state;
	page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	targets = (void (**)(void))(void *)page;
	for (unsigned i = 0; i < STUB_TARGETS; i++)
		targets[i] = receive;
	record = (struct site_record *)(void *)(page + DATA_OFFSET);
	*record = (struct site_record){.kind = SITE_LOAD, .bytes = 4};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(page, 4096);
}

static unsigned char *write_stub(const char *operand, size_t bytes)
{
	unsigned char *slot = page + STUB_TARGETS * sizeof(void (*)(void));

	memset(record->operand, 0, sizeof record->operand);
	memcpy(record->operand, operand, bytes);
	return stub_write(slot, record, (void (*const *)(void))(void *)page);
}

#define CALL(operand) call_stub(write_stub(operand, sizeof(operand) - 1))

static void test_stubs__pass_registers_and_addresses_relative_to_them(void **state)
{
	(void)state;
	CALL("\x49\x89\xfa"); /* mov %rdi, %r10 */
	assert_int_equal(passed, 0x7000);
	CALL("\x4c\x8d\x57\x10"); /* lea 16(%rdi), %r10 */
	assert_int_equal(passed, 0x7010);
	CALL("\x4f\x8d\x94\x24\x00\x01\x00\x00"); /* lea 256(%r12,%r12), %r10 */
	assert_int_equal(passed, 0x9000 + 0x9000 + 256);
	CALL("\x4d\x8d\x54\x24\x08"); /* lea 8(%r12), %r10: the base is not the stack pointer */
	assert_int_equal(passed, 0x9008);
	CALL("\x45\x31\xd2"); /* xor %r10d, %r10d */
	assert_int_equal(passed, 0);
}

/* The call has moved the stack pointer by then. */
static void test_stubs__pass_addresses_relative_to_the_stack_pointer_of_the_code(void **state)
{
	(void)state;
	CALL("\x4c\x8d\x54\x24\x18"); /* lea 24(%rsp), %r10 */
	assert_int_equal(passed, stack_pointer + 24);
	CALL("\x4c\x8d\x94\xfc\x00\x02\x00\x00"); /* lea 512(%rsp,%rdi,8), %r10 */
	assert_int_equal(passed, stack_pointer + 512 + 8 * 0x7000);
	CALL("\x49\x89\xe2"); /* mov %rsp, %r10 */
	assert_int_equal(passed, stack_pointer);
}

static void test_stubs__pass_addresses_relative_to_the_record(void **state)
{
	(void)state;
	CALL("\x4c\x8d\x15\x40\x00\x00\x00"); /* lea 64(%rip), %r10 */
	assert_int_equal(passed, (uintptr_t)record->operand + 7 + 64);
}

static void test_stubs__lead_to_their_record(void **state)
{
	const unsigned char *stub = write_stub("\x49\x89\xfa", 3);
	int32_t distance;

	(void)state;
	memcpy(&distance, stub - 4, sizeof distance);
	assert_ptr_equal(stub - 4 + distance, record);
}

static void test_stubs__jump_to_the_function_for_their_kind_and_size(void **state)
{
	(void)state;
	assert_int_equal(stubs_target(record), STUB_LOAD + 2);
	record->bytes = 16;
	assert_int_equal(stubs_target(record), STUB_LOAD + 4);
	record->kind = SITE_STORE;
	assert_int_equal(stubs_target(record), STUB_STORE + 4);
	record->bytes = 3;
	assert_int_equal(stubs_target(record), STUB_ANY);
	record->bytes = 4;
	record->order = SITE_UNRECORDED;
	assert_int_equal(stubs_target(record), STUB_ANY);
	*record = (struct site_record){.kind = SITE_ATOMIC_LOAD, .bytes = 4};
	assert_int_equal(stubs_target(record), STUB_ANY);
}

static void test_stubs__of_unknown_or_distant_operands_are_not_written(void **state)
{
	(void)state;
	assert_null(write_stub("\x90\x90\x90", 3));
	assert_null(write_stub("\x48\x8d\x57\x10", 4)); /* lea 16(%rdi), %rdx */
	record->kind = SITE_LOAD;
	assert_null(stub_write(page, (const struct site_record *)(uintptr_t)(1ull << 44),
		(void (*const *)(void))(void *)page));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stubs__pass_registers_and_addresses_relative_to_them),
		TEST(test_stubs__pass_addresses_relative_to_the_stack_pointer_of_the_code),
		TEST(test_stubs__pass_addresses_relative_to_the_record),
		TEST(test_stubs__lead_to_their_record),
		TEST(test_stubs__jump_to_the_function_for_their_kind_and_size),
		TEST(test_stubs__of_unknown_or_distant_operands_are_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
