// What the library makes of a CustomOp: the definition and the kernels that the registries hold.
#ifndef TENSORBRAID_CUSTOM_OP_CUSTOM_OPS_H_
#define TENSORBRAID_CUSTOM_OP_CUSTOM_OPS_H_

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "runtime/kernel/kernel.h"
#include "tensorbraid/custom_op/custom_op.h"

namespace tensorbraid {

// The definition of a custom op in the registry. It has the functions that the program has given to the op.
struct CustomOpDef : OpDef {
  explicit CustomOpDef(CustomOp op) : custom(std::move(op)) {}
  const CustomOp custom;
};

class CustomOps {
 public:
  // Checks the definition. InvalidArgument if it has a mistake.
  static StatusOr<std::shared_ptr<const CustomOpDef>> Definition(CustomOp op);
  // The kernels, which refer to the definition.
  static StatusOr<std::vector<KernelDef>> Kernels(const CustomOpDef& definition);
  static const std::string& name(const CustomOp& op) { return op.name_; }
  static const std::string& doc(const CustomOp& op) { return op.doc_; }

 private:
  static Status CheckKernelTypes(const OpKernelTypes& types, const OpDef& definition);
  // The functions of an OpDef and a KernelDef that call those of the op.
  static Status InferShapes(ShapeContext& c);
  static Status Differentiate(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads);
  static Cost EstimateCost(const CostContext& c);
};

// Calls code of a program or a loaded library. An exception becomes an error that begins with `what`.
template <typename Function>
auto WithoutExceptions(const char* what, const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(StrCat(what, " has run out of memory"));
  } catch (const std::exception& e) {
    return Internal(what, " has thrown an exception: ", std::string_view(e.what()));
  } catch (...) {
    return Internal(what, " has thrown an exception");
  }
}

// Makes a kernel of the op for a node.
StatusOr<std::unique_ptr<Kernel>> MakeCustomKernel(const OpKernelFactory& create, const KernelConstruction& c);

}  // namespace tensorbraid

#endif  // TENSORBRAID_CUSTOM_OP_CUSTOM_OPS_H_
