// AddRule, which registers the ops of an update rule. An update rule is what an optimizer does to a variable, such as
// ApplyAdam.
#ifndef TENSORBRAID_OPS_TRAINING_RULE_H_
#define TENSORBRAID_OPS_TRAINING_RULE_H_

#include <source_location>
#include <string>
#include <vector>

#include "graph/model/op_registry.h"

namespace tensorbraid {

enum RuleForms {
  kBoth,         // an op for variables by reference and an op with resource handles
  kResourceOnly  // only the op with resource handles
};

// Registers the op `name`, which takes variables by reference (only with kBoth), and the op "Resource" + `name`, which
// takes resource handles ("_ResourceApplyX" for "_ApplyX"). `inputs` lists the names of the inputs, separated by
// spaces. A name that ends in "*" is a variable; "indices" has type Tindices, "global_step" and "accum_decay_step"
// int64, and all others T. `attrs` are added after use_locking.
void AddRule(OpRegistry& r, const std::string& name, const std::string& inputs,
             const std::vector<const char*>& attrs = {}, RuleForms forms = kBoth,
             std::source_location location = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_TRAINING_RULE_H_
