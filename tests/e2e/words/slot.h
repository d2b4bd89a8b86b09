/* A lock of the program's own making: two short functions that every other one calls. */
#ifndef SLOT_H
#define SLOT_H

#include <pthread.h>

struct slot {
	pthread_mutex_t lock;
	int value;
};

static inline void slot_lock(struct slot *slot)
{
	pthread_mutex_lock(&slot->lock);
}

static inline void slot_unlock(struct slot *slot)
{
	pthread_mutex_unlock(&slot->lock);
}

#endif
