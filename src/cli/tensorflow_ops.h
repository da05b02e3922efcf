// The ops that TensorFlow registers and this build lacks, with the reasons.
#ifndef TENSORBRAID_CLI_TENSORFLOW_OPS_H_
#define TENSORBRAID_CLI_TENSORFLOW_OPS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tensorbraid {

// An op of TensorFlow's registry, and facts that the registry gives about this op.
struct TensorFlowOp {
  enum Fact : unsigned { kDeprecated = 1, kForTests = 2, kNoCpuKernel = 4 };

  std::string_view name;
  unsigned facts = 0;  // bits of Fact
};

// All ops that TensorFlow registers, in order of name.
std::span<const TensorFlowOp> TensorFlowOps();

// Ops that are missing for one reason.
struct MissingOps {
  std::string heading;
  std::string reason = {};
  std::vector<std::string> patterns = {};  // of the names; a "*" stands for any text
  unsigned facts = 0;                      // an op with any of these facts matches, too
  std::vector<std::string> names = {};     // the missing ops, in order of name
};

// The missing ops, grouped by reason. An op is listed once, under the first reason that applies. Ops to which no reason
// applies come last, under a reason without patterns and facts.
std::vector<MissingOps> OpsMissingHere();

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_TENSORFLOW_OPS_H_
