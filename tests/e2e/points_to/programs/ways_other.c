/* The second unit of ways.c: equal names in both are different objects. */
static int hidden;

#ifdef __clang__
#define KEEP __attribute__((noinline, optnone))
#else
#define KEEP __attribute__((noinline, noipa))
#endif

void other_unit(void);

KEEP static void own_hidden(int *to)
{
	*to = 2; /* touches hidden */
}

KEEP void other_unit(void)
{
	own_hidden(&hidden);
}
