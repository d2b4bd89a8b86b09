/* Two threads open and close n files each. Every order of these calls gives other numbers: (4n)! / (2n)!^2 traces. */
#include <fcntl.h>
#include <unistd.h>

#include "scaling.h"

static int files;

static void *body(void *unused)
{
	for (int i = 0; i < files; i++)
		if (close(open("/dev/null", O_RDONLY)))
			abort();
	return unused;
}

int main(int argc, char **argv)
{
	files = thread_count(argc, argv);
	run_threads(2, body);
	return 0;
}
