// Kernels that check values (Assert, CheckNumerics), print them, or return the time.
#include "core/text/logging.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>

#include "core/system/env.h"
#include "core/text/strings.h"
#include "kernels/cpu/element_errors.h"
#include "kernels/cpu/numbers.h"
#include "kernels/cpu/summary/summarize.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

// Formats the inputs from `first` on, with at most `summarize` elements of each (-1 for all).
std::string Describe(KernelContext& ctx, int first, int64_t summarize, const char* separator) {
  std::string text;
  for (int i = first; i < ctx.num_inputs(); ++i) {
    text += StrCat(i > first ? separator : "", "[", cpu::SummarizeElements(ctx.input(i), summarize), "]");
  }
  return text;
}

Status Assert(KernelContext& ctx) {
  if (ctx.input(0).num_elements() != 1) {
    return InvalidArgument("the condition must be a scalar, got shape ", ctx.input(0).shape());
  }
  if (ctx.input(0).data<bool>()[0]) return OkStatus();
  return InvalidArgument("assertion failed: ", Describe(ctx, 1, ctx.node().attr<int64_t>("summarize"), " "));
}

// Writes a line with one call, so that lines of different threads do not mix.
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
      WriteTo(stderr, StrCat(message_, Describe(ctx, 1, summarize_, ""), "\n"));
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

// Writes text to a standard stream or to the log, or appends it to a file ("file://PATH").
Status Print(const std::string& stream, const std::string& text) {
  constexpr std::string_view kFile = "file://";
  if (stream == "stdout" || stream == "stderr") {
    WriteTo(stream == "stdout" ? stdout : stderr, text);
  } else if (stream == "log(info)") {
    TB_LOG(Info, "kernels") << text;
  } else if (stream == "log(warning)") {
    TB_LOG(Warning, "kernels") << text;
  } else if (stream == "log(error)") {
    TB_LOG(Error, "kernels") << text;
  } else if (stream.starts_with(kFile)) {
    TF_ASSIGN_OR_RETURN(const auto file,
                        Env::Default().OpenWritable(stream.substr(kFile.size()), Env::WriteMode::kAppend));
    TF_RETURN_IF_ERROR(file->Append(text));
    TF_RETURN_IF_ERROR(file->Close());
  } else {
    return InvalidArgument("cannot print to '", stream,
                           "'; expected stdout, stderr, log(info), log(warning), log(error) or file://PATH");
  }
  return OkStatus();
}

Status PrintV2(KernelContext& ctx) {
  if (ctx.input(0).shape().rank() != 0) {
    return InvalidArgument("the text must be a scalar, got shape ", ctx.input(0).shape());
  }
  return Print(ctx.node().attr<std::string>("output_stream"),
               ctx.input(0).data<std::string>()[0] + ctx.node().attr<std::string>("end"));
}

// If `kSigns`, the message distinguishes positive and negative infinities.
template <typename T, bool kSigns>
Status CheckNumerics(KernelContext& ctx) {
  bool nan = false;
  bool positive = false;
  bool negative = false;
  for (const T& v : ctx.input(0).data<T>()) {
    const auto x = static_cast<ComputeType<T>>(v);
    nan = nan || std::isnan(x);
    positive = positive || (std::isinf(x) && x > 0);
    negative = negative || (std::isinf(x) && x < 0);
  }
  if (nan || positive || negative) {
    return cpu::NotFinite(ctx.node().attr<std::string>("message"), kSigns, negative, positive, nan);
  }
  ctx.set_output(0, ctx.TakeInput(0));
  return OkStatus();
}

Status Timestamp(KernelContext& ctx) {
  ctx.set_output(0, Tensor::Scalar(WallClock::Seconds()));
  return OkStatus();
}

}  // namespace

void RegisterLoggingKernels(KernelRegistry& r) {
  r.Add("Assert", {}, Assert);
  r.Add<PrintKernel>("Print");
  r.Add("PrintV2", {}, PrintV2);
  ForEachType<float, double, Float16, Bfloat16>([&]<typename T>() {
    r.Add("CheckNumerics", {{"T", {DTypeOf<T>::value}}}, CheckNumerics<T, /*kSigns=*/false>);
    r.Add("CheckNumericsV2", {{"T", {DTypeOf<T>::value}}}, CheckNumerics<T, /*kSigns=*/true>);
  });
  r.Add("Timestamp", {}, Timestamp);
}

}  // namespace tensorbraid::cpu
