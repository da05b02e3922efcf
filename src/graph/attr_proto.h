// Attributes and graphs in TensorFlow's AttrValue and GraphDef.
#ifndef TENSORBRAID_GRAPH_ATTR_PROTO_H_
#define TENSORBRAID_GRAPH_ATTR_PROTO_H_

#include <string_view>

#include "graph/tensor_proto.h"
#include "tensorbraid/graph.h"

namespace tensorbraid {

namespace proto {
class AttrValue;
class GraphDef;
}  // namespace proto

void ToProto(const AttrValue& value, proto::AttrValue* out);
// `wanted` is the attribute's declared type, which decides what an empty list is a list of. InvalidArgument for a value
// that cannot be, or none.
StatusOr<AttrValue> FromProto(const proto::AttrValue& proto, std::string_view wanted);

// Graph::ImportGraphDef of what has been parsed.
Status ImportProto(const proto::GraphDef& def, Graph* graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_ATTR_PROTO_H_
