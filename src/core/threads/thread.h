// The class with which the library starts threads.
#ifndef TENSORBRAID_CORE_THREADS_THREAD_H_
#define TENSORBRAID_CORE_THREADS_THREAD_H_

#include <functional>
#include <memory>
#include <string>

namespace tensorbraid {

// A thread with a name, which debuggers and `top -H` show up to its 15th character. It is started by Env::StartThread.
// Used like std::thread: Join or Detach must be called before the destructor. Not thread-safe.
class Thread {
 public:
  // What Env::StartThread returns. Exactly one of Join and Detach is called, once.
  class Handle {
   public:
    virtual ~Handle() = default;
    virtual void Join() = 0;
    virtual void Detach() = 0;
  };

  Thread() = default;
  Thread(const std::string& name, std::function<void()> body);
  ~Thread() { CheckNotJoinable(); }
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept {
    CheckNotJoinable();
    handle_ = std::move(other.handle_);
    return *this;
  }

  bool joinable() const { return handle_ != nullptr; }
  // Blocks until the thread has ended.
  void Join();
  // Lets the thread run on its own.
  void Detach();

 private:
  void CheckNotJoinable() const;
  std::unique_ptr<Handle> handle_;
};

// The number of threads that can run at the same time, at least 1.
int NumCores();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_THREADS_THREAD_H_
