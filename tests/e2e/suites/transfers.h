/* The code under test of the small suites: the result of one function depends on the schedule. */
#pragma once

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t balance_lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static int read_balance(void)
{
	int read;

	pthread_mutex_lock(&balance_lock);
	read = balance;
	pthread_mutex_unlock(&balance_lock);
	return read;
}

static void write_balance(int written)
{
	pthread_mutex_lock(&balance_lock);
	balance = written;
	pthread_mutex_unlock(&balance_lock);
}

static void *deposit_in_two_sections(void *nothing)
{
	write_balance(read_balance() + 10);
	return nothing;
}

static void *deposit_in_one_section(void *nothing)
{
	pthread_mutex_lock(&balance_lock);
	balance += 10;
	pthread_mutex_unlock(&balance_lock);
	return nothing;
}

/* Returns the balance after two deposits of 10 by two threads. */
static int balance_after(void *(*deposit)(void *))
{
	pthread_t threads[2];

	balance = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, deposit, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return balance;
}
