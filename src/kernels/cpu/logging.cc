#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>

#include "core/strings.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/register.h"

namespace tensorbraid {
namespace {

// Inputs [first, ...) as text, so many elements of each (-1: all).
std::string Describe(KernelContext& ctx, int first, int64_t summarize) {
  std::string text;
  for (int i = first; i < ctx.num_inputs(); ++i) {
    const int64_t all = ctx.input(i).num_elements();
    const int64_t max = summarize < 0 ? all : std::min(summarize, all);
    text += StrCat("[", ctx.input(i).ToString(static_cast<int>(std::min<int64_t>(max, 1 << 30))), "]");
  }
  return text;
}

Status Assert(KernelContext& ctx) {
  if (ctx.input(0).num_elements() != 1) {
    return InvalidArgument("the condition must be a scalar, got shape ", ctx.input(0).shape());
  }
  if (ctx.input(0).data<bool>()[0]) return OkStatus();
  return InvalidArgument("assertion failed: ", Describe(ctx, 1, ctx.node().attr<int64_t>("summarize")));
}

// Writes a line with one call, so that lines of several threads do not mix.
void WriteTo(std::FILE* file, const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), file);
  std::fflush(file);
}

class PrintKernel final : public Kernel {
 public:
  explicit PrintKernel(const KernelConstruction& c)
      : message_(c.attr<std::string>("message")),
        first_n_(c.attr<int64_t>("first_n")),
        summarize_(c.attr<int64_t>("summarize")) {}
  Status Compute(KernelContext& ctx) override {
    if (first_n_ < 0 || printed_.fetch_add(1, std::memory_order_relaxed) < first_n_) {
      WriteTo(stderr, StrCat(message_, Describe(ctx, 1, summarize_), "\n"));
    }
    ctx.set_output(0, ctx.TakeInput(0));
    return OkStatus();
  }

 private:
  const std::string message_;
  const int64_t first_n_;
  const int64_t summarize_;
  std::atomic<int64_t> printed_{0};
};

Status PrintV2(KernelContext& ctx) {
  if (ctx.input(0).num_elements() != 1) {
    return InvalidArgument("the text must be a scalar, got shape ", ctx.input(0).shape());
  }
  const auto& stream = ctx.node().attr<std::string>("output_stream");
  if (stream != "stdout" && stream != "stderr" && !stream.starts_with("log(")) {
    return InvalidArgument("cannot print to '", stream, "'; stdout and stderr are possible");
  }
  WriteTo(stream == "stdout" ? stdout : stderr,
          ctx.input(0).data<std::string>()[0] + ctx.node().attr<std::string>("end"));
  return OkStatus();
}

template <typename T>
Status CheckNumerics(KernelContext& ctx) {
  bool nan = false;
  bool infinite = false;
  for (const T& v : ctx.input(0).data<T>()) {
    const auto x = static_cast<ComputeType<T>>(v);
    nan = nan || std::isnan(x);
    infinite = infinite || std::isinf(x);
  }
  if (nan || infinite) {
    return InvalidArgument(ctx.node().attr<std::string>("message"), " : Tensor had ",
                           nan && infinite ? "Inf and NaN"
                           : nan           ? "NaN"
                                           : "Inf",
                           " values");
  }
  ctx.set_output(0, ctx.TakeInput(0));
  return OkStatus();
}

}  // namespace

void RegisterLoggingKernels(KernelRegistry& r) {
  r.Add("Assert", {}, Assert);
  r.Add<PrintKernel>("Print");
  r.Add("PrintV2", {}, PrintV2);
  r.Add("CheckNumerics", {{"T", {kFloat32}}}, CheckNumerics<float>);
  r.Add("CheckNumerics", {{"T", {kFloat64}}}, CheckNumerics<double>);
  r.Add("CheckNumerics", {{"T", {kFloat16}}}, CheckNumerics<Float16>);
  r.Add("CheckNumerics", {{"T", {kBfloat16}}}, CheckNumerics<Bfloat16>);
}

}  // namespace tensorbraid
