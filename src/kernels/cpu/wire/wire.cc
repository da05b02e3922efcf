// Converts tensors to the bytes that travel between tasks, and back.
#include "core/threads/mutex.h"
#include "kernels/cpu/wire/codec.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

constexpr double kWireBlockNs = 60;

// The sum of the parts that the tensors sent so far along one edge have lost. Steps that run at the same time use it
// one after the other.
class WireResidual final : public Resource {
 public:
  static constexpr const char* kTypeName = "wire residual";
  explicit WireResidual(std::string name) : name_(std::move(name)) {}

  // Calls `encode` with the residual, which is 0 at first and whenever the shape has changed.
  Status Use(const Shape& shape, absl::FunctionRef<void(float* residual)> encode) {
    MutexLock lock(mu_);
    if (!kept_.is_valid() || !(kept_.shape() == shape)) {
      kept_ = Tensor();
      TF_ASSIGN_OR_RETURN(kept_, Tensor::Create(kFloat32, shape));
      std::ranges::fill(kept_.inplace_data<float>(), 0.0F);
    }
    encode(kept_.inplace_data<float>().data());
    return OkStatus();
  }
  std::string DebugString() const override { return StrCat("residual of ", name_); }

 private:
  const std::string name_;
  Mutex mu_;
  Tensor kept_ TB_GUARDED_BY(mu_);
};

class WireEncodeKernel final : public Kernel {
 public:
  explicit WireEncodeKernel(const KernelConstruction& c)
      : wire_(WireOf(c.attr<std::string>("wire"))), residual_(c.attr<std::string>("residual")) {}

  Status Compute(KernelContext& ctx) override {
    TF_RETURN_IF_ERROR(wire_.status());
    const Tensor& x = ctx.input(0);
    const int64_t bytes = WireBytes(*wire_, x.shape());
    if (bytes < 0) return InvalidArgument("a tensor of shape ", x.shape(), " cannot be sent as ", WireName(*wire_));
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, {bytes}));
    const auto encode = [&](float* residual) {
      const WireEncoder encoder(*wire_, x.shape(), x.data<float>().data(), residual,
                                out->inplace_data<uint8_t>().data());
      if (!encoder.is_divisible()) return encoder.Encode(0, encoder.blocks());
      ctx.pool().ParallelFor(encoder.blocks(), kWireBlockNs,
                             [&](int64_t begin, int64_t end) { encoder.Encode(begin, end); });
    };
    if (residual_.empty() || !HasErrorFeedback(*wire_)) {
      encode(/*residual=*/nullptr);
      return OkStatus();
    }
    TF_ASSIGN_OR_RETURN(const auto residual, ctx.resources().LookupOrCreate<WireResidual>(
                                                 "", residual_, [this] { return MakeRef<WireResidual>(residual_); }));
    return residual->Use(x.shape(), encode);
  }

 private:
  const StatusOr<Wire> wire_;
  const std::string residual_;
};

class WireDecodeKernel final : public Kernel {
 public:
  explicit WireDecodeKernel(const KernelConstruction& c) : shape_(c.attr<Shape>("shape")) {}

  Status Compute(KernelContext& ctx) override {
    const std::span<const uint8_t> bytes = ctx.input(0).data<uint8_t>();
    TF_ASSIGN_OR_RETURN(const WireHeader header, ReadWireHeader(bytes));
    if (!header.shape.IsCompatibleWith(shape_)) {
      return InvalidArgument("the bytes hold a tensor of shape ", header.shape, " where ", shape_, " was expected");
    }
    TF_ASSIGN_OR_RETURN(Tensor * out, ctx.AllocateOutput(0, header.shape));
    float* const values = out->inplace_data<float>().data();
    const int64_t blocks = (out->num_elements() + kWireBlock - 1) / kWireBlock;
    if (header.wire == Wire::kTopK) return DecodeWire(header, bytes, 0, blocks, values);
    // Only kTopK can fail.
    ctx.pool().ParallelFor(blocks, kWireBlockNs, [&](int64_t begin, int64_t end) {
      DecodeWire(header, bytes, begin, end, values).IgnoreError();
    });
    return OkStatus();
  }

 private:
  const Shape shape_;
};

}  // namespace
}  // namespace tensorbraid::cpu

namespace tensorbraid::cpu {

void RegisterWireKernels(KernelRegistry& r) {
  r.Add<cpu::WireEncodeKernel>("_WireEncode");
  r.Add<cpu::WireDecodeKernel>("_WireDecode");
}

}  // namespace tensorbraid::cpu
