/* Races in the file system, in the current folder: the argument chooses one. The other arguments' twins are correct. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void *make_folder(void *unused)
{
	if (access("folder", F_OK) != 0)	    /* TESTED */
		assert(mkdir("folder", 0700) == 0); /* MADE */
	return unused;
}

static void *make_folder_once(void *unused)
{
	assert(mkdir("folder", 0700) == 0 || errno == EEXIST);
	return unused;
}

static void append(int flags)
{
	const int file = open("journal", O_WRONLY | O_CREAT | flags, 0600);

	assert(file >= 0);
	lseek(file, 0, SEEK_END);
	assert(write(file, "line\n", 5) == 5);
	close(file);
}

static void *append_at_end(void *unused)
{
	append(0);
	return unused;
}

static void *append_atomically(void *unused)
{
	append(O_APPEND);
	return unused;
}

static void *replace_stream(void *unused)
{
	FILE *file = fopen("state", "r");

	if (file) {
		fclose(file);
		assert(remove("state") == 0);
	} else {
		file = fopen("state", "w");
		assert(file);
		fputs("state", file);
		fclose(file);
	}
	return unused;
}

static void remove_files(void)
{
	unlink("journal");
	unlink("state");
	rmdir("folder");
}

int main(int argument_count, char **arguments)
{
	const char *race = argument_count > 1 ? arguments[1] : "";
	void *(*work)(void *) = strcmp(race, "folder") == 0	   ? make_folder
				: strcmp(race, "folder_once") == 0 ? make_folder_once
				: strcmp(race, "append") == 0	   ? append_at_end
				: strcmp(race, "stream") == 0	   ? replace_stream
								   : append_atomically;
	pthread_t threads[3];
	struct stat status = {.st_size = 0};

	remove_files(); /* a failed run leaves some */
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	stat("journal", &status);
	remove_files();
	assert(status.st_size % 15 == 0);
	return 0;
}
