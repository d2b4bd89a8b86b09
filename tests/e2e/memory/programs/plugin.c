/* The library that load.c loads: threads in it count without a lock. */
int plugin_count;

void plugin_add(void);

void plugin_add(void)
{
	plugin_count = plugin_count + 1;
}
