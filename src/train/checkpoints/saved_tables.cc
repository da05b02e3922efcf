#include "train/checkpoints/saved_tables.h"

#include <algorithm>
#include <map>

#include "core/text/strings.h"
#include "graph/model/attr_or.h"
#include "graph/model/graph_impl.h"
#include "variables/restore_attrs.h"

namespace tensorbraid {
namespace {

// "Adagrad" for the slot "emb/part_0/Adagrad" of the table "emb/part_0".
std::string NameWithinTable(const SavedVariable& slot, const SavedVariable& table) {
  return slot.name.substr(table.name.size() + 1);
}

// The end of the name of a part: "/part_2"; "" for a table in one part that is named like the whole.
std::string PartSuffix(const TableDescription& table, const std::string& name) {
  std::string suffix = StrCat("/part_", table.part);
  return name.ends_with(suffix) ? suffix : "";
}

// Returns the operation that gives the table the rows of the checkpoint `from`, and all slots their initial numbers.
// Without the feeds in `chosen`, the rows are those of the full checkpoint alone.
Operation AddRestoreAlways(Graph& graph, const SavedTable& saved, const std::string& from,
                           std::vector<ChosenCheckpoint>* chosen) {
  const Output handle = saved.table->variable.handle();
  const auto constant = [&](const Tensor& value) {
    return NodeBuilder(graph, "Const").Attr("value", value).Attr("dtype", value.dtype()).Output();
  };
  const auto fed = [&](const Tensor& value, const Shape& shape) {
    return NodeBuilder(graph, "PlaceholderWithDefault").Input(constant(value)).Attr("shape", shape).Output();
  };
  chosen->push_back({.path = from,
                     .full = fed(Tensor::Scalar(from), Shape()),
                     .increments = fed(Tensor::Vector(std::vector<std::string>()), Shape({Shape::kUnknownDim}))});
  const Operation rows = NodeBuilder(graph, "_RestoreTrackedTable")
                             .Input(chosen->back().full)
                             .Input(chosen->back().increments)
                             .Input(constant(Tensor::Scalar<int64_t>(0)))
                             .Input(handle)
                             .InputList({})
                             .Attr("N", int64_t{0})
                             .Attr("name", AttrOr<std::string>(*NodeOf(handle), kRestoredNameAttr, ""))
                             .Attr("slot_names", std::vector<std::string>())
                             .Finish();
  if (!rows.valid()) return rows;
  NodeBuilder all(graph, "NoOp");
  all.Control(rows);
  for (const SavedVariable* slot : saved.slots) {
    const Operation filled =
        NodeBuilder(graph, "_InitializeTable").Input(slot->variable.handle()).Control(rows).Finish();
    if (!filled.valid()) return filled;
    all.Control(filled);
  }
  return all.Finish();
}

// The name with which the names of the other variables of a variable, such as the powers of AdamAsync, begin. The parts
// of a static variable are saved under the name of the whole, and these variables under those of the parts.
const std::string& OwnNameOf(const SavedVariable& saved) {
  return saved.variable.part_of() != nullptr ? saved.variable.name() : saved.name;
}

}  // namespace

StatusOr<std::vector<SavedTable>> SavedTablesOf(const std::vector<const SavedVariable*>& variables) {
  std::vector<SavedTable> tables;
  std::map<std::string, size_t> numbers;  // in `tables`, by the name of the variable
  for (const SavedVariable* v : variables) {
    const TableDescription* const table = v->variable.table();
    if (table == nullptr || !table->slot_of.empty()) continue;
    numbers[v->variable.name()] = tables.size();
    tables.push_back({.table = v, .slots = {}});
  }
  for (const SavedVariable* v : variables) {
    const TableDescription* const slot = v->variable.table();
    if (slot == nullptr || slot->slot_of.empty()) continue;
    const auto found = numbers.find(slot->slot_of);
    if (found == numbers.end()) {
      return InvalidArgument("the slot '", v->variable.name(), "' of the growing table '", slot->slot_of,
                             "' is to be saved without the table; save both, or neither");
    }
    SavedTable& table = tables[found->second];
    if (!v->name.starts_with(table.table->name + "/")) {
      return InvalidArgument("the slot '", v->variable.name(), "' would be saved as '", v->name,
                             "', but this name must begin with that of its growing table, '", table.table->name, "/'");
    }
    table.slots.push_back(v);
  }
  return tables;
}

void SavedTable::AddReads(Graph& graph, const Operation& after, const RecordedSave* recorded,
                          std::vector<std::string>* names, std::vector<Output>* values) const {
  auto place = graph.ColocateWith(table->variable.handle().op());
  std::vector<Output> handles;
  for (const SavedVariable* slot : slots) handles.push_back(slot->variable.handle());
  NodeBuilder node(graph, recorded == nullptr ? "_ExportTable" : "_ExportTrackedTable");
  if (recorded != nullptr) {
    node.Input(recorded->number).Input(recorded->predecessor).Attr("only_changes", recorded->only_changes);
  }
  node.Input(table->variable.handle()).InputList(handles).Attr("N", static_cast<int64_t>(handles.size()));
  if (after.valid()) node.Control(after);
  const Operation rows = node.Finish();
  if (!rows.valid()) return;
  const bool only_changes = recorded != nullptr && recorded->only_changes;
  const int first_numbers = recorded == nullptr ? 4 : 5;
  const int first_filtered = first_numbers + static_cast<int>(slots.size()) + 1;
  for (size_t i = 0; i <= slots.size(); ++i) {
    const std::string& name = i == 0 ? table->name : slots[i - 1]->name;
    const auto add = [&](const char* suffix, const Output& value) {
      names->push_back(name + suffix);
      values->push_back(value);
    };
    add("-keys", rows.output(0));
    add("-values", rows.output(first_numbers + static_cast<int>(i)));
    if (only_changes && i > 0) continue;
    add("-freqs", rows.output(1));
    add("-versions", rows.output(2));
    add("-keys_filtered", rows.output(first_filtered));
    add("-freqs_filtered", rows.output(first_filtered + 1));
    add("-versions_filtered", rows.output(first_filtered + 2));
    if (only_changes) {
      add("-keys_deleted", rows.output(4));
      continue;
    }
    add("-partition_offset", rows.output(3));
    add("-partition_filter_offset", rows.output(first_filtered + 3));
  }
  // A Bloom filter. It may have counted more than there is in the rows, but an admitted key stays admitted.
  if (only_changes || table->variable.table()->filter_keys == 0) return;
  const Operation filter = NodeBuilder(graph, "_ExportFilter").Input(table->variable.handle()).Control(rows).Finish();
  if (!filter.valid()) return;
  int output = 0;
  for (const char* suffix : {"-filter_blocks", "-filter_counters", "-filter_shape"}) {
    names->push_back(table->name + suffix);
    values->push_back(filter.output(output++));
  }
}

Operation AddSaveOfTables(Graph& graph, const std::vector<SavedTable>& tables, const Output& prefix,
                          const Operation& after, const RecordedSave* recorded) {
  auto place = graph.ColocateWith(tables[0].table->variable.handle().op());
  std::vector<Output> handles;
  std::vector<std::string> names;
  std::vector<int64_t> columns;
  for (const SavedTable& table : tables) {
    std::vector<const SavedVariable*> all = {table.table};
    all.insert(all.end(), table.slots.begin(), table.slots.end());
    for (const SavedVariable* v : all) {
      handles.push_back(v->variable.handle());
      names.push_back(v->name);
    }
    columns.push_back(static_cast<int64_t>(all.size()));
  }
  Output none;
  if (recorded == nullptr) {
    none = NodeBuilder(graph, "Const").Attr("value", Tensor::Scalar<int64_t>(0)).Attr("dtype", kInt64).Output();
  }
  NodeBuilder node(graph, "_SaveTables");
  node.Input(prefix)
      .Input(recorded == nullptr ? none : recorded->number)
      .Input(recorded == nullptr ? none : recorded->predecessor)
      .InputList(handles)
      .Attr("columns", columns)
      .Attr("names", names);
  if (after.valid()) node.Control(after);
  return node.Finish();
}

Operation SavedTable::AddRestore(Graph& graph, const Output& prefix, const RecordedRestore* recorded,
                                 std::vector<ChosenCheckpoint>* chosen) const {
  auto place = graph.ColocateWith(table->variable.handle().op());
  const auto always = AttrOr<std::string>(*NodeOf(table->variable.handle()), kRestoreFromAttr, "");
  if (!always.empty()) return AddRestoreAlways(graph, *this, always, chosen);
  std::vector<Output> handles;
  std::vector<std::string> names;
  for (const SavedVariable* slot : slots) {
    handles.push_back(slot->variable.handle());
    names.push_back(NameWithinTable(*slot, *table));
  }
  NodeBuilder node(graph, recorded == nullptr ? "_RestoreTable" : "_RestoreTrackedTable");
  node.Input(prefix);
  if (recorded != nullptr) node.Input(recorded->increments).Input(recorded->number);
  return node.Input(table->variable.handle())
      .InputList(handles)
      .Attr("N", static_cast<int64_t>(handles.size()))
      .Attr("name", WholeNameOf(*table))
      .Attr("slot_names", names)
      .Finish();
}

std::string WholeNameOf(const SavedVariable& saved) {
  const TableDescription& table = *saved.variable.table();
  if (table.slot_of.empty()) return saved.name.substr(0, saved.name.size() - PartSuffix(table, saved.name).size());
  // The slot's name within its table has no slash, or those of its optimizer's name.
  const std::string of_table = saved.variable.name().substr(table.slot_of.size());
  if (!saved.name.ends_with(of_table)) return saved.name;
  const std::string part = saved.name.substr(0, saved.name.size() - of_table.size());
  return part.substr(0, part.size() - PartSuffix(table, part).size()) + of_table;
}

std::map<std::string, std::string> NamesInOtherParts(const std::vector<const SavedVariable*>& variables,
                                                     const std::function<bool(const std::string&)>& has) {
  std::map<std::string, std::string> names;
  for (const SavedVariable* v : variables) {
    if (v->variable.table() != nullptr || has(v->name)) continue;
    for (const SavedVariable* owner : variables) {
      const std::string& of = OwnNameOf(*owner);
      if (!v->name.starts_with(of) || v->name[of.size()] != '/') continue;
      const std::string whole = owner->variable.table() != nullptr ? WholeNameOf(*owner) : owner->name;
      const std::string rest = v->name.substr(of.size());
      for (const std::string& name : {whole + rest, StrCat(whole, "/part_0", rest)}) {
        if (has(name)) names[v->name] = name;
      }
    }
  }
  return names;
}

std::vector<std::string> NamesOfRows(const SavedVariable& saved) {
  const TableDescription& table = *saved.variable.table();
  const std::string whole = WholeNameOf(saved);
  const std::string slot = table.slot_of.empty() ? "" : saved.variable.name().substr(table.slot_of.size());
  const std::string base = whole.substr(0, whole.size() - slot.size());
  return {StrCat(base, slot, "-values"), StrCat(base, "/part_0", slot, "-values"), whole};
}

}  // namespace tensorbraid
