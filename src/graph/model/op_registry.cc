#include "graph/model/op_registry.h"

#include <atomic>

#include "core/text/logging.h"
#include "core/text/source_file.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "graph/model/op_spec.h"

namespace tensorbraid {
namespace {

[[noreturn]] void BadDefinition(const std::string& op, const Status& why) {
  CheckFailed(__FILE__, __LINE__, "op definition", StrCat("op ", op, ": ", why.message()));
}

struct OpTable {
  std::atomic<bool> any{false};  // most programs add none, and then need no lock
  Mutex mu;
  std::map<std::string, std::shared_ptr<const OpDef>, std::less<>> ops TB_GUARDED_BY(mu);
};

OpTable& AddedOpTable() {
  static OpTable* const table = new OpTable;
  return *table;
}

}  // namespace

const AttrDef* OpDef::FindAttr(std::string_view attr) const {
  for (const AttrDef& a : attrs) {
    if (a.name == attr) return &a;
  }
  return nullptr;
}

Op& Op::Input(const char* spec) {
  const Status added = AddInput(spec, &def_);
  if (!added.ok()) BadDefinition(def_.name, added);
  return *this;
}

Op& Op::Output(const char* spec) {
  const Status added = AddOutput(spec, &def_);
  if (!added.ok()) BadDefinition(def_.name, added);
  return *this;
}

Op& Op::Attr(const char* spec) {
  const Status added = AddAttr(spec, &def_);
  if (!added.ok()) BadDefinition(def_.name, added);
  return *this;
}

void OpRegistry::Add(const Op& op, std::source_location location) {
  OpDef def = op.def_;
  def.file = SourceFile(location);
  const Status resolved = ResolveArguments(&def);
  if (!resolved.ok()) BadDefinition(def.name, resolved);
  const std::string name = def.name;
  if (!ops_.emplace(name, std::move(def)).second) {
    CheckFailed(__FILE__, __LINE__, "op definition", StrCat("op ", name, " is defined twice"));
  }
}

const OpDef* OpRegistry::Find(std::string_view op) const {
  const auto it = ops_.find(op);
  return it == ops_.end() ? AddedOps::Find(op) : &it->second;
}

std::vector<std::string> OpRegistry::names() const {
  std::vector<std::string> names = AddedOps::names();
  for (const auto& [name, def] : ops_) names.push_back(name);
  return names;
}

void AddedOps::Add(std::vector<std::shared_ptr<const OpDef>> ops) {
  OpTable& added = AddedOpTable();
  MutexLock lock(added.mu);
  for (std::shared_ptr<const OpDef>& op : ops) {
    std::string name = op->name;
    TB_CHECK(added.ops.emplace(std::move(name), std::move(op)).second);
  }
  added.any.store(true, std::memory_order_release);
}

const OpDef* AddedOps::Find(std::string_view op) {
  OpTable& added = AddedOpTable();
  if (!added.any.load(std::memory_order_acquire)) return nullptr;
  MutexLock lock(added.mu);
  const auto it = added.ops.find(op);
  return it == added.ops.end() ? nullptr : it->second.get();
}

std::vector<std::string> AddedOps::names() {
  OpTable& added = AddedOpTable();
  MutexLock lock(added.mu);
  std::vector<std::string> names;
  for (const auto& [name, def] : added.ops) names.push_back(name);
  return names;
}

}  // namespace tensorbraid
