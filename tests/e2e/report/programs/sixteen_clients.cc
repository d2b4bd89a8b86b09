/* Sixteen threads open connections: each tests whether the host is known, and enters it later, under another lock. */
#include <cassert>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{
struct connection {
	std::string host;
	int users;
};

class connection_cache
{
      public:
	void open(const std::string &host)
	{
		if (!is_known(host))
			enter(host);
	}

	int entered() const
	{
		return entered_;
	}

      private:
	bool is_known(const std::string &host)
	{
		std::lock_guard<std::mutex> guard(lock_);
		return connections_.count(host) != 0;
	}

	void enter(const std::string &host)
	{
		std::lock_guard<std::mutex> guard(lock_);
		connections_[host] = connection{host, 1};
		entered_++;
	}

	std::mutex lock_;
	std::map<std::string, connection> connections_;
	int entered_ = 0;
};
} // namespace

int main()
{
	connection_cache cache;
	std::vector<std::thread> clients;

	for (int i = 0; i < 16; i++)
		clients.emplace_back([&cache, i] {
			cache.open("host" + std::to_string(i % 4));
			cache.open("host" + std::to_string((i + 1) % 4));
		});
	for (auto &client : clients)
		client.join();
	assert(cache.entered() == 4);
}
