/* Knowledge about descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/libc/files/fd_table.c"

/* timerfd.c's: here nothing is a timer. */
void timerfd_forget(int fd)
{
	(void)fd;
}

/* loopback.c's: here nothing is a connection. */
void loopback_forget(int fd)
{
	(void)fd;
}

void loopback_forget_all(void)
{
}

void loopback_watched(int epoll_fd, int fd)
{
	(void)epoll_fd;
	(void)fd;
}

/* family.c's: there is no other program. */
bool family_has_stranger(void)
{
	return false;
}

/* identity.c's: here chance brings 7 only. */
void runtime_random_bytes(void *buffer, size_t bytes)
{
	memset(buffer, 7, bytes);
}

static void close_and_forget(int fd)
{
	assert_int_equal(close(fd), 0);
	fd_forget(fd);
}

static void test_fd_table__classes_are_the_kernels(void **state)
{
	int ends[2];
	int pair[2];
	int event = eventfd(0, 0);
	int file = open("/proc/self/exe", O_RDONLY);
	int null = open("/dev/null", O_RDWR);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(fd_classify(ends[0]), FD_PIPE);
	assert_int_equal(fd_classify(pair[1]), FD_SOCKET);
	assert_int_equal(fd_classify(event), FD_EVENT);
	assert_int_equal(fd_classify(file), FD_PLAIN);
	assert_int_equal(fd_classify(null), FD_CHARACTER);
	assert_int_equal(fd_classify(-1), FD_PLAIN);
	assert_int_equal(fd_classify(900), FD_PLAIN);
	assert_false(fd_is_internal(ends[0]));
	for (size_t i = 0; i < 2; i++) {
		close_and_forget(ends[i]);
		close_and_forget(pair[i]);
	}
	close_and_forget(event);
	close_and_forget(file);
	close_and_forget(null);
}

static void test_fd_table__plain_files_are_asked_again(void **state)
{
	int ends[2];
	int file = open("/proc/self/exe", O_RDONLY);

	(void)state;
	assert_int_equal(fd_classify(file), FD_PLAIN);
	/* Closed without a report, and the number is reused for something else. */
	close(file);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(ends[0], file);
	assert_int_equal(fd_classify(file), FD_PIPE);
	close_and_forget(ends[0]);
	close_and_forget(ends[1]);
}

static void test_fd_randomise__only_bytes_read_of_a_random_source(void **state)
{
	int chance = open("/dev/urandom", O_RDONLY);
	int null = open("/dev/zero", O_RDONLY);
	char bytes[8] = {0};
	const struct iovec parts[2] = {{bytes, 2}, {bytes + 4, 4}};

	(void)state;
	assert_int_equal(fd_classify(chance), FD_RANDOM);
	assert_int_equal(fd_classify(null), FD_CHARACTER);
	fd_randomise(null, parts, 2, 6);
	fd_randomise(chance, parts, 2, -EINTR);
	assert_memory_equal(bytes, "\0\0\0\0\0\0\0", 8);
	fd_randomise(chance, parts, 2, 5);
	assert_memory_equal(bytes, "\7\7\0\0\7\7\7", 8);
	close_and_forget(chance);
	close_and_forget(null);
}

static void test_fd_table__ends_and_copies_share_an_object(void **state)
{
	(void)state;
	fd_opened(10, FD_PIPE, true, 10);
	fd_opened(11, FD_PIPE, true, 10);
	fd_duplicated(11, 12);
	fd_opened(13, FD_EVENT, true, 13);
	fd_duplicated(13, 14);
	assert_ptr_equal(fd_object(10), fd_object(11));
	assert_ptr_equal(fd_object(10), fd_object(12));
	assert_ptr_equal(fd_object(13), fd_object(14));
	assert_ptr_not_equal(fd_object(10), fd_object(13));
	assert_true(fd_is_internal(12));
	fd_forget(12);
	assert_false(fd_is_internal(12));
	assert_ptr_not_equal(fd_object(10), fd_object(12));
}

static void test_fd_table__watching_something_external_is_external(void **state)
{
	(void)state;
	fd_opened(20, FD_EVENT, true, 20);
	fd_opened(21, FD_PIPE, true, 21);
	fd_opened(22, FD_SOCKET, false, 22);
	fd_watched(20, 21);
	assert_true(fd_is_internal(20));
	fd_watched(20, 22);
	assert_false(fd_is_internal(20));
}

static void test_fd_table__a_fork_makes_what_there_is_external(void **state)
{
	(void)state;
	fd_opened(40, FD_PIPE, true, 40);
	fd_opened(41, FD_EVENT, true, 41);
	fd_was_sent(41);
	assert_true(fd_is_internal(40));
	assert_false(fd_is_internal(41));
	fd_were_inherited();
	assert_false(fd_is_internal(40));
	fd_opened(40, FD_PIPE, true, 40);
	assert_true(fd_is_internal(40));
}

static void test_fd_table__large_numbers_have_no_entry(void **state)
{
	(void)state;
	fd_opened(FD_TABLE_SIZE, FD_PIPE, true, FD_TABLE_SIZE);
	assert_false(fd_is_internal(FD_TABLE_SIZE));
	assert_ptr_equal(fd_object(FD_TABLE_SIZE), fd_object(FD_TABLE_SIZE + 1));
	fd_duplicated(FD_TABLE_SIZE, 30);
	assert_false(fd_is_internal(30));
	fd_opened(31, FD_PIPE, true, FD_TABLE_SIZE + 7);
	assert_non_null(fd_object(31));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fd_table__classes_are_the_kernels),
		cmocka_unit_test(test_fd_table__plain_files_are_asked_again),
		cmocka_unit_test(test_fd_randomise__only_bytes_read_of_a_random_source),
		cmocka_unit_test(test_fd_table__ends_and_copies_share_an_object),
		cmocka_unit_test(test_fd_table__watching_something_external_is_external),
		cmocka_unit_test(test_fd_table__a_fork_makes_what_there_is_external),
		cmocka_unit_test(test_fd_table__large_numbers_have_no_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
