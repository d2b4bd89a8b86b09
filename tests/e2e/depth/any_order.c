/* A failure that needs no order of the threads (argument "any"), that needs one, or that has no
 * second thread ("alone"). */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int written;

static void *write_one(void *unused)
{
	atomic_store(&written, 1);
	return unused;
}

int main(int argc, char **argv)
{
	const int is_any = argc == 2 && !strcmp(argv[1], "any");
	pthread_t writer;

	if (argc == 2 && !strcmp(argv[1], "alone"))
		abort();
	pthread_create(&writer, NULL, write_one, NULL);
	if (is_any)
		pthread_join(writer, NULL);
	if (atomic_load(&written) == is_any)
		abort();
	if (!is_any)
		pthread_join(writer, NULL);
	return 0;
}
