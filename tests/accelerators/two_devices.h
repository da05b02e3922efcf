// The devices of the sessions of these tests. A process has as many devices of a type as its first session asks for.
#ifndef TENSORBRAID_TESTS_ACCELERATORS_TWO_DEVICES_H_
#define TENSORBRAID_TESTS_ACCELERATORS_TWO_DEVICES_H_

#include "tensorbraid/session/session.h"

namespace tensorbraid {

inline const SessionOptions kTwoDevices{.device_count = {{"XLA_CPU", 2}}};

}  // namespace tensorbraid

#endif  // TENSORBRAID_TESTS_ACCELERATORS_TWO_DEVICES_H_
