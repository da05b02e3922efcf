#include "cluster/registry/process_record.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "cluster/protobuf/registry.pb.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"

namespace tensorbraid {

proto::ProcessRecord ToProto(const ProcessRecord& record) {
  proto::ProcessRecord message;
  message.set_host(record.host);
  message.set_node(record.node);
  message.set_port(record.port);
  message.set_version(record.version);
  message.set_program(record.program);
  message.set_may_move(record.may_move);
  return message;
}

ProcessRecord FromProto(const proto::ProcessRecord& message) {
  return {message.host(), message.node(), message.port(), message.version(), message.program(), message.may_move()};
}

std::string EncodeRecord(const ProcessRecord& record) {
  return absl::WebSafeBase64Escape(ToProto(record).SerializeAsString());
}

StatusOr<ProcessRecord> DecodeRecord(std::string_view text) {
  std::string bytes;
  proto::ProcessRecord message;
  if (!absl::WebSafeBase64Unescape({text.data(), text.size()}, &bytes) || !message.ParseFromString(bytes) ||
      !CheckRecord(FromProto(message)).ok()) {
    return InvalidArgument("'", text.substr(0, 80), "' does not describe a process of this library");
  }
  return FromProto(message);
}

Status CheckRecord(const ProcessRecord& record) {
  if (record.host.empty()) return InvalidArgument("the process does not say on which host it is");
  if (record.port < 1 || record.port > 65535) {
    return InvalidArgument("the process on ", record.host, " listens at port ", record.port, ", which does not exist");
  }
  return OkStatus();
}

Status CheckSameProgram(const NamedRecord& a, const NamedRecord& b) {
  const auto differ = [&](const char* what, const std::string& of_a, const std::string& of_b, const char* fix) {
    return FailedPrecondition(a.name, " on ", a.record.host, " and ", b.name, " on ", b.record.host, " run different ",
                              what, ": ", of_a, " and ", of_b, "; ", fix);
  };
  if (a.record.version != b.record.version) {
    return differ("versions of Tensorbraid", a.record.version, b.record.version, "install the same one on all hosts");
  }
  if (a.record.program != b.record.program) {
    return differ("programs", "SHA-256 " + a.record.program.substr(0, 12), b.record.program.substr(0, 12),
                  "copy the same program to all hosts");
  }
  return OkStatus();
}

std::vector<std::string> AddressesOf(const std::vector<ProcessRecord>& records) {
  const bool one_node = std::all_of(records.begin(), records.end(),
                                    [&](const ProcessRecord& r) { return r.node == records.front().node; });
  const bool all_may_move =
      std::all_of(records.begin(), records.end(), [](const ProcessRecord& r) { return r.may_move; });
  std::vector<std::string> addresses;
  for (const ProcessRecord& record : records) {
    addresses.push_back(HostPort{one_node && !all_may_move ? "127.0.0.1" : record.host, record.port}.ToString());
  }
  return addresses;
}

}  // namespace tensorbraid
