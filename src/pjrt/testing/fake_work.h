// What the fake plugin does later, what it counts, and which calls fail. Its names are in a namespace of their own,
// since the library that loads the plugin has some of them, too.
#ifndef TENSORBRAID_PJRT_TESTING_FAKE_WORK_H_
#define TENSORBRAID_PJRT_TESTING_FAKE_WORK_H_

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/c_api.h"
#include "pjrt/testing/fake_plugin.h"

namespace tensorbraid::pjrt {
namespace fake {
extern FakePluginControl control;
}  // namespace fake

namespace c_api {

using fake::control;

struct Error {
  Error(int code, std::string message) : code(code), message(std::move(message)) { ++control.errors; }
  Error(const Error& other) : code(other.code), message(other.message) { ++control.errors; }
  ~Error() { --control.errors; }
  const int code;
  const std::string message;
};

}  // namespace c_api

namespace fake {

using c_api::Error;

// Waits until programs may be compiled.
void WaitForCompiles();

// Counts a call, and makes its error if it is to fail.
Error* Fail(const char* name);

// Begins a function that may fail before it has done anything.
#define FAKE_MAY_FAIL(name) \
  if (Error* const made = Fail(name); made != nullptr) return made

inline Error* Invalid(const std::string& message) { return new Error(3, message); }

using ErrorValue = std::shared_ptr<const Error>;

// Something that happens once, which events and work wait for.
class Moment {
 public:
  void Happen(ErrorValue error) {
    std::vector<std::function<void(const ErrorValue&)>> callbacks;
    {
      std::lock_guard lock(mu_);
      happened_ = true;
      error_ = std::move(error);
      callbacks.swap(callbacks_);
    }
    cv_.notify_all();
    for (const auto& callback : callbacks) callback(error_);
  }
  ErrorValue Wait() {
    std::unique_lock lock(mu_);
    cv_.wait(lock, [this] { return happened_; });
    return error_;
  }
  bool happened() {
    std::lock_guard lock(mu_);
    return happened_;
  }
  void Then(std::function<void(const ErrorValue&)> callback) {
    {
      std::lock_guard lock(mu_);
      if (!happened_) return callbacks_.push_back(std::move(callback));
    }
    callback(error_);
  }

 private:
  std::mutex mu_;
  std::condition_variable cv_;
  bool happened_ = false;
  ErrorValue error_;
  std::vector<std::function<void(const ErrorValue&)>> callbacks_;
};

inline Error* Copy(const ErrorValue& error) { return error == nullptr ? nullptr : new Error(*error); }

// Bytes of a device. The stream's thread alone reads and writes them.
struct Block {
  explicit Block(size_t size) : size(size), bytes(new char[size]) {}
  ~Block() { std::fill_n(bytes.get(), size, char(0xDD)); }
  void Write(const void* from) {
    if (size > 0) std::memcpy(bytes.get(), from, size);
  }
  const size_t size;
  const std::unique_ptr<char[]> bytes;
};

// Enqueues work, which returns its error, behind the work that makes `inputs`. Work that is made to fail is not done.
void Enqueue(const char* name, std::vector<std::shared_ptr<Moment>> inputs, std::function<void()> work,
             std::function<void(ErrorValue)> done);

}  // namespace fake
}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_TESTING_FAKE_WORK_H_
