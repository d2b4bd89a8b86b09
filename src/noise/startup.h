/* Interface of startup.c for threads.c. */
#ifndef RADDLE_NOISE_STARTUP_H
#define RADDLE_NOISE_STARTUP_H

/* Starts the reports of accesses. Called before the first thread creation. */
void noise_go_live(void);

#endif
