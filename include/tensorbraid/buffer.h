// Reference-counted memory that tensors share.
#ifndef TENSORBRAID_BUFFER_H_
#define TENSORBRAID_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <utility>

namespace tensorbraid {

// Base of objects that count their own references. Thread-safe.
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void Ref() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // True when the caller's reference is the only one: nobody else can then see or take another.
  bool IsUnique() const { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  RefCounted() = default;
  virtual ~RefCounted() = default;

 private:
  mutable std::atomic<int> count_{1};
};

// Owns one reference to a RefCounted.
template <typename T>
class RefPtr {
 public:
  RefPtr() = default;
  RefPtr(std::nullptr_t) {}  // NOLINT: as std::shared_ptr
  // Takes over the reference that `p` came with (a new object has one).
  static RefPtr Adopt(T* p) {
    RefPtr r;
    r.p_ = p;
    return r;
  }
  // Adds a reference.
  static RefPtr Share(T* p) {
    if (p != nullptr) p->Ref();
    return Adopt(p);
  }
  RefPtr(const RefPtr& o) : p_(o.p_) {
    if (p_ != nullptr) p_->Ref();
  }
  RefPtr(RefPtr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  template <typename U>
  RefPtr(RefPtr<U> o) noexcept : p_(o.release()) {}  // NOLINT: to a base class
  RefPtr& operator=(RefPtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~RefPtr() { reset(); }
  void reset() {
    if (p_ != nullptr) std::exchange(p_, nullptr)->Unref();
  }
  T* release() { return std::exchange(p_, nullptr); }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};

template <typename T, typename... Args>
RefPtr<T> MakeRef(Args&&... args) {
  return RefPtr<T>::Adopt(new T(std::forward<Args>(args)...));
}

// Where a buffer's bytes live. Only the host can read kHost; other spaces need their device's copy hook.
enum class MemorySpace { kHost };

// A block of memory, given back by the destructor of a derived class. Its bytes are immutable while shared: only the
// holder of the single reference may write.
class Buffer : public RefCounted {
 public:
  Buffer(void* data, size_t size, MemorySpace space = MemorySpace::kHost) : data_(data), size_(size), space_(space) {}
  void* data() const { return data_; }
  size_t size() const { return size_; }
  MemorySpace space() const { return space_; }

 private:
  void* const data_;
  const size_t size_;
  const MemorySpace space_;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_BUFFER_H_
