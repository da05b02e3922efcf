// For the tests of checkpoints.
#ifndef TENSORBRAID_CHECKPOINT_CHECKPOINT_TESTUTIL_H_
#define TENSORBRAID_CHECKPOINT_CHECKPOINT_TESTUTIL_H_

#include <string>

#include "checkpoint/tensor_slice.h"

namespace tensorbraid {

inline const std::string kTestdata = CHECKPOINT_TESTDATA;  // the folder of the files that TensorFlow has written

// REQUIRES: `text` spells a slice, such as "0,2:-".
inline TensorSlice Slice(const char* text) { return TensorSlice::Parse(text).value(); }

}  // namespace tensorbraid

#endif  // TENSORBRAID_CHECKPOINT_CHECKPOINT_TESTUTIL_H_
