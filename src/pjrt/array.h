// Arrays in the memory of a device.
#ifndef TENSORBRAID_PJRT_ARRAY_H_
#define TENSORBRAID_PJRT_ARRAY_H_

#include <cstddef>

#include "pjrt/c_api.h"
#include "pjrt/event.h"
#include "tensorbraid/core/buffer.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid::pjrt {

class Client;

// Elements in the memory of a device: a buffer of the plugin. They are the result of a copy or of a program, which may
// still be running, and never change, except that a program may consume an array and use its memory for an output
// (donation). So code that wants a copy shares the array. Thread-safe, except that nothing else may use an array while
// a program consumes it.
class Array final : public RefCounted {
 public:
  // Takes over `buffer`.
  Array(const Client& client, c_api::Buffer* buffer, int device);

  const Client& client() const { return client_; }
  int device() const { return device_; }
  c_api::Buffer* get() const { return buffer_; }

  // Copies the elements to host memory of exactly their size. The memory must exist until the event has happened, which
  // also brings the error of the program that makes the array. Does not block for the copy.
  StatusOr<Event> ToHost(void* out, size_t size) const;
  // When the elements are there.
  StatusOr<Event> Ready() const;
  // A copy in the memory of another device. Does not block for the copy. REQUIRES: the device exists.
  StatusOr<RefPtr<Array>> CopyTo(int device) const;
  // Whether a program has consumed the array. All uses then return an error.
  StatusOr<bool> IsConsumed() const;

 private:
  ~Array() override;
  const Client& client_;
  c_api::Buffer* const buffer_;
  const int device_;
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_ARRAY_H_
