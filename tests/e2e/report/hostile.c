/* A deadlock in a program that wants its words to become markup: <img src=x onerror=alert(1)> */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *argument)
{
	pthread_mutex_lock(&two);
	pthread_mutex_lock(
		&one); /* <img src=x onerror=alert(1)> </script> & "quotes" 'too' \033[31m */
	pthread_mutex_unlock(&one);
	pthread_mutex_unlock(&two);
	return argument;
}

int main(void)
{
	pthread_t thread;

	puts("<h1>printed</h1> </script><script>alert(2)</script>");
	pthread_create(&thread, NULL, other, NULL);
	pthread_mutex_lock(&one);
	pthread_mutex_lock(&two);
	pthread_mutex_unlock(&two);
	pthread_mutex_unlock(&one);
	return pthread_join(thread, NULL);
}
