/* Two threads take two slots in opposite orders, through the functions of slot.h. */
#include <stddef.h>

#include "slot.h"

struct pair {
	struct slot left, right;
};

static void *swap_leftwards(void *argument)
{
	struct pair *pair = argument;
	int value;

	slot_lock(&pair->left);
	slot_lock(&pair->right);
	value = pair->left.value;
	pair->left.value = pair->right.value;
	pair->right.value = value;
	slot_unlock(&pair->right);
	slot_unlock(&pair->left);
	return NULL;
}

static void *swap_rightwards(void *argument)
{
	struct pair *pair = argument;
	int value;

	slot_lock(&pair->right);
	slot_lock(&pair->left);
	value = pair->right.value;
	pair->right.value = pair->left.value;
	pair->left.value = value;
	slot_unlock(&pair->left);
	slot_unlock(&pair->right);
	return NULL;
}

int main(void)
{
	struct pair pair = {.left.value = 1};
	pthread_t threads[2];

	pthread_mutex_init(&pair.left.lock, NULL);
	pthread_mutex_init(&pair.right.lock, NULL);
	pthread_create(&threads[0], NULL, swap_leftwards, &pair);
	pthread_create(&threads[1], NULL, swap_rightwards, &pair);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
