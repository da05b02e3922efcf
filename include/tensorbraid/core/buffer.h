// Reference-counted memory, shared by tensors.
#ifndef TENSORBRAID_CORE_BUFFER_H_
#define TENSORBRAID_CORE_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tensorbraid {

// Base class with an intrusive reference count. Thread-safe.
class RefCounted {
 public:
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;
  void Ref() const { count_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() const {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  // True when the caller holds the only reference. No other thread can then see the object or take a reference to it.
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
  RefPtr(std::nullptr_t) {}  // NOLINT: converts, as std::shared_ptr does
  // Takes over the caller's reference to `p` (a new object starts with one).
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
  RefPtr(RefPtr<U> o) noexcept : p_(o.release()) {}  // NOLINT: converts to a base class
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

class Allocator;

// The place of a buffer's bytes. The host can access bytes in kHost directly. Bytes in kDevice must be copied by the
// device.
enum class MemorySpace : uint8_t { kHost, kDevice };

// The properties of a buffer's memory.
struct BufferMemory {
  const Allocator* allocator = nullptr;  // null if the memory did not come from an allocator
  MemorySpace space = MemorySpace::kHost;
  bool writable = true;  // false if another process may read the bytes, even if this process has only one reference
  // The memory belongs to the caller of a step, who may change it after the step (Tensor::Borrow).
  bool borrowed = false;
};

// A block of memory, released by the destructor of a derived class. The bytes are immutable while the buffer is shared;
// only the holder of the single reference may write them, and only if the buffer is writable.
class Buffer : public RefCounted {
 public:
  Buffer(void* data, size_t size, const BufferMemory& memory = {}) : data_(data), size_(size), memory_(memory) {}
  void* data() const { return data_; }
  size_t size() const { return size_; }
  MemorySpace space() const { return memory_.space; }
  const Allocator* allocator() const { return memory_.allocator; }
  bool writable() const { return memory_.writable; }
  bool borrowed() const { return memory_.borrowed; }

  // Whether the program has a pointer through which it may write to the memory at any time (Tensor::mutable_data). Code
  // that keeps the tensor longer than a step then copies it. Set only while the buffer has one reference, so that reads
  // need no lock.
  bool exposed() const { return exposed_; }
  // REQUIRES: IsUnique().
  void set_exposed() { exposed_ = true; }
  // Whether a kernel of a custom op is computing these bytes: Tensor::mutable_data then neither copies them nor exposes
  // them. Set and cleared by the thread that runs the kernel, while no other thread has a reference.
  bool is_being_computed() const { return is_being_computed_; }
  void set_is_being_computed(bool is) { is_being_computed_ = is; }

 private:
  void* const data_;
  const size_t size_;
  const BufferMemory memory_;
  bool exposed_ = false;
  bool is_being_computed_ = false;
};

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_BUFFER_H_
