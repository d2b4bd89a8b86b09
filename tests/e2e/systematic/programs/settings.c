/*
 * settings CALL [x]: a thread makes a pipe block by fcntl (1) or ioctl (2), while another one reads from it, or writes into it,
 * while another one asks for the number of its bytes (3). With x the program fails if the read fails (1, 2), or the pipe is seen
 * without bytes (3). 4: both threads change the setting.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int pipe_ends[2], call, seen;

static void *change(void *unused)
{
	int off = 0;

	if (call == 2)
		ioctl(pipe_ends[0], FIONBIO, &off);
	else if (call == 3)
		(void)!write(pipe_ends[1], "x", 1);
	else
		fcntl(pipe_ends[0], F_SETFL, 0);
	return unused;
}

static void *use(void *unused)
{
	char byte;

	if (call == 3)
		ioctl(pipe_ends[0], FIONREAD, &seen);
	else if (call == 4)
		fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
	else
		seen = (int)read(pipe_ends[0], &byte, 1);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t changer, user;

	call = atoi(argv[1]);
	(void)!pipe2(pipe_ends, O_NONBLOCK);
	pthread_create(&changer, NULL, change, NULL);
	pthread_create(&user, NULL, use, NULL);
	pthread_join(changer, NULL);
	pthread_join(user, NULL);
	return argc > 2 && (call == 3 ? seen == 0 : seen == -1);
}
