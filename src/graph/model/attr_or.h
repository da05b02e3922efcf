// Reads attributes that are no part of an op's definition.
#ifndef TENSORBRAID_GRAPH_MODEL_ATTR_OR_H_
#define TENSORBRAID_GRAPH_MODEL_ATTR_OR_H_

#include <string_view>

#include "graph/model/node.h"

namespace tensorbraid {

// An attribute of a node; `missing` if the node has none with this name and type. Any graph may be imported, so no type
// is taken for granted.
template <typename T>
T AttrOr(const Node& node, std::string_view name, T missing) {
  const AttrValue* const attr = node.FindAttr(name);
  const T* const value = attr == nullptr ? nullptr : attr->get<T>();
  return value == nullptr ? missing : *value;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_ATTR_OR_H_
