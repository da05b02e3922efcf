#include "graph/model/node.h"

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

Graph* Node::graph() const { return graph_ == nullptr ? nullptr : graph_->graph(); }

Status Node::CheckGraphExists() const {
  if (graph_ != nullptr) return OkStatus();
  return FailedPrecondition(Describe(), " is used after its Graph was destroyed; ", kGraphLifetime);
}

std::pair<int, int> Node::InputRange(int arg) const {
  int begin = 0;
  for (int i = 0;; ++i) {
    const ArgDef& def = op_->inputs[i];
    int count = 1;
    if (!def.number_attr.empty()) count = static_cast<int>(attr<int64_t>(def.number_attr));
    if (!def.type_list_attr.empty()) count = static_cast<int>(attr<std::vector<DType>>(def.type_list_attr).size());
    if (i == arg) return {begin, begin + count};
    begin += count;
  }
}

std::vector<std::string> Node::colocated_with() const {
  std::vector<std::string> names;
  const AttrValue* value = FindAttr("_class");
  const auto* list = value == nullptr ? nullptr : value->get<std::vector<std::string>>();
  if (list == nullptr) return names;
  for (const std::string& s : *list) {
    if (s.starts_with("loc:@")) names.push_back(s.substr(5));
  }
  return names;
}

const AttrValue* Node::FindAttr(std::string_view name) const {
  const auto it = attrs_.find(name);
  return it == attrs_.end() ? nullptr : &it->second;
}

void Node::MissingAttr(std::string_view name) const {
  CheckFailed(__FILE__, __LINE__, "attribute",
              StrCat(Describe(), " has no attribute '", name, "' of the requested type"));
}

std::string Node::location() const { return line_.has_value() ? LocationText(*line_) : ""; }

std::string Node::Describe() const {
  const std::string where = location();
  return StrCat(type(), " '", name_, "'", where.empty() ? "" : StrCat(" (", where, ")"));
}

}  // namespace tensorbraid
