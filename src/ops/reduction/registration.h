// Declares the functions that register the reduction ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_REDUCTION_REGISTRATION_H_
#define TENSORBRAID_OPS_REDUCTION_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterReductionArgMaxOps(OpRegistry& r);     // arg_max.cc
void RegisterReductionHistogramOps(OpRegistry& r);  // histogram.cc
void RegisterReductionOps(OpRegistry& r);           // reduction.cc
void RegisterReductionScanOps(OpRegistry& r);       // scan.cc
void RegisterReductionSegmentOps(OpRegistry& r);    // segment.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_REDUCTION_REGISTRATION_H_
