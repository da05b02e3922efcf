// Converts attributes from and to TensorFlow's AttrValue, and imports graphs from its GraphDef.
#ifndef TENSORBRAID_GRAPH_FORMAT_ATTR_PROTO_H_
#define TENSORBRAID_GRAPH_FORMAT_ATTR_PROTO_H_

#include <string_view>

#include "graph/format/tensor_proto.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

namespace proto {
class AttrValue;
class GraphDef;
}  // namespace proto

void ToProto(const AttrValue& value, proto::AttrValue* out);
// `wanted` is the attribute's declared type (such as "list(int)"); it decides the element type of an empty list.
// InvalidArgument if the value is malformed or missing.
StatusOr<AttrValue> FromProto(const proto::AttrValue& proto, std::string_view wanted);

// Like Graph::ImportGraphDef, for a GraphDef that is already parsed. If ops do not exist, the error names only one of
// them, whereas ImportGraphDef lists all (missing_ops.h).
Status ImportProto(const proto::GraphDef& def, Graph* graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FORMAT_ATTR_PROTO_H_
