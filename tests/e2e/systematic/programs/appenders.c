/*
 * Two threads append a line to one file by descriptors of their own: the position of the end is read and used in two
 * steps. With a second argument the program fails if a line is lost. There are six orders of the four calls.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scaling.h"

static int descriptors[2];

static void *body(void *number)
{
	const int descriptor = descriptors[(long)number];

	(void)lseek(descriptor, 0, SEEK_END);
	if (write(descriptor, "line\n", 5) != 5)
		abort();
	return number;
}

int main(int argc, char **argv)
{
	struct stat status;
	char path[] = "appenders.XXXXXX";

	(void)argv;
	descriptors[0] = mkstemp(path);
	descriptors[1] = open(path, O_RDWR);
	(void)unlink(path);
	run_threads(2, body);
	return argc > 2 && fstat(descriptors[0], &status) == 0 && status.st_size < 10;
}
