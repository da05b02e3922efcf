// Declares the schemas of update rules.
#ifndef TENSORBRAID_OPS_TRAINING_RULE_H_
#define TENSORBRAID_OPS_TRAINING_RULE_H_

#include <source_location>
#include <string>
#include <vector>

#include "graph/op_registry.h"

namespace tensorbraid {

enum RuleForms { kBoth, kResourceOnly };

// Adds one rule. `inputs` lists the names of the inputs, separated by spaces. A name that ends in "*" is a variable;
// "indices" has type Tindices, "global_step" int64, and all others T. `attrs` are added after use_locking.
void AddRule(OpRegistry& r, const std::string& name, const std::string& inputs,
             const std::vector<const char*>& attrs = {}, RuleForms forms = kBoth,
             std::source_location location = std::source_location::current());

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_TRAINING_RULE_H_
