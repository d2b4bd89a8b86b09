/* How many processors this process may use: what its affinity and its control groups leave of the machine's. */
#ifndef RADDLE_CAMPAIGN_CORES_H
#define RADDLE_CAMPAIGN_CORES_H

/* At least 1. A quota of one and a half is 2: one of them would be idle half of the time otherwise. */
unsigned cores_available(void);

/* Of a quota as control groups have it, "150000 100000" or "max 100000", rounded up; 0: there is none. */
unsigned cores_of_quota(const char *text);

#endif
