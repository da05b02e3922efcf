// The elements of a tensor, for tests.
#ifndef TENSORBRAID_CORE_TESTING_VALUES_OF_H_
#define TENSORBRAID_CORE_TESTING_VALUES_OF_H_

#include <vector>

#include "tensorbraid/core/tensor.h"

namespace tensorbraid {

// In the order in which the tensor stores them. REQUIRES: T is the type of its elements.
template <typename T>
std::vector<T> ValuesOf(const Tensor& t) {
  return {t.data<T>().begin(), t.data<T>().end()};
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_CORE_TESTING_VALUES_OF_H_
