/* accounts ledger|tally: two threads add to the static library's memory or to the shared one's; status 1:
 * something was lost. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ledger.h"
#include "tally.h"

static void *deposit(void *unused)
{
	ledger_deposit(5);
	return unused;
}

static void *count(void *unused)
{
	tally_count("visit");
	tally_count("");
	return unused;
}

int main(int argc, char **argv)
{
	const int is_ledger = argc > 1 && strcmp(argv[1], "ledger") == 0;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, is_ledger ? deposit : count, NULL) != 0)
			return 2;
	for (int i = 0; i < 2; i++)
		if (pthread_join(threads[i], NULL) != 0)
			return 2;
	printf("%ld %ld %ld\n", ledger_balance(), tally_of("visit"), tally_of(NULL));
	return is_ledger ? ledger_balance() != 10 : tally_of(NULL) != 2 || tally_of("visit") != 2;
}
