/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: string buffer (all methods lock; an append makes two steps on the other buffer).
 *
 * Fails when: main.1 truncates name after main.0 has read name.length_ and before it copies as many characters.
 *
 * EXPECT-PATTERN: R1-W2-R1 name.length_ @length @truncate @copy
 * EXPECT-VIOLATION: R1-W2-R1 StringBuffer::append StringBuffer::truncate @length @truncate @copy
 * EXPECT-BRANCH: assert(length <= length_); [bug]
 * EXPECT-BRANCH: return length_ == std::strlen(text) && std::memcmp(text_, text, length_) == 0; [benign]
 */
#include <cassert>
#include <cstddef>
#include <cstdlib>
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

		return length_; /* @length */
	}

	void copy(std::size_t length, char *destination) const
	{
		std::lock_guard<std::recursive_mutex> guard(mutex_);

		assert(length <= length_); /* @copy */
		std::memcpy(destination, text_, length);
	}

	void truncate(std::size_t length)
	{
		std::lock_guard<std::recursive_mutex> guard(mutex_);

		if (length < length_)
			length_ = length; /* @truncate */
	}

	void append(const StringBuffer &other)
	{
		std::lock_guard<std::recursive_mutex> guard(mutex_);
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

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart()
{
	static std::mutex own;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--)
		std::lock_guard<std::mutex> guard(own);
}

int main(int count, char **arguments)
{
	steps_apart = count > 1 ? std::atol(arguments[1]) : 0;
	std::thread writer([] { greeting.append(name); });
	std::thread editor([] {
		stay_apart();
		name.truncate(20);
		name.truncate(5);
	});

	writer.join();
	editor.join();
	assert(greeting.is("hello world") || greeting.is("hello worldwide"));
	return 0;
}
