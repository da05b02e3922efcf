// Says which growing tables an optimizer cannot train.
#ifndef TENSORBRAID_TRAIN_REPLICAS_REFUSED_TABLES_H_
#define TENSORBRAID_TRAIN_REPLICAS_REFUSED_TABLES_H_

#include <string>
#include <vector>

#include "core/text/strings.h"
#include "tensorbraid/optimizers/optimizer.h"

namespace tensorbraid {

// Returns Unimplemented if one of the variables with a gradient is a growing table. `self` names the optimizer and the
// user's line, and `way` says how it would train the table.
inline Status RefuseTables(const std::vector<GradAndVar>& grads, const std::string& self, const std::string& way) {
  for (const GradAndVar& g : grads) {
    if (!g.grad.valid() || !g.var.valid() || g.var.table() == nullptr) continue;
    return Unimplemented(self, ": the growing table '", g.var.name(), "' cannot be trained ", way,
                         ": its keys have no bound, as the rows that are summed must have; train it asynchronously, "
                         "each gradient by itself");
  }
  return OkStatus();
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_REPLICAS_REFUSED_TABLES_H_
