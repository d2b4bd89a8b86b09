/* How many processors this process may use: what its affinity and its control groups leave of the machine's. */
#ifndef RADDLE_PROCESS_CORES_H
#define RADDLE_PROCESS_CORES_H

/* At least 1. A quota of one and a half is 2: one of them would be idle half of the time otherwise. */
unsigned cores_available(void);

/* Of a quota as control groups have it, "150000 100000" or "max 100000", rounded up; 0: there is none. */
unsigned cores_of_quota(const char *text);

/*
 * What the groups of this process leave it, of version 2 and 1, with those around them; 0: there is no quota. Within a container
 * its own group is the root of what is seen, whatever `memberships` calls it.
 */
unsigned cores_of_groups(const char *mounts, const char *memberships);

#endif
