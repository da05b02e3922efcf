#include "executor/clusters/signature_limit.h"

#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// The elements and the shape.
std::string BytesOfValue(const Tensor& value) {
  std::string bytes = StrCat(value.shape(), ";");
  if (IsPlain(value.dtype())) return bytes.append(static_cast<const char*>(value.raw_data()), value.num_bytes());
  return bytes + value.ToString();
}

}  // namespace

// By the first node that uses it: "input 1 of Tile 'tiles' (train.py:10)". What makes it may be a node of the runtime.
std::string SignatureLimit::NameOf(const pjrt::ProgramArgument& argument) const {
  const Output& tensor = argument.tensors.front();
  for (const Node* node : nodes_) {
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      const Output& in = node->inputs()[i];
      if (NodeOf(in) == NodeOf(tensor) && in.index() == tensor.index()) {
        return StrCat("input ", i, " of ", node->Describe());
      }
    }
  }
  return StrCat("'", tensor.name(), "'");
}

bool SignatureLimit::Allows(const std::string& signature, const std::vector<pjrt::ProgramArgument>& arguments) {
  if (signatures_.contains(signature)) return true;
  if (!reason_.empty()) return false;
  const pjrt::ProgramArgument* changes = nullptr;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].constant == nullptr || arguments[i].tensors.empty()) continue;
    auto& values = values_[i];
    values.insert(BytesOfValue(*arguments[i].constant));
    if (values.size() > kMostStaticValues) changes = &arguments[i];
  }
  size_t most = 0;
  std::string dimension;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].constant != nullptr || arguments[i].tensors.empty()) continue;
    for (int d = 0; d < arguments[i].shape.rank(); ++d) {
      auto& sizes = dimensions_[{i, d}];
      sizes.insert(arguments[i].shape.dim(d));
      if (sizes.size() <= most) continue;
      most = sizes.size();
      dimension = StrCat("dimension ", d, " of ", NameOf(arguments[i]));
    }
  }
  if (changes != nullptr) {
    reason_ = StrCat("A program is compiled for each value of ", NameOf(*changes), ", which has had ",
                     kMostStaticValues + 1, ". Use a constant there, or few values");
  } else if (signatures_.size() >= kMostSignatures && most > 1) {
    reason_ =
        StrCat("A program is compiled for each size of ", dimension, ", which has had ", most, ". Pad it to few sizes");
  } else if (signatures_.size() >= kMostSignatures) {
    reason_ = StrCat("A program is compiled for each combination of shapes and values of its inputs, and there were ",
                     kMostSignatures + 1);
  }
  if (!reason_.empty()) return false;
  signatures_.insert(signature);
  return true;
}

}  // namespace tensorbraid
