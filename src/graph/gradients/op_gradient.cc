#include "graph/gradients/op_gradient.h"

#include <vector>

#include "core/text/strings.h"
#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"

namespace tensorbraid {
namespace {

Status Apply(const OpDef& def, const Operation& node, const std::vector<Output>& grads, std::vector<Output>* made) {
  if (!def.has_gradient()) return OkStatus();  // gradients stop here
  if (def.sparse_gradient == nullptr) return def.gradient(node, grads, made);
  std::vector<Gradient> slices(made->size());
  TF_RETURN_IF_ERROR(def.sparse_gradient(node, std::vector<Gradient>(grads.begin(), grads.end()), &slices));
  for (size_t i = 0; i < slices.size(); ++i) (*made)[i] = slices[i].ToDense();
  return OkStatus();
}

}  // namespace

StatusOr<GradientFunction> OpGradient(const std::string& name) {
  const OpDef* const def = OpRegistry::Global().Find(name);
  if (def == nullptr || !(def->has_gradient() || def->not_differentiable)) {
    return NotFound("there is no gradient of an op '", name, "'");
  }
  return GradientFunction([def](const Operation& node, const std::vector<Output>& grads) {
    std::vector<Output> made(NodeOf(node)->inputs().size());
    const Status status = Apply(*def, node, grads, &made);
    if (!status.ok()) node.graph()->AddError(status);
    return made;
  });
}

}  // namespace tensorbraid
