// Declares the functions that register the summary ops. Beside each is the name of the file that defines it.
#ifndef TENSORBRAID_OPS_SUMMARY_REGISTRATION_H_
#define TENSORBRAID_OPS_SUMMARY_REGISTRATION_H_

#include "graph/model/op_registry.h"

namespace tensorbraid {

void RegisterSummaryOps(OpRegistry& r);        // summary.cc
void RegisterSummaryWriterOps(OpRegistry& r);  // writer.cc

}  // namespace tensorbraid

#endif  // TENSORBRAID_OPS_SUMMARY_REGISTRATION_H_
