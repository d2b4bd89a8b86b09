/* See outside_library.c. */
#pragma once

void library_store(volatile int *at);
int library_load(const volatile int *at);
int library_compute(const char *text);
void library_lock(int number);
