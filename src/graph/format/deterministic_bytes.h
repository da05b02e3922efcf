// Serializes protobuf messages such that equal messages have equal bytes.
#ifndef TENSORBRAID_GRAPH_FORMAT_DETERMINISTIC_BYTES_H_
#define TENSORBRAID_GRAPH_FORMAT_DETERMINISTIC_BYTES_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>

#include <string>

namespace tensorbraid {

// Serializes the message with its maps in the order of their keys. SerializeAsString writes them in an unspecified
// order.
inline std::string DeterministicBytes(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&out);
  }
  return bytes;
}

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_FORMAT_DETERMINISTIC_BYTES_H_
