#include "ops/image/image_size.h"

#include "core/text/strings.h"

namespace tensorbraid {

Status SetImageSize(ShapeContext& c, int input, const char* name, Shape* images) {
  TF_ASSIGN_OR_RETURN(const Shape size, c.WithRank(input, 1));
  if (!size.IsCompatibleWith({2})) return InvalidArgument(name, " must have two elements, got shape ", size);
  const Tensor value = c.input_value(input);
  for (int i = 0; i < 2; ++i) {
    int64_t side = Shape::kUnknownDim;
    if (value.is_valid()) {
      side = value.data<int32_t>()[static_cast<size_t>(i)];
      if (side < 0) return InvalidArgument(name, " must not be negative, got ", value.ToString());
    }
    images->set_dim(1 + i, side);
  }
  return OkStatus();
}

}  // namespace tensorbraid
