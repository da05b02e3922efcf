// The device of the fake plugin (pjrt/testing/fake_plugin.h), as these tests name it.
#ifndef TENSORBRAID_TESTS_ACCELERATORS_FAKE_DEVICE_H_
#define TENSORBRAID_TESTS_ACCELERATORS_FAKE_DEVICE_H_

namespace tensorbraid {

inline constexpr const char* kDevice = "/device:XLA_CPU:0";

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_ACCELERATORS_FAKE_DEVICE_H_
