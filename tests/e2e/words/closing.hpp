// A queue whose short functions stand in a header. close() wakes one thread only.
#ifndef CLOSING_HPP
#define CLOSING_HPP

#include <condition_variable>
#include <deque>
#include <mutex>

template <class T> class closing_queue
{
	std::mutex mutex_;
	std::condition_variable filled_;
	std::deque<T> items_;
	bool is_closed_ = false;

      public:
	void push(T item)
	{
		std::lock_guard<std::mutex> guard(mutex_);
		items_.push_back(item);
		filled_.notify_one();
	}

	bool pop(T &item)
	{
		std::unique_lock<std::mutex> lock(mutex_);

		filled_.wait(lock, [this] { return is_closed_ || !items_.empty(); });
		if (items_.empty())
			return false;
		item = items_.front();
		items_.pop_front();
		return true;
	}

	void close()
	{
		std::lock_guard<std::mutex> guard(mutex_);
		is_closed_ = true;
		filled_.notify_one();
	}
};

#endif
