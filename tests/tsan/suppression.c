/* The suppressions that a program brings with it. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
	return SUPPRESSION;
}
