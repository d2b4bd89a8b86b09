/*
 * The examples test this stock, from which several threads take items. With -DSTOCK_BROKEN, a
 * thread tests under one lock whether an item is left, and takes the item under another.
 */
#ifndef STOCK_H
#define STOCK_H

#include <pthread.h>

struct stock {
	pthread_mutex_t lock;
	int left;
};

static inline void stock_set_up(struct stock *stock, int left)
{
	pthread_mutex_init(&stock->lock, NULL);
	stock->left = left;
}

/* Takes an item. Returns whether one was left. */
static inline int stock_take(struct stock *stock)
{
	int has_taken = 0;

	pthread_mutex_lock(&stock->lock);
	if (stock->left > 0) {
#ifdef STOCK_BROKEN
		pthread_mutex_unlock(&stock->lock);
		pthread_mutex_lock(&stock->lock);
#endif
		stock->left--;
		has_taken = 1;
	}
	pthread_mutex_unlock(&stock->lock);
	return has_taken;
}

#endif
