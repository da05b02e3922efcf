// Lets the fake plugin fail at one call after the other.
#ifndef TENSORBRAID_PJRT_TESTING_FAILING_CALLS_H_
#define TENSORBRAID_PJRT_TESTING_FAILING_CALLS_H_

#include "pjrt/testing/fake_plugin.h"

namespace tensorbraid::pjrt {

// A test does the same work again and again: first its first call of the plugin fails, then its second one, and so on.
class FailingCalls {
 public:
  explicit FailingCalls(FakePluginControl& control) : control_(control) {}

  // Does `work` with its next call failing. Returns the name of this call. Null: all calls have failed once, since the
  // work has not made so many.
  template <typename Work>
  const char* Next(const Work& work) {
    control_.failed = nullptr;
    control_.fail_at = control_.calls + next_++;
    work();
    control_.fail_at = -1;
    return control_.failed;
  }
  // The number of the call that the following Next lets fail.
  int next() const { return next_; }

 private:
  FakePluginControl& control_;
  int next_ = 0;
};

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_TESTING_FAILING_CALLS_H_
