/* Networks of workers. Processes of the tests end with status 0 if they could do what they should. */
#include "process/private_network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int bound_socket(struct sockaddr_in *name)
{
	const int bound = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bound >= 0 && bind(bound, (struct sockaddr *)name, sizeof *name) == 0)
		return bound;
	(void)close(bound);
	return -1;
}

/* Binds the name to a free port of the loopback device. */
static int bind_free_port(struct sockaddr_in *name)
{
	socklen_t length = sizeof *name;
	int bound;

	*name = (struct sockaddr_in){.sin_family = AF_INET};
	name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bound = bound_socket(name);
	assert_true(bound >= 0);
	assert_int_equal(getsockname(bound, (struct sockaddr *)name, &length), 0);
	return bound;
}

static int exit_status(pid_t child)
{
	int status = 0;

	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Returns whether a process in the network can bind the name, which is NULL for no network. */
static bool can_bind(const struct private_network *network, struct sockaddr_in *name)
{
	const pid_t child = fork();

	if (child == 0)
		_exit((network && private_network_enter(network) != 0) || bound_socket(name) < 0);
	return exit_status(child) == 0;
}

static void open_or_skip(struct private_network *network, int file)
{
	if (!private_network_open(network, file))
		skip();
}

static void test_private_network__has_ports_of_its_own(void **state)
{
	struct private_network network;
	struct sockaddr_in name;
	int bound;

	(void)state;
	open_or_skip(&network, STDIN_FILENO);
	bound = bind_free_port(&name);
	assert_false(can_bind(NULL, &name));
	assert_true(can_bind(&network, &name));
	private_network_close(&network);
	(void)close(bound);
}

static void test_private_network__has_no_other_addresses(void **state)
{
	struct private_network network;
	struct sockaddr_in away = {.sin_family = AF_INET, .sin_port = htons(9)};
	pid_t child;

	(void)state;
	open_or_skip(&network, STDIN_FILENO);
	assert_int_equal(inet_pton(AF_INET, "192.0.2.1", &away.sin_addr), 1);
	child = fork();
	if (child == 0) {
		const bool is_in = private_network_enter(&network) == 0;
		const int any = socket(AF_INET, SOCK_DGRAM, 0);

		_exit(!is_in || connect(any, (struct sockaddr *)&away, sizeof away) == 0 ||
			errno != ENETUNREACH);
	}
	assert_int_equal(exit_status(child), 0);
	private_network_close(&network);
}

/* A process of the same user in the network, without privileges, opens the file by the helper. */
static void test_private_network__helper_keeps_the_file(void **state)
{
	struct private_network network;
	char path[64], text[3] = "";
	FILE *file = tmpfile();
	pid_t child;

	(void)state;
	assert_non_null(file);
	assert_true(fputs("ab", file) >= 0 && fflush(file) == 0);
	open_or_skip(&network, fileno(file));
	(void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)network.helper, fileno(file));
	child = fork();
	if (child == 0) {
		const int own = private_network_enter(&network) == 0 ? open(path, O_RDONLY) : -1;

		_exit(own < 0 || pread(own, text, 2, 0) != 2 || strcmp(text, "ab") != 0);
	}
	assert_int_equal(exit_status(child), 0);
	private_network_close(&network);
	(void)fclose(file);
}

static void test_private_network__helper_ends_with_the_network(void **state)
{
	struct private_network network;
	pid_t helper;

	(void)state;
	open_or_skip(&network, STDIN_FILENO);
	helper = network.helper;
	assert_int_equal(kill(helper, 0), 0);
	private_network_close(&network);
	assert_int_equal(kill(helper, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_int_equal(network.helper, 0);
	private_network_close(&network);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_private_network__has_ports_of_its_own),
		cmocka_unit_test(test_private_network__has_no_other_addresses),
		cmocka_unit_test(test_private_network__helper_keeps_the_file),
		cmocka_unit_test(test_private_network__helper_ends_with_the_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
