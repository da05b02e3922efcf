// StringFormat: inserts tensors into a template.
#include "core/text/strings.h"
#include "kernels/cpu/string/string.h"
#include "kernels/cpu/summary/summarize.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

class FormatKernel final : public Kernel {
 public:
  explicit FormatKernel(const KernelConstruction& c) : summarize_(c.attr<int64_t>("summarize")) {
    const auto& text = c.attr<std::string>("template");
    const auto& placeholder = c.attr<std::string>("placeholder");
    size_t begin = 0;
    while (!placeholder.empty()) {
      const size_t end = text.find(placeholder, begin);
      if (end == std::string::npos) break;
      parts_.push_back(text.substr(begin, end - begin));
      begin = end + placeholder.size();
    }
    parts_.push_back(text.substr(begin));
  }
  Status Compute(KernelContext& ctx) override {
    if (static_cast<int>(parts_.size()) != ctx.num_inputs() + 1) {
      return InvalidArgument("the template has ", parts_.size() - 1, " placeholders, but the op has ", ctx.num_inputs(),
                             " inputs");
    }
    std::string text = parts_[0];
    for (int i = 0; i < ctx.num_inputs(); ++i) text += SummarizeEdges(ctx.input(i), summarize_) + parts_[i + 1];
    ctx.set_output(0, Tensor::Scalar(std::move(text)));
    return OkStatus();
  }

 private:
  const int64_t summarize_;
  std::vector<std::string> parts_;  // the text before, between and after the placeholders
};

}  // namespace

void RegisterStringFormatKernels(KernelRegistry& r) { r.Add<FormatKernel>("StringFormat"); }

}  // namespace tensorbraid::cpu
