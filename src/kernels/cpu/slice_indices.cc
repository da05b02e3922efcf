#include "runtime/variables/slice_indices.h"

#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/elements.h"

namespace tensorbraid {
namespace {

// Calls f with the elements of `t` in their integer type.
template <typename F>
StatusOr<std::vector<int64_t>> WithIntegers(const Tensor& t, const F& f) {
  switch (t.dtype()) {
    case DType::kInt16:
      return f(t.data<int16_t>());
    case DType::kUint16:
      return f(t.data<uint16_t>());
    case DType::kInt32:
      return f(t.data<int32_t>());
    case DType::kInt64:
      return f(t.data<int64_t>());
    default:
      return InvalidArgument("indices must be integers, got ", t.dtype());
  }
}

}  // namespace

StatusOr<bool> IgnoresBadIndices(const Node& node) {
  const AttrValue* attr = node.FindAttr("bad_indices_policy");
  if (attr == nullptr || attr->get<std::string>() == nullptr) return false;
  const std::string& policy = *attr->get<std::string>();
  if (policy == "IGNORE") return true;
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR") return false;
  return InvalidArgument("bad_indices_policy must be DEFAULT, ERROR or IGNORE, got '", policy, "'");
}

StatusOr<Shape> SlicesShape(const Shape& indices, const Shape& shape, const std::string& what) {
  if (indices.rank() < 1) return InvalidArgument("the indices must have rank 1 or more, got a scalar");
  const int64_t depth = indices.dim(indices.rank() - 1);
  if (depth > shape.rank()) {
    return InvalidArgument("the last dimension of indices is ", depth, ", which exceeds the rank of ", what, " ",
                           shape);
  }
  Shape slices(indices.dims().first(indices.rank() - 1));
  for (int d = static_cast<int>(depth); d < shape.rank(); ++d) slices.AddDim(shape.dim(d));
  return slices;
}

StatusOr<std::vector<int64_t>> SlicesOf(const Tensor& indices, const Shape& shape, bool ignore,
                                        const std::string& what) {
  const Shape& is = indices.shape();
  const int depth = static_cast<int>(is.dim(is.rank() - 1));
  return WithIntegers(indices, [&](const auto index) -> StatusOr<std::vector<int64_t>> {
    std::vector<int64_t> slices(SizeOf(is, 0, is.rank() - 1), 0);
    for (size_t i = 0; i < slices.size(); ++i) {
      const auto of_slice = index.subspan(i * depth, depth);
      for (int d = 0; d < depth; ++d) {
        const auto at = static_cast<int64_t>(of_slice[d]);
        if (at >= 0 && at < shape.dim(d)) {
          slices[i] = slices[i] * shape.dim(d) + at;
          continue;
        }
        if (!ignore) {
          const std::vector<int64_t> coordinates(of_slice.begin(), of_slice.end());
          return cpu::SliceOutOfRange(is, static_cast<int64_t>(i), coordinates, what, shape);
        }
        slices[i] = -1;
        break;
      }
    }
    return slices;
  });
}

StatusOr<std::vector<int64_t>> RowsOf(const Tensor& indices, int64_t num_rows, const std::string& what) {
  return WithIntegers(indices, [&](const auto index) -> StatusOr<std::vector<int64_t>> {
    for (size_t i = 0; i < index.size(); ++i) {
      const auto row = static_cast<int64_t>(index[i]);
      if (row < 0 || row >= num_rows) {
        return cpu::RowOutOfRange(static_cast<int64_t>(i), row, num_rows, what);
      }
    }
    return std::vector<int64_t>(index.begin(), index.end());
  });
}

}  // namespace tensorbraid
