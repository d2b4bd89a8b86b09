/* EXPECT: passed runs=50 */
/* Calls that wait in the kernel for another thread: opening a FIFO, splice, tee and sendfile. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define BIG_BYTES 300000

static char directory[] = "/tmp/raddle-transfers-XXXXXX";
static char path[PATH_MAX];

/* ---- FIFOs ---- */

static void *write_word(void *unused)
{
	const int fd = open(path, O_WRONLY);

	(void)unused;
	MUST(fd >= 0);
	MUST(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	MUST(write(fd, "word", 4) == 4);
	close(fd);
	return NULL;
}

static void *write_stream(void *unused)
{
	FILE *stream = fopen(path, "w");

	(void)unused;
	MUST(stream != NULL);
	MUST(fputs("line\n", stream) >= 0);
	fclose(stream);
	return NULL;
}

static void *read_word(void *word)
{
	const int fd = open(path, O_RDONLY);

	MUST(fd >= 0);
	MUST(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	MUST(read(fd, word, 4) == 4);
	close(fd);
	return NULL;
}

static void test_fifo(void)
{
	pthread_t reader, writer;
	char word[8] = "";
	FILE *stream;

	MUST(mkdtemp(directory) != NULL);
	(void)snprintf(path, sizeof path, "%s/fifo", directory);
	MUST(mkfifo(path, 0600) == 0);
	CHECK(open(path, O_WRONLY | O_NONBLOCK) < 0 && errno == ENXIO);

	MUST(pthread_create(&writer, NULL, write_word, NULL) == 0);
	MUST(pthread_create(&reader, NULL, read_word, word) == 0);
	pthread_join(reader, NULL);
	pthread_join(writer, NULL);
	CHECK(strcmp(word, "word") == 0);

	memset(word, 0, sizeof word);
	MUST(pthread_create(&writer, NULL, write_stream, NULL) == 0);
	stream = fopen(path, "r");
	CHECK(stream && fgets(word, sizeof word, stream) && strcmp(word, "line\n") == 0);
	CHECK(!fgets(word, sizeof word, stream) && feof(stream));
	fclose(stream);
	pthread_join(writer, NULL);

	MUST(unlink(path) == 0);
	MUST(rmdir(directory) == 0);
}

/* ---- transfers between two descriptors ---- */

static int from[2], to[2];
static char big[BIG_BYTES];

static void *move_all(void *unused)
{
	ssize_t moved;

	(void)unused;
	while ((moved = splice(from[0], NULL, to[1], NULL, 5000, 0)) > 0)
		;
	MUST(moved == 0);
	close(to[1]);
	return NULL;
}

static void *write_big(void *unused)
{
	(void)unused;
	MUST(write(from[1], big, BIG_BYTES) == BIG_BYTES);
	close(from[1]);
	return NULL;
}

static int receives_big(int fd)
{
	static char part[7001];
	long received = 0;
	int is_intact = 1;
	ssize_t got;

	while ((got = read(fd, part, sizeof part)) > 0) {
		is_intact &= memcmp(part, big + received, (size_t)got) == 0;
		received += got;
	}
	return is_intact && received == BIG_BYTES;
}

static void splice_through(void)
{
	pthread_t writer, mover;

	MUST(pthread_create(&mover, NULL, move_all, NULL) == 0);
	MUST(pthread_create(&writer, NULL, write_big, NULL) == 0);
	CHECK(receives_big(to[0]));
	pthread_join(writer, NULL);
	pthread_join(mover, NULL);
	close(from[0]);
	close(to[0]);
}

static void test_splice(void)
{
	MUST(pipe(from) == 0 && pipe(to) == 0);
	splice_through();
	MUST(pipe(from) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, to) == 0);
	splice_through();
}

static void *tee_word(void *unused)
{
	(void)unused;
	MUST(tee(from[0], to[1], 4, 0) == 4);
	return NULL;
}

static void test_tee(void)
{
	pthread_t copier;
	char word[5] = "";

	MUST(pipe(from) == 0 && pipe(to) == 0);
	CHECK(splice(from[0], NULL, to[1], NULL, 4, SPLICE_F_NONBLOCK) < 0 && errno == EAGAIN);
	MUST(pthread_create(&copier, NULL, tee_word, NULL) == 0);
	MUST(write(from[1], "copy", 4) == 4);
	CHECK(read(to[0], word, 4) == 4 && strcmp(word, "copy") == 0);
	CHECK(read(from[0], word, 4) == 4 && strcmp(word, "copy") == 0);
	pthread_join(copier, NULL);
	for (int i = 0; i < 2; i++) {
		close(from[i]);
		close(to[i]);
	}
}

static void *send_file(void *file)
{
	off_t offset = 0;

	MUST(sendfile(to[1], *(int *)file, &offset, BIG_BYTES) == BIG_BYTES);
	MUST(offset == BIG_BYTES);
	close(to[1]);
	return NULL;
}

static void test_sendfile(void)
{
	FILE *file = tmpfile();
	int fd = fileno(file);
	pthread_t sender;

	MUST(write(fd, big, BIG_BYTES) == BIG_BYTES);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, to) == 0);
	MUST(pthread_create(&sender, NULL, send_file, &fd) == 0);
	CHECK(receives_big(to[0]));
	pthread_join(sender, NULL);
	close(to[0]);
	fclose(file);
}

int main(void)
{
	for (int i = 0; i < BIG_BYTES; i++)
		big[i] = (char)(i % 251);
	test_fifo();
	test_splice();
	test_tee();
	test_sendfile();
	return check_status();
}
