// The area under the curve, with sums that workers share.
#ifndef TENSORBRAID_LAYERS_SHARED_AUC_H_
#define TENSORBRAID_LAYERS_SHARED_AUC_H_

#include "tensorbraid/layers/metrics.h"

namespace tensorbraid::metrics {

// Auc with AucOptions::shared.
Metric SharedAuc(const Operand& labels, const Operand& predictions, const AucOptions& options);

}  // namespace tensorbraid::metrics

#endif  // TENSORBRAID_LAYERS_SHARED_AUC_H_
