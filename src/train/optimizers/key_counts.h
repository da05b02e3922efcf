// How often the keys of a gradient have occurred in the batch, for growing tables with a filter.
#ifndef TENSORBRAID_TRAIN_OPTIMIZERS_KEY_COUNTS_H_
#define TENSORBRAID_TRAIN_OPTIMIZERS_KEY_COUNTS_H_

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"

namespace tensorbraid {

// Whether updates tell the variable, a growing table with a filter, how often each key has occurred.
inline bool CountsKeys(const Variable& variable) {
  return variable.table() != nullptr && variable.table()->filter_freq > 0;
}

// How often each of the keys has occurred, an int64 vector. `keys` are the indices of a gradient of the table with this
// handle: those of lookups that count (KvResourceGatherV1), possibly joined and made distinct. Where the lookup is not
// found, each key has occurred once. The ops are placed with the keys.
Output CountsOfKeys(const Output& keys, const Output& handle);

// Makes CountsOfKeys find these counts, an int64 vector, for these keys. For rows that were summed elsewhere, so that
// no lookup leads to their keys.
void SetCountsOfKeys(const Output& keys, const Output& counts);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_OPTIMIZERS_KEY_COUNTS_H_
