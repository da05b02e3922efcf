// The files of the summary ops: each has one function, which registers its ops.
#ifndef TENSORBRAID_OPS_SUMMARY_REGISTRATION_H_
#define TENSORBRAID_OPS_SUMMARY_REGISTRATION_H_

#include "graph/op_registry.h"

namespace tensorbraid {

void RegisterSummaryOps(OpRegistry& r);        // summary.cc
void RegisterSummaryWriterOps(OpRegistry& r);  // writer.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_SUMMARY_REGISTRATION_H_
