#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/checkpoint_report.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/table/table_report.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

struct TableFlags {
  std::string checkpoint;
  std::string table;
  std::vector<std::string> keys;
  bool hash = false;
  bool slots = false;
  std::string by = "norm";
  int count = 10;
  std::string output;
};

// Each returns the exit code.
StatusOr<int> ListTables(const TableFlags& flags, SavedTablesReader& reader) {
  std::fputs(DescribeTables(reader).c_str(), stdout);
  return 0;
}

StatusOr<int> GetRows(const TableFlags& flags, SavedTablesReader& reader) {
  TF_ASSIGN_OR_RETURN(const TableInCheckpoint table, reader.Find(flags.table));
  std::vector<int64_t> keys;
  for (const std::string& word : flags.keys) {
    TF_ASSIGN_OR_RETURN(keys.emplace_back(), KeyOf(word, flags.hash));
  }
  TF_ASSIGN_OR_RETURN(const RowsText rows, DescribeRows(reader, table, flags.keys, keys, flags.slots));
  std::fputs(rows.text.c_str(), stdout);
  return rows.missing > 0 ? 1 : 0;
}

StatusOr<int> ShowTop(const TableFlags& flags, SavedTablesReader& reader) {
  TF_ASSIGN_OR_RETURN(const TableInCheckpoint table, reader.Find(flags.table));
  const RowOrder order = flags.by == "norm"        ? RowOrder::kNorm
                         : flags.by == "frequency" ? RowOrder::kFrequency
                                                   : RowOrder::kVersion;
  TF_ASSIGN_OR_RETURN(const std::string text, DescribeTopRows(reader, table, order, flags.count));
  std::fputs(text.c_str(), stdout);
  return 0;
}

// A file has its name only once it is whole.
StatusOr<int> ExportRows(const TableFlags& flags, SavedTablesReader& reader) {
  TF_ASSIGN_OR_RETURN(const TableInCheckpoint table, reader.Find(flags.table));
  if (flags.output.empty()) {
    TF_RETURN_IF_ERROR(WriteRows(reader, table, flags.slots, std::cout));
    return 0;
  }
  const std::string unfinished = flags.output + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  if (!file) return Unavailable("'", unfinished, "' cannot be written");
  Status written = WriteRows(reader, table, flags.slots, file);
  file.close();
  std::error_code failed;
  if (written.ok()) std::filesystem::rename(unfinished, flags.output, failed);
  if (failed) written = Unavailable("'", flags.output, "' cannot be written: ", failed.message());
  if (!written.ok()) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    return written;
  }
  std::fprintf(stderr, "%s\n", StrCat(flags.output, ": ", table.rows, " rows of '", table.name, "'").c_str());
  return 0;
}

using Work = StatusOr<int> (*)(const TableFlags&, SavedTablesReader&);

int Run(Work work, const TableFlags& flags) {
  const StatusOr<int> code = [&]() -> StatusOr<int> {
    TF_ASSIGN_OR_RETURN(const std::string prefix, ResolveCheckpoint(flags.checkpoint));
    TF_ASSIGN_OR_RETURN(SavedTablesReader reader, SavedTablesReader::Open(prefix));
    return work(flags, reader);
  }();
  if (code.ok()) return *code;
  std::fprintf(stderr, "tensorbraid: %s\n", std::string(code.status().message()).c_str());
  return 2;
}

}  // namespace

void AddTableCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<TableFlags>();
  CLI::App* table = app.add_subcommand("table", "Show the rows of growing tables in a checkpoint");
  table->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, Work work) {
    CLI::App* command = table->add_subcommand(name, help);
    command
        ->add_option("CHECKPOINT", flags->checkpoint,
                     "a prefix (logs/model-100), one of its files, or a directory, for its latest checkpoint")
        ->required();
    command->callback([invocation, flags, work] { invocation->run = [flags, work] { return Run(work, *flags); }; });
    return command;
  };
  const auto add_table = [&](CLI::App* command) {
    command->add_option("TABLE", flags->table, "the name of the table, without its parts: users")->required();
  };
  const auto add_slots = [&](CLI::App* command) {
    command->add_flag("--slots", flags->slots, "also the numbers of the optimizer's slots");
  };

  add("ls", "List the growing tables: rows, parts, slots and bytes", &ListTables);
  CLI::App* get = add("get", "Print the rows of some keys", &GetRows);
  add_table(get);
  get->add_option("KEY", flags->keys, "the keys of the rows")->required();
  get->add_flag("--hash", flags->hash, "the keys are strings, as those of feature columns");
  add_slots(get);
  get->footer("\nExits with 1 if a key has no row, 2 on an error.");
  CLI::App* top = add("top", "Print the keys with the largest norms or counts, or the latest updates", &ShowTop);
  add_table(top);
  top->add_option("--by", flags->by,
                  "norm: L2 norm of the row; frequency: occurrences; version: step of the last update")
      ->check(OneOf({"norm", "frequency", "version"}))
      ->capture_default_str();
  top->add_option("--count", flags->count, "how many keys to print")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->capture_default_str();
  CLI::App* exported = add("export", "Write all rows as CSV", &ExportRows);
  add_table(exported);
  add_slots(exported);
  exported->add_option("--output", flags->output, "the file to write; without it, standard output")->type_name("FILE");
  table->footer(
      "\nReads checkpoints of Tensorbraid and of DeepRec. Takes memory for one part of a table.\n\n"
      "Examples:\n"
      "  tensorbraid table ls logs\n"
      "  tensorbraid table get logs users 17 4711 --slots\n"
      "  tensorbraid table top logs/model.ckpt-2000 users --by=frequency\n"
      "  tensorbraid table export logs users --output=users.csv");
}

}  // namespace tensorbraid
