/* One thread closes a file, one opens another file, which may get the number, and one writes to the number: 5 traces. Only
 * a write before the close is independent of the opening. argv[1]: which of the threads is created first. */
#include <fcntl.h>
#include <unistd.h>

#include "scaling.h"

static int file, first;

static void *body(void *number)
{
	switch (((long)number + first) % 3) {
	case 0:
		close(file);
		break;
	case 1:
		if (open("other", O_RDWR | O_CREAT, 0600) < 0)
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
	file = open("one", O_RDWR | O_CREAT, 0600);
	run_threads(3, body);
	return 0;
}
