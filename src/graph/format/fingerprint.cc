#include "graph/format/fingerprint.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "core/text/strings.h"
#include "core/values/fingerprint.h"
#include "graph/format/attr_proto.h"
#include "graph/format/deterministic_bytes.h"
#include "graph/format/graph.pb.h"

namespace tensorbraid {
namespace {

// Collects the parts of which a fingerprint is made. Each string is added as its hash, so that a comma in a string
// cannot be mistaken for the comma between two parts.
class Text {
 public:
  void Add(std::string_view part) { text_ += StrCat(Fingerprint64(part), ","); }
  void Add(uint64_t part) { text_ += StrCat(part, ","); }
  uint64_t Fingerprint() const { return Fingerprint64(text_); }

 private:
  std::string text_;
};

class Fingerprints {
 public:
  explicit Fingerprints(const FunctionLibrary& library) : library_(library) {}

  uint64_t Of(const proto::AttrValue& value) {
    if (value.value_case() == proto::AttrValue::kFunc) return Of(value.func());
    if (value.value_case() == proto::AttrValue::kList && value.list().func_size() > 0) {
      Text text;
      for (const auto& f : value.list().func()) text.Add(Of(f));
      return text.Fingerprint();
    }
    return Fingerprint64(DeterministicBytes(value));
  }

 private:
  using AttrMap = google::protobuf::Map<std::string, proto::AttrValue>;

  uint64_t Of(const AttrMap& attrs) {
    std::vector<std::pair<std::string, uint64_t>> sorted;
    for (const auto& [name, value] : attrs) sorted.emplace_back(name, Of(value));
    std::sort(sorted.begin(), sorted.end());
    Text text;
    for (const auto& [name, value] : sorted) {
      text.Add(name);
      text.Add(value);
    }
    return text.Fingerprint();
  }

  uint64_t Of(const proto::NameAttrList& f) {
    Text text;
    text.Add(OfName(f.name()));
    text.Add(Of(f.attr()));
    return text.Fingerprint();
  }

  // The fingerprint of the definition of the function with this name, or of the name if there is no such function. The
  // name is also used for a function that is nested too deeply for the stack, and for the inner calls of a function
  // that calls itself.
  uint64_t OfName(const std::string& name) {
    const Function* function = library_.Find(name);
    if (function == nullptr || depth_ == kMaxDepth) return Fingerprint64(name);
    const auto [known, added] = known_.try_emplace(function, Fingerprint64(name));
    if (!added) return known->second;
    proto::FunctionDef def;
    if (!def.ParseFromString(function->definition())) return known->second;
    Text text;
    ++depth_;
    def.mutable_signature()->clear_name();
    text.Add(DeterministicBytes(def.signature()));
    for (const auto& node : def.node_def()) {
      text.Add(node.name());
      text.Add(OfName(node.op()));
      text.Add(node.device());
      for (const std::string& input : node.input()) text.Add(input);
      text.Add(Of(node.attr()));
    }
    std::vector<std::string> results;
    for (const auto& [result, tensor] : def.ret()) results.push_back(StrCat(result, "=", tensor));
    for (const auto& [result, node] : def.control_ret()) results.push_back(StrCat("^", result, "=", node));
    std::sort(results.begin(), results.end());
    for (const std::string& result : results) text.Add(result);
    --depth_;
    return known_[function] = text.Fingerprint();
  }

  static constexpr int kMaxDepth = 200;

  const FunctionLibrary& library_;
  int depth_ = 0;
  absl::flat_hash_map<const Function*, uint64_t> known_;
};

}  // namespace

uint64_t FingerprintOf(const AttrValue& value, const FunctionLibrary& library) {
  proto::AttrValue message;
  ToProto(value, &message);
  return Fingerprints(library).Of(message);
}

}  // namespace tensorbraid
