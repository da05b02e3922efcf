// Libraries of custom ops.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding/binding.h"
#include "binding/python_calls.h"
#include "custom_op/custom_ops.h"
#include "tensorbraid/custom_op/library.h"

namespace tensorbraid::python {

void BindOpLibraries(Module& m) {
  m.def("load_op_library", [](const std::string& path) {
    const Unlocked unlocked;
    return Check(LoadOpLibrary(path));
  });
  // The text of CustomOp::Doc. REQUIRES: a library has defined the op.
  m.def("doc_of_custom_op", [](const std::string& op) {
    return CustomOps::doc(static_cast<const CustomOpDef&>(*AddedOps::Find(op)).custom);
  });
}

}  // namespace tensorbraid::python
