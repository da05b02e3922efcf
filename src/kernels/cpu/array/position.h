// The position of an element in a tensor, as text for messages.
#ifndef TENSORBRAID_KERNELS_CPU_ARRAY_POSITION_H_
#define TENSORBRAID_KERNELS_CPU_ARRAY_POSITION_H_

#include <algorithm>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "tensorbraid/core/shape.h"

namespace tensorbraid {

// "[1,2]" for element 5 of a tensor of shape [2,3]; "" for the element of a scalar.
inline std::string Position(const Shape& shape, int64_t element) {
  std::vector<std::string> at;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const int64_t size = std::max<int64_t>(shape.dim(d), 1);
    at.push_back(StrCat(element % size));
    element /= size;
  }
  std::reverse(at.begin(), at.end());
  return at.empty() ? "" : StrCat("[", StrJoin(at, ","), "]");
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_KERNELS_CPU_ARRAY_POSITION_H_
