// The wire types (tensorbraid/core/wire.h) of a variable or accumulator, as attributes of the node that makes it.
#ifndef TENSORBRAID_GRAPH_MODEL_WIRE_ATTRS_H_
#define TENSORBRAID_GRAPH_MODEL_WIRE_ATTRS_H_

#include <string>
#include <string_view>

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/node_status.h"
#include "tensorbraid/core/wire.h"

namespace tensorbraid {

// The names of the attributes. Their values are names of wire types. For kDefault, the attribute is absent.
inline constexpr char kWireParameters[] = "_wire_parameters";
inline constexpr char kWireGradients[] = "_wire_gradients";

// Stores `types` in attributes of `node`, except types that are kDefault.
inline void SetWireTypes(Node* node, const WireTypes& types) {
  GraphImpl& graph = ImplOf(*node->graph());
  const auto set = [&](const char* attr, Wire wire) {
    if (wire != Wire::kDefault) graph.SetAttr(node, attr, std::string(WireName(wire)));
  };
  set(kWireParameters, types.parameters);
  set(kWireGradients, types.gradients);
}

// Returns the types that the attributes of `node` give. InvalidArgument, which names the node, if an attribute has no
// valid value.
inline StatusOr<WireTypes> WireTypesOf(const Node& node) {
  const auto get = [&](const char* attr) -> StatusOr<Wire> {
    const AttrValue* value = node.FindAttr(attr);
    if (value == nullptr) return Wire::kDefault;
    const auto* name = value->get<std::string>();
    if (name == nullptr) return InvalidArgument("attribute '", attr, "' must be the name of a wire type");
    return WireOf(*name);
  };
  const auto parameters = get(kWireParameters), gradients = get(kWireGradients);
  for (const auto* type : {&parameters, &gradients}) {
    if (!type->ok()) return AboutNode(type->status(), node);
  }
  const WireTypes types(*parameters, *gradients);
  if (const Status valid = CheckWireTypes(types); !valid.ok()) return AboutNode(valid, node);
  return types;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_WIRE_ATTRS_H_
