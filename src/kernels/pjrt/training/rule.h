// Emitters of update rules of whole variables: of the op for references (ApplyAdam) and of that for handles
// (ResourceApplyAdam), from one formula. kernels/cpu/training/training_kernel.h has the same rules for the CPU.
#ifndef TENSORBRAID_KERNELS_PJRT_TRAINING_RULE_H_
#define TENSORBRAID_KERNELS_PJRT_TRAINING_RULE_H_

#include <source_location>
#include <string>
#include <vector>

#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/expression.h"

namespace tensorbraid::pjrt {

// What a formula reads and changes, in the dtype in which the elements are computed.
struct RuleStep {
  const EmitContext& ctx;
  Expr grad;
  std::vector<Expr> scalars;    // in the order of the rule's list
  std::vector<Expr> variables;  // likewise; the formula sets the new values
  template <typename T>
  const T& attr(std::string_view name) const {
    return ctx.attr<T>(name);
  }
};

struct UpdateRule {
  std::string op;                      // for references: "ApplyAdam"
  std::vector<std::string> variables;  // names of inputs
  std::vector<std::string> scalars;
  void (*step)(RuleStep& s);
};

void AddRule(EmitterRegistry& r, const UpdateRule& rule, DTypeSet types = kFloats,
             std::source_location location = std::source_location::current());

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_KERNELS_PJRT_TRAINING_RULE_H_
