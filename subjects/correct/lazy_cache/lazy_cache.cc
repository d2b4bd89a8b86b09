/* EXPECT: passed runs=20000 */
/*
 * Pattern: a lock traded for a stronger one (C++, std::shared_mutex).
 *
 * A cache of thumbnails: a reader that misses releases its shared lock, takes the exclusive one and
 * renders the picture. Rendering twice is what the cache exists to prevent.
 *
 * Corrected: the exclusive holder searches again. Cannot fail: a picture is rendered only where the
 * same exclusive hold has seen that it is missing.
 */
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

class thumbnail_cache
{
      public:
	int get(const std::string &picture)
	{
		{
			std::shared_lock<std::shared_mutex> reading(lock);
			auto found = thumbnails.find(picture);
			if (found != thumbnails.end())
				return found->second;
		}
		std::unique_lock<std::shared_mutex> writing(lock);
		auto found = thumbnails.find(picture);
		if (found != thumbnails.end())
			return found->second;
		int thumbnail = render(picture);
		thumbnails[picture] = thumbnail;
		return thumbnail;
	}

	int rendered() const
	{
		return render_count;
	}

      private:
	int render(const std::string &picture)
	{
		render_count++;
		return static_cast<int>(picture.size()) * 100;
	}

	std::shared_mutex lock;
	std::map<std::string, int> thumbnails; // guarded by lock
	int render_count = 0;		       // guarded by lock
};

int main()
{
	thumbnail_cache cache;
	std::thread first([&cache] { cache.get("cat.png"); });
	std::thread second([&cache] { cache.get("cat.png"); });

	first.join();
	second.join();
	assert(cache.rendered() == 1);
	std::printf("rendered %d time\n", cache.rendered());
	return 0;
}
