/* EXPECT: passed runs=500 needs=memory */
/* The twin of buffer_append: an append holds the locks of both buffers. */
#include <cassert>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <thread>

class StringBuffer
{
      public:
	explicit StringBuffer(const char *text) : length_(std::strlen(text))
	{
		std::memcpy(text_, text, length_);
	}

	std::size_t length() const
	{
		std::lock_guard<std::recursive_mutex> guard(mutex_);

		return length_;
	}

	void copy(std::size_t length, char *destination) const
	{
		std::lock_guard<std::recursive_mutex> guard(mutex_);

		assert(length <= length_);
		std::memcpy(destination, text_, length);
	}

	void truncate(std::size_t length)
	{
		std::lock_guard<std::recursive_mutex> guard(mutex_);

		if (length < length_)
			length_ = length;
	}

	void append(const StringBuffer &other)
	{
		std::scoped_lock guard(mutex_, other.mutex_);
		const std::size_t length = other.length();

		assert(length_ + length <= sizeof text_);
		other.copy(length, text_ + length_);
		length_ += length;
	}

	bool is(const char *text) const
	{
		return length_ == std::strlen(text) && std::memcmp(text_, text, length_) == 0;
	}

      private:
	mutable std::recursive_mutex mutex_;
	std::size_t length_;
	char text_[64];
};

static StringBuffer greeting("hello ");
static StringBuffer name("worldwide");

int main()
{
	std::thread writer([] { greeting.append(name); });
	std::thread editor([] {
		name.truncate(20);
		name.truncate(5);
	});

	writer.join();
	editor.join();
	assert(greeting.is("hello world") || greeting.is("hello worldwide"));
	return 0;
}
