/* The number of processors this process may use, limited by its affinity and its control groups. */
#pragma once

/* Returns the number of usable processors, at least 1. A quota of 1.5 processors counts as 2. */
unsigned cores_available(void);

/* Parses a quota in control-group format, "150000 100000" or "max 100000", and rounds it up. 0: no
 * quota. */
unsigned cores_of_quota(const char *text);

/* Returns the smallest quota of this process's control groups and their ancestors; 0: none.
 * `mounts`: their mount point; `memberships`: /proc/self/cgroup. */
unsigned cores_of_groups(const char *mounts, const char *memberships);
