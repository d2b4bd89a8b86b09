/*
 * contents HOW [x]: a thread writes to a file, and main makes a call with a path at the same time.
 *   1  stat() sees the size of the file before or after the write
 *   2  truncate() discards what was written, or comes first
 *   3  as 2, by open(O_TRUNC)
 *   4  access() does not depend on the contents
 * With "x" the program fails in the second order. Two threads that write to files of their own are independent, too.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int files[2];

static void *write_file(void *file)
{
	if (write(*(int *)file, "text", 4) != 4)
		abort();
	return NULL;
}

int main(int argc, char **argv)
{
	const int how = argc > 1 ? atoi(argv[1]) : 1;
	char paths[2][32] = {"contents.XXXXXX", "contents.XXXXXX"};
	struct stat status;
	pthread_t threads[2];
	int is_late;

	for (int i = 0; i < 2; i++)
		files[i] = mkstemp(paths[i]);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, write_file, &files[i]);
	if (how == 1 && stat(paths[0], &status))
		return 2;
	is_late = how == 1 && status.st_size == 4;
	if ((how == 2 && truncate(paths[0], 0)) ||
		(how == 3 && open(paths[0], O_RDWR | O_TRUNC) < 0) ||
		(how == 4 && access(paths[0], R_OK)))
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (how == 2 || how == 3)
		is_late = fstat(files[0], &status) || !status.st_size;
	for (int i = 0; i < 2; i++)
		(void)unlink(paths[i]);
	return argc > 2 && is_late;
}
