/* An atomic word, in C and in C++. */
#ifdef __cplusplus
#include <atomic>
typedef std::atomic<int> word_atomic;
typedef std::atomic<bool> flag_atomic;
#define POINTER_ATOMIC(type) std::atomic<type *>
#define LOAD(word) (word).load()
#define STORE(word, value) (word).store(value)
#define EXCHANGE(word, value) (word).exchange(value)
#define ADD(word, value) (word).fetch_add(value)
#define REPLACE(word, expected, value) (word).compare_exchange_strong(expected, value)
#else
#include <stdatomic.h>
#include <stdbool.h>
typedef atomic_int word_atomic;
typedef atomic_bool flag_atomic;
#define POINTER_ATOMIC(type) _Atomic(type *)
#define LOAD(word) atomic_load(&(word))
#define STORE(word, value) atomic_store(&(word), value)
#define EXCHANGE(word, value) atomic_exchange(&(word), value)
#define ADD(word, value) atomic_fetch_add(&(word), value)
#define REPLACE(word, expected, value) atomic_compare_exchange_strong(&(word), &(expected), value)
#endif
