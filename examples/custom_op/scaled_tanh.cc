// A library with one op: ScaledTanh computes scale * tanh(x), element by element.
#include <tensorbraid/custom_op.h>
#include <tensorbraid/ops/math.h>

#include <cmath>

namespace {

namespace tf = tensorbraid;

tf::Status ShapeRule(tf::OpShapeContext& c) {
  c.set_output(0, c.input(0));
  return tf::OkStatus();
}

// The derivative of y = scale * tanh(x) is scale - y * y / scale.
std::vector<tf::Output> Gradient(const tf::Operation& op, const std::vector<tf::Output>& grads) {
  const float scale = *op.attr("scale")->get<float>();
  return {grads[0] * (scale - tf::Square(op.output(0)) / scale)};
}

template <typename T>
class ScaledTanhKernel : public tf::OpKernel {
 public:
  // Attributes that do not fit are an error of the node.
  static tf::StatusOr<std::unique_ptr<tf::OpKernel>> Create(const tf::OpKernelConstruction& c) {
    const float scale = c.attr<float>("scale");
    if (scale == 0) return absl::InvalidArgumentError("scale must not be 0");
    return std::unique_ptr<tf::OpKernel>(new ScaledTanhKernel(scale));
  }

  tf::Status Compute(tf::OpKernelContext& c) override {
    const tf::Tensor& x = c.input(0);
    // Element n of y depends on element n of x alone, so y may take the memory of x.
    TF_ASSIGN_OR_RETURN(tf::Tensor * y, c.ForwardOrAllocateOutput({0}, 0, x.shape()));
    const T* from = x.data<T>().data();
    T* to = static_cast<T*>(y->mutable_raw_data());
    constexpr double kNsPerElement = 5;
    c.ParallelFor(x.num_elements(), kNsPerElement, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = scale_ * std::tanh(from[i]);
    });
    return tf::OkStatus();
  }

 private:
  explicit ScaledTanhKernel(float scale) : scale_(static_cast<T>(scale)) {}
  const T scale_;
};

}  // namespace

TENSORBRAID_OP_LIBRARY(library) {
  library.Add(tf::CustomOp("ScaledTanh")
                  .Input("x: T")
                  .Output("y: T")
                  .Attr("T: {float, double}")
                  .Attr("scale: float = 1.0")
                  .Doc("Computes scale * tanh(x), element by element.")
                  .Shape(ShapeRule)
                  .Gradient(Gradient)
                  .Cost(20)
                  .Kernel<ScaledTanhKernel<float>>({{"T", {tf::kFloat32}}})
                  .Kernel<ScaledTanhKernel<double>>({{"T", {tf::kFloat64}}}));
}
