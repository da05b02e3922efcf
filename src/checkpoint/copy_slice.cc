#include "checkpoint/copy_slice.h"

#include <cstring>
#include <vector>

namespace tensorbraid {
namespace {

// Index of the first element of `what` in a tensor that holds `slice`.
int64_t FirstElement(const TensorSlice& slice, const TensorSlice& what) {
  int64_t index = 0;
  for (int i = 0; i < slice.rank(); ++i) {
    index = index * slice.extent(i).length + what.extent(i).start - slice.extent(i).start;
  }
  return index;
}

// Number of elements between neighbours in each dimension.
std::vector<int64_t> Strides(const TensorSlice& slice) {
  std::vector<int64_t> strides(static_cast<size_t>(slice.rank()), 1);
  for (int i = slice.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * slice.extent(i + 1).length;
  return strides;
}

}  // namespace

void CopySlice(const Tensor& from, const TensorSlice& from_slice, const TensorSlice& what, const TensorSlice& to_slice,
               Tensor* to) {
  const int rank = what.rank();
  const int64_t row = rank == 0 ? 1 : what.extent(rank - 1).length;
  const std::vector<int64_t> from_strides = Strides(from_slice);
  const std::vector<int64_t> to_strides = Strides(to_slice);
  int64_t source = FirstElement(from_slice, what);
  int64_t target = FirstElement(to_slice, what);
  std::vector<int64_t> position(static_cast<size_t>(rank), 0);
  const size_t size = DTypeSize(from.dtype());
  while (true) {
    if (from.dtype() == kString) {
      const auto strings = from.data<std::string>().subspan(static_cast<size_t>(source), static_cast<size_t>(row));
      std::copy(strings.begin(), strings.end(), to->inplace_data<std::string>().begin() + target);
    } else {
      std::memcpy(static_cast<char*>(to->inplace_raw_data()) + static_cast<size_t>(target) * size,
                  static_cast<const char*>(from.raw_data()) + static_cast<size_t>(source) * size,
                  static_cast<size_t>(row) * size);
    }
    // Goes to the next row.
    int d = rank - 2;
    for (; d >= 0; --d) {
      source += from_strides[d];
      target += to_strides[d];
      if (++position[d] < what.extent(d).length) break;
      source -= from_strides[d] * position[d];
      target -= to_strides[d] * position[d];
      position[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace tensorbraid
