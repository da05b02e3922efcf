// Regular expressions in RE2's syntax. The time of a match is linear in the length of the text for any pattern.
#include <re2/re2.h>

#include "core/text/strings.h"
#include "kernels/cpu/costs.h"
#include "kernels/cpu/string/string.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::cpu {
namespace {

StatusOr<std::unique_ptr<RE2>> Compile(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_unique<RE2>(pattern, options);
  if (!regex->ok()) return InvalidArgument("invalid pattern '", pattern.substr(0, 200), "': ", regex->error());
  return regex;
}

// Caches the compiled pattern. A pattern that is an input is usually the same in every step, and compiling it takes
// most of the time.
class PatternKernel : public Kernel {
 protected:
  StatusOr<std::shared_ptr<const RE2>> Compiled(const std::string& pattern) {
    MutexLock lock(mu_);
    if (regex_ == nullptr || regex_->pattern() != pattern) {
      TF_ASSIGN_OR_RETURN(regex_, Compile(pattern));
    }
    return regex_;
  }

 private:
  Mutex mu_;
  std::shared_ptr<const RE2> regex_ TB_GUARDED_BY(mu_);
};

Status Replace(KernelContext& ctx, const RE2& regex, const std::string& rewrite, bool global) {
  return MapStrings<std::string>(ctx, [&](const std::string& s) -> StatusOr<std::string> {
    // Checks an upper bound of the result's size: there are at most size + 1 matches, and each character of the rewrite
    // may insert a whole match.
    if ((static_cast<int64_t>(s.size()) + 1) > kMaxStringBytes / (static_cast<int64_t>(rewrite.size()) + 1)) {
      return ResourceExhausted("replacing in a string of ", s.size(), " bytes with a rewrite of ", rewrite.size(),
                               " bytes could exceed the limit of ", kMaxStringBytes, " bytes");
    }
    std::string text = s;
    if (global) {
      RE2::GlobalReplace(&text, regex, rewrite);
    } else {
      RE2::Replace(&text, regex, rewrite);
    }
    return text;
  });
}

Status FullMatch(KernelContext& ctx, const RE2& regex) {
  return MapStrings<bool>(ctx, [&](const std::string& s) { return RE2::FullMatch(s, regex); });
}

class RegexReplaceKernel final : public PatternKernel {
 public:
  explicit RegexReplaceKernel(const KernelConstruction& c) : global_(c.attr<bool>("replace_global")) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const std::string* pattern, TextOf(ctx, 1, "the pattern"));
    TF_ASSIGN_OR_RETURN(const std::string* rewrite, TextOf(ctx, 2, "the rewrite"));
    TF_ASSIGN_OR_RETURN(const auto regex, Compiled(*pattern));
    return Replace(ctx, *regex, *rewrite, global_);
  }

 private:
  const bool global_;
};

class RegexFullMatchKernel final : public PatternKernel {
 public:
  explicit RegexFullMatchKernel(const KernelConstruction&) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const std::string* pattern, TextOf(ctx, 1, "the pattern"));
    TF_ASSIGN_OR_RETURN(const auto regex, Compiled(*pattern));
    return FullMatch(ctx, *regex);
  }
};

class StaticRegexReplaceKernel final : public PatternKernel {
 public:
  explicit StaticRegexReplaceKernel(const KernelConstruction& c)
      : pattern_(c.attr<std::string>("pattern")),
        rewrite_(c.attr<std::string>("rewrite")),
        global_(c.attr<bool>("replace_global")) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const auto regex, Compiled(pattern_));
    return Replace(ctx, *regex, rewrite_, global_);
  }

 private:
  const std::string pattern_;
  const std::string rewrite_;
  const bool global_;
};

class StaticRegexFullMatchKernel final : public PatternKernel {
 public:
  explicit StaticRegexFullMatchKernel(const KernelConstruction& c) : pattern_(c.attr<std::string>("pattern")) {}
  Status Compute(KernelContext& ctx) override {
    TF_ASSIGN_OR_RETURN(const auto regex, Compiled(pattern_));
    return FullMatch(ctx, *regex);
  }

 private:
  const std::string pattern_;
};

}  // namespace

void RegisterStringRegexKernels(KernelRegistry& r) {
  r.Add<RegexReplaceKernel>("RegexReplace", {}, cpu::ElementCost<500'000>);
  r.Add<RegexFullMatchKernel>("RegexFullMatch", {}, cpu::ElementCost<500'000>);
  r.Add<StaticRegexReplaceKernel>("StaticRegexReplace", {}, cpu::ElementCost<500'000>);
  r.Add<StaticRegexFullMatchKernel>("StaticRegexFullMatch", {}, cpu::ElementCost<500'000>);
}

}  // namespace tensorbraid::cpu
