/*
 * Descriptors that raddle inherited from its parent. A target inherits exactly these, as from a
 * shell. It must not inherit those that raddle or its libraries open, such as the sockets of MPI.
 */
#pragma once

/*
 * Records which descriptors are open. main calls this function first, before raddle opens any file.
 */
void inherited_note(void);
/*
 * Marks each descriptor above 2 close-on-exec, unless inherited_note() recorded it. This function
 * makes system calls only, so a child may call it between vfork and execve. If inherited_note() was
 * not called, or on Linux before 5.11, it marks nothing.
 */
void inherited_close_others_on_exec(void);
