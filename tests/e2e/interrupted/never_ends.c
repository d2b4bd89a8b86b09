/* A thread that waits for another process for ever, in real time; the file `started` shows that it does. */
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument)
{
	return system("touch started; exec /bin/sleep 100000") == 0 ? argument : 0;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, work, 0);
	pthread_join(thread, 0);
	return 0;
}
