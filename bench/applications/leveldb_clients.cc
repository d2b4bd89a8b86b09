/*
 * leveldb_clients THREADS OPERATIONS: threads put, read and delete keys of one database that lies in memory. The write
 * buffer is small, so that compactions run in the background thread.
 */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "helpers/memenv/memenv.h"

static void work(leveldb::DB *db, unsigned number, unsigned operations)
{
	unsigned random = number;

	for (unsigned i = 0; i < operations; i++) {
		char key[16];
		std::string value;

		random = random * 1664525u + 1013904223u;
		std::snprintf(key, sizeof key, "%08u", random >> 20);
		if (random >> 8 & 1)
			db->Put(leveldb::WriteOptions(), key,
				std::string(100, static_cast<char>('a' + number)));
		else if (random >> 9 & 7)
			db->Get(leveldb::ReadOptions(), key, &value);
		else
			db->Delete(leveldb::WriteOptions(), key);
	}
}

int main(int argc, char **argv)
{
	const unsigned threads = argc > 1 ? std::atoi(argv[1]) : 3;
	const unsigned operations = argc > 2 ? std::atoi(argv[2]) : 1000;
	std::unique_ptr<leveldb::Env> memory(leveldb::NewMemEnv(leveldb::Env::Default()));
	std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(1 << 16));
	leveldb::Options options;
	leveldb::DB *db = nullptr;
	std::vector<std::thread> clients;

	options.env = memory.get();
	options.block_cache = cache.get();
	options.create_if_missing = true;
	options.write_buffer_size = 64 << 10;
	if (!leveldb::DB::Open(options, "/database", &db).ok())
		return 2;
	for (unsigned i = 0; i < threads; i++)
		clients.emplace_back(work, db, i + 1, operations);
	for (std::thread &client : clients)
		client.join();
	delete db;
	return 0;
}
