// Reads protobuf messages in text form.
#ifndef TENSORBRAID_GRAPH_FORMAT_TEXT_PROTO_H_
#define TENSORBRAID_GRAPH_FORMAT_TEXT_PROTO_H_

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Reads `text` into `message`. Skips fields that the message does not have, as the binary form does: a newer release of
// the program that wrote the text may know more fields. InvalidArgument, with the line and the column, if the text has
// another mistake. `what` names the text in the error, such as "a GraphDef in text form".
Status ParseTextProto(std::string_view text, const std::string& what, google::protobuf::Message* message);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FORMAT_TEXT_PROTO_H_
