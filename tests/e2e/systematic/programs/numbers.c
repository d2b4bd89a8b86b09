/*
 * One thread closes a file, one makes a descriptor, which may get the number, and one writes to the number: 5 traces. Only a
 * write before the close is independent of the new descriptor. argv[1]: the number of the thread that is created first, plus 3
 * for each way to make a descriptor: by opening a file, a pipe, a socket or an event counter, and by duplicating a descriptor.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scaling.h"

static int file, first, how;

static int make_descriptor(void)
{
	int ends[2];

	switch (how) {
	case 0:
		return open("other", O_RDWR | O_CREAT, 0600);
	case 1:
		return pipe(ends);
	case 2:
		return socket(AF_UNIX, SOCK_DGRAM, 0);
	case 3:
		return eventfd(0, 0);
	default:
		return dup(0);
	}
}

static void *body(void *number)
{
	switch (((long)number + first) % 3) {
	case 0:
		close(file);
		break;
	case 1:
		if (make_descriptor() < 0)
			abort();
		break;
	default:
		return (void *)(long)write(file, "text", 4);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	first = thread_count(argc, argv);
	how = (first - 1) / 3;
	file = open("one", O_RDWR | O_CREAT, 0600);
	run_threads(3, body);
	return 0;
}
