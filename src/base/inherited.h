/*
 * Descriptors that raddle was started with. A target gets them, as from any shell, and no other: a library that raddle
 * loads (MPI) opens sockets of its own, which are no business of the target.
 */
#ifndef RADDLE_BASE_INHERITED_H
#define RADDLE_BASE_INHERITED_H

/* Remembers which descriptors are open. Once, at the start of main, before anything is opened. */
void inherited_note(void);
/*
 * Marks every other descriptor above 2 close-on-exec. Uses system calls only, and may be called between vfork and
 * execve. Does nothing where inherited_note() was not called, or on Linux before 5.11.
 */
void inherited_close_others_on_exec(void);

#endif
