/* A pointer that another thread may set too late: read through, written through, read as a string. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[8] = "text";
static char *volatile pointer;
static char copy[8];
static volatile int value;
static volatile size_t length;
static int way;

static void *set(void *unused)
{
	pointer = text;
	return unused;
}

static void *use(void *unused)
{
	switch (way) {
	case 0:
		value = *(volatile char *)pointer; /* LINE 0 */
		break;
	case 1:
		*(volatile char *)pointer = 'T'; /* LINE 1 */
		break;
	case 2:
		length = strlen(pointer); /* LINE 2 */
		break;
	case 3:
		length = strlen(strcpy(copy, pointer)); /* LINE 3 */
		break;
	default:
		strcat(pointer, copy); /* LINE 4 */
		way = 0;	       /* its point is where the call returns to */
		break;
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	way = argc > 1 ? atoi(argv[1]) : 0;
	pthread_create(&threads[0], NULL, set, NULL);
	pthread_create(&threads[1], NULL, use, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
