/* Memory of calloc() is zero until a thread writes: the conditions that are marked depend on the schedule, and the others do not. */
#include <pthread.h>
#include <stdlib.h>

struct object {
	long count;
	int is_closed;
	char name[3];
};

static struct object *object;
static volatile int seen;

static void *look(void *unused)
{
	if (object->is_closed) /* sensitive */
		seen++;
	if (object->name[1] == 'a') /* sensitive */
		seen++;
	if (object->count == 1)
		seen++;
	return unused;
}

int main(void)
{
	pthread_t thread;

	object = calloc(1, sizeof *object);
	if (!object || pthread_create(&thread, NULL, look, NULL))
		return 1;
	object->is_closed = 1;
	object->name[1] = 'a';
	object->count = 2;
	(void)pthread_join(thread, NULL);
	return seen > 3;
}
