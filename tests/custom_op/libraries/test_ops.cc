// Ops for tests: one that fails in the way that its attribute says, and one that TensorFlow has and Tensorbraid has
// not.
#include <tensorbraid/custom_op.h>

#include <limits>
#include <stdexcept>

namespace {

namespace tf = tensorbraid;

tf::Status ComputeMayFail(tf::OpKernelContext& c) {
  const std::string& how = c.attr<std::string>("how");
  if (how == "error") return absl::DataLossError("the kernel's own error");
  if (how == "throw") throw std::runtime_error("the kernel's own exception");
  c.set_output(0, c.input(0));
  return tf::OkStatus();
}

tf::Status NearestNeighborsShape(tf::OpShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const tf::Shape points, c.WithRank(0, 2));
  TF_RETURN_IF_ERROR(c.WithRank(1, 2));
  TF_RETURN_IF_ERROR(c.WithRank(2, 0));
  for (int i = 0; i < 2; ++i) c.set_output(i, tf::Shape({points.dims()[0], tf::Shape::kUnknownDim}));
  return tf::OkStatus();
}

// For k = 1 only.
tf::Status ComputeNearestNeighbors(tf::OpKernelContext& c) {
  const tf::Tensor& points = c.input(0);
  const tf::Tensor& centers = c.input(1);
  if (points.shape().rank() != 2 || centers.shape().rank() != 2 ||
      points.shape().dims()[1] != centers.shape().dims()[1]) {
    return absl::InvalidArgumentError("points and centers must be matrices with equally many columns");
  }
  if (c.input(2).num_elements() != 1 || c.input(2).data<int64_t>()[0] != 1) {
    return absl::UnimplementedError("k must be 1");
  }
  const int64_t rows = points.shape().dims()[0], columns = points.shape().dims()[1];
  TF_ASSIGN_OR_RETURN(tf::Tensor * nearest, c.AllocateOutput(0, tf::Shape({rows, 1})));
  TF_ASSIGN_OR_RETURN(tf::Tensor * distances, c.AllocateOutput(1, tf::Shape({rows, 1})));
  for (int64_t row = 0; row < rows; ++row) {
    float best = std::numeric_limits<float>::infinity();
    int64_t best_center = 0;
    for (int64_t center = 0; center < centers.shape().dims()[0]; ++center) {
      float distance = 0;
      for (int64_t i = 0; i < columns; ++i) {
        const float d = points.data<float>()[row * columns + i] - centers.data<float>()[center * columns + i];
        distance += d * d;
      }
      if (distance < best) {
        best = distance;
        best_center = center;
      }
    }
    nearest->mutable_data<int64_t>()[row] = best_center;
    distances->mutable_data<float>()[row] = best;
  }
  return tf::OkStatus();
}

}  // namespace

TENSORBRAID_OP_LIBRARY(library) {
  library.Add(tf::CustomOp("MayFail")
                  .Input("x: T")
                  .Output("y: T")
                  .Attr("T: type")
                  .Attr("how: {'no', 'error', 'throw'} = 'no'")
                  .Stateful()
                  .KernelFunction({}, ComputeMayFail));
  library.Add(tf::CustomOp("NearestNeighbors")
                  .Input("points: float")
                  .Input("centers: float")
                  .Input("k: int64")
                  .Output("nearest_center_indices: int64")
                  .Output("nearest_center_distances: float")
                  .Shape(NearestNeighborsShape)
                  .KernelFunction({}, ComputeNearestNeighbors));
}
