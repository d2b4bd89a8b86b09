/* What threads.c tells startup.c. */
#ifndef RADDLE_NOISE_STARTUP_H
#define RADDLE_NOISE_STARTUP_H

/* The first thread is about to be created: from here on accesses are told. */
void noise_go_live(void);

#endif
