/* Data put aside is stored later as if it had been stored at once. */
#include "support/store_scene.h"

#include "store/store_aside.h"

static struct store_campaign campaign_of(uint64_t runs)
{
	return (struct store_campaign){
		.command = "./bank 3",
		.options = "{}",
		.strategy = "directed",
		.state = "running",
		.restart = "rewind",
		.seed = 7,
		.runs = runs,
		.run_end = runs,
		.target = 0xfedcba9876543210,
	};
}

/* Two campaigns; findings 1 and 2 are the first's, 3 the second's. */
static void put_aside(struct strbuf *answer)
{
	struct store_campaign first = campaign_of(10), second = campaign_of(0);
	struct store_campaign *rows;
	struct store *aside;
	struct error err;
	uint32_t count;
	bool is_new;
	char id[32];

	store_open_aside(&aside);
	assert_int_equal(store_list_campaigns(aside, &rows, &count, &err), 0);
	assert_int_equal(count, 0);
	assert_int_equal(store_campaign_begin(aside, &first, &err), 0);
	assert_int_equal(add(aside, 1, 3, &is_new, id), 0);
	assert_string_equal(id, "A1");
	assert_int_equal(add(aside, 2, 3, &is_new, id), 0);
	first.state = "done";
	first.runs = 25;
	assert_int_equal(store_campaign_update(aside, &first, &err), 0);
	assert_int_equal(store_campaign_begin(aside, &second, &err), 0);
	assert_int_equal(store_bytes(aside), 0);
	store_aside_pack(aside, answer);
	store_close(aside);
}

static void test_store_aside__is_kept_later(void **unused)
{
	struct store_unpacked unpacked;
	struct forked_job_reading reading;
	struct store_campaign *rows;
	struct finding loaded;
	struct strbuf answer;
	struct store *store;
	struct error err;
	char id[32] = "A2", other[32] = "F7";
	uint32_t count;
	bool is_new;

	(void)unused;
	strbuf_init(&answer);
	put_aside(&answer);
	store = open_store(STORE_WRITE);
	/* One of the two is known already, with a longer schedule. */
	assert_int_equal(add(store, 2, 9, &is_new, NULL), 0);
	reading = forked_job_read(&answer);
	assert_int_equal(store_aside_unpack(&unpacked, &reading, &err), 0);
	assert_true(reading.at == reading.end);
	assert_int_equal(store_keep_unpacked(store, &unpacked, &err), 0);
	assert_int_equal(unpacked.finding_count, 2);
	assert_true(unpacked.findings[0].is_new);
	assert_false(unpacked.findings[1].is_new);
	store_rename(&unpacked, id);
	store_rename(&unpacked, other);
	assert_string_equal(id, "F1");
	assert_string_equal(other, "F7");
	store_unpacked_release(&unpacked);
	assert_int_equal(store_list_campaigns(store, &rows, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(rows[0].runs, 25);
	assert_string_equal(rows[0].state, "done");
	assert_string_equal(rows[1].state, "running");
	assert_true(rows[1].target == 0xfedcba9876543210);
	while (count)
		store_campaign_release(&rows[--count]);
	free(rows);
	assert_int_equal(store_load_finding(store, "F1", &loaded, &err), 0);
	assert_int_equal(loaded.preemptions, 3);
	finding_release(&loaded);
	store_close(store);
	strbuf_release(&answer);
}

/* Cut off anywhere it is refused, and nothing is read behind its end. */
static void test_store_aside__refuses_what_is_cut_off(void **unused)
{
	struct store_unpacked unpacked;
	struct strbuf answer;
	struct error err;

	(void)unused;
	strbuf_init(&answer);
	put_aside(&answer);
	for (size_t length = 0; length < answer.length; length++) {
		char *copy = malloc(length + 1);
		struct forked_job_reading reading;

		assert_non_null(copy);
		memcpy(copy, answer.text, length);
		reading = (struct forked_job_reading){copy, copy + length};
		assert_true(store_aside_unpack(&unpacked, &reading, &err) < 0);
		free(copy);
	}
	strbuf_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_store_aside__is_kept_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_store_aside__refuses_what_is_cut_off, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
