/* A deadlock whose thread has a name for terminals, in a source file that has one, too. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

#line 8 "\033[2Jsource\342\200\256.c"
static void *cross(void *argument)
{
	pthread_setname_np(pthread_self(), "\033[2J\n\377FORGED");
	pthread_mutex_lock(&two);
	pthread_mutex_lock(&one);
	pthread_mutex_unlock(&one);
	pthread_mutex_unlock(&two);
	return argument;
}

int main(void)
{
	pthread_t thread;

	puts("\033[2J\302\233printed\342\200\256\377");
	fflush(stdout);
	pthread_create(&thread, NULL, cross, NULL);
	pthread_mutex_lock(&one);
	pthread_mutex_lock(&two);
	pthread_mutex_unlock(&two);
	pthread_mutex_unlock(&one);
	return pthread_join(thread, NULL);
}
