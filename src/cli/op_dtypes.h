// The dtypes of ops in words, for documents.
#ifndef TENSORBRAID_CLI_OP_DTYPES_H_
#define TENSORBRAID_CLI_OP_DTYPES_H_

#include <string>
#include <vector>

#include "graph/model/op_registry.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {

std::vector<const KernelDef*> KernelsOf(const OpDef& op);

// The dtypes that the kernels of the op accept for a type attribute, such as "floats int32". Without kernels: those
// that the op's definition allows. docs/ops.md says what the words mean.
std::string DTypesOf(const OpDef& op, const AttrDef& attr);

// Those of all type attributes: "T: floats int32; Tidx: int32 int64". Without such attributes: the dtypes of the op's
// arguments.
std::string DTypesOf(const OpDef& op);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CLI_OP_DTYPES_H_
