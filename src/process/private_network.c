#include "process/private_network.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/children.h"

/* What the helper answers when it has made its namespaces. */
enum { MADE_NETWORK = 1, MADE_NETWORK_AND_USER };

static bool private_network_write(const char *path, const char *text)
{
	const int file = open(path, O_WRONLY | O_CLOEXEC);
	const bool is_written =
		file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	if (file >= 0)
		(void)close(file); /* the kernel takes the text at once */
	return is_written;
}

/* Gives the process the same user and group as outside of its user namespace. */
static bool private_network_keep_user(uid_t user, gid_t group)
{
	char users[64], groups[64];

	(void)snprintf(users, sizeof users, "%u %u 1", user, user);
	(void)snprintf(groups, sizeof groups, "%u %u 1", group, group);
	return private_network_write("/proc/self/uid_map", users) &&
	       private_network_write("/proc/self/setgroups", "deny") &&
	       private_network_write("/proc/self/gid_map", groups);
}

static bool private_network_start_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	const bool is_up = any >= 0 && ioctl(any, SIOCSIFFLAGS, &request) == 0;

	if (any >= 0)
		(void)close(any);
	return is_up;
}

/* Without privileges, the target's processes may read what this process holds. */
static bool private_network_drop_privileges(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};

	return syscall(SYS_capset, &header, none) == 0;
}

/* Runs in the helper. */
static _Noreturn void private_network_help(int answers, int file, pid_t command)
{
	const uid_t user = geteuid();
	const gid_t group = getegid();
	uint8_t answer = 0;
	sigset_t all;

	/* A signal of the terminal must not end the helper before the command. */
	(void)sigfillset(&all); /* cannot fail */
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	if (unshare(CLONE_NEWNET) == 0)
		answer = MADE_NETWORK;
	else if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
		 private_network_keep_user(user, group))
		answer = MADE_NETWORK_AND_USER;
	if (!answer || !private_network_start_loopback() || !private_network_drop_privileges() ||
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != command ||
		write(answers, &answer, sizeof answer) != sizeof answer)
		_exit(1);
	(void)(file && close_range(0, (unsigned)file - 1, 0));
	(void)close_range((unsigned)file + 1, ~0u, 0);
	for (;;)
		(void)pause();
}

static int private_network_open_namespace(pid_t helper, const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)helper, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool private_network_open(struct private_network *network, int file)
{
	const pid_t command = getpid();
	uint8_t answer = 0;
	int ends[2];
	long helper;

	*network = (struct private_network){.network = -1, .user = -1};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	/* Like the supervisor, the helper has no exit signal: a wait for any child ignores it. */
	helper = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (helper == 0)
		private_network_help(ends[1], file, command);
	(void)close(ends[1]);
	if (helper > 0) {
		network->helper = (pid_t)helper;
		children_keep(network->helper);
		while (read(ends[0], &answer, sizeof answer) < 0 && errno == EINTR)
			;
	}
	(void)close(ends[0]);
	if (answer)
		network->network = private_network_open_namespace(network->helper, "net");
	if (answer == MADE_NETWORK_AND_USER)
		network->user = private_network_open_namespace(network->helper, "user");
	if (network->network >= 0 && (answer == MADE_NETWORK || network->user >= 0))
		return true;
	private_network_close(network);
	return false;
}

void private_network_close(struct private_network *network)
{
	if (!network->helper)
		return;
	(void)kill(network->helper, SIGKILL);
	while (waitpid(network->helper, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	children_keep_end(network->helper);
	if (network->network >= 0)
		(void)close(network->network);
	if (network->user >= 0)
		(void)close(network->user);
	*network = (struct private_network){.network = -1, .user = -1};
}

int private_network_enter(const struct private_network *network)
{
	if (network->user >= 0 && setns(network->user, CLONE_NEWUSER) != 0)
		return errno;
	return setns(network->network, CLONE_NEWNET) == 0 ? 0 : errno;
}
