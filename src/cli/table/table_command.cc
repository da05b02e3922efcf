#include <cstdio>
#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "cli/ask_report.h"
#include "cli/at_least.h"
#include "cli/checkpoint_report.h"
#include "cli/client_options.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/one_of.h"
#include "cli/table/running_tables.h"
#include "cli/table/table_follower.h"
#include "cli/table/table_report.h"
#include "core/system/clock.h"
#include "core/text/host_port.h"
#include "core/text/strings.h"
#include "train/checkpoints/increments.h"
#include "transport/grpc/call_client.h"

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
  bool no_increments = false;
  std::string followed;  // the table whose rows `follow` writes
  bool full = false;
  bool once = false;
  double interval = 1;
  TlsOptions tls;  // of a running job
  std::string token_file;
  bool insecure = false;
};

StatusOr<std::vector<int64_t>> KeysOf(const TableFlags& flags) {
  std::vector<int64_t> keys;
  for (const std::string& word : flags.keys) {
    TF_ASSIGN_OR_RETURN(keys.emplace_back(), KeyOf(word, flags.hash));
  }
  return keys;
}

RowOrder OrderOf(const TableFlags& flags) {
  return flags.by == "norm" ? RowOrder::kNorm : flags.by == "frequency" ? RowOrder::kFrequency : RowOrder::kVersion;
}

// Each returns the exit code.
StatusOr<int> ListTables(const TableFlags& flags, SavedTablesReader& reader) {
  TF_ASSIGN_OR_RETURN(const std::string text, DescribeTables(reader));
  std::fputs(text.c_str(), stdout);
  return 0;
}

StatusOr<int> GetRows(const TableFlags& flags, SavedTablesReader& reader) {
  TF_ASSIGN_OR_RETURN(const TableInCheckpoint table, reader.Find(flags.table));
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> keys, KeysOf(flags));
  TF_ASSIGN_OR_RETURN(const RowsText rows, DescribeRows(reader, table, flags.keys, keys, flags.slots));
  std::fputs(rows.text.c_str(), stdout);
  return rows.missing > 0 ? 1 : 0;
}

StatusOr<int> ShowTop(const TableFlags& flags, SavedTablesReader& reader) {
  TF_ASSIGN_OR_RETURN(const TableInCheckpoint table, reader.Find(flags.table));
  TF_ASSIGN_OR_RETURN(const std::string text, DescribeTopRows(reader, table, OrderOf(flags), flags.count));
  std::fputs(text.c_str(), stdout);
  return 0;
}

// Counts the rows that it gives.
class CountedRows final : public TableRowSource {
 public:
  explicit CountedRows(TableRowSource& rows) : rows_(rows) {}
  Status ForEachRow(const TableInCheckpoint& table, bool slots,
                    const std::function<Status(const SavedRow&)>& visit) override {
    return rows_.ForEachRow(table, slots, [&](const SavedRow& row) {
      ++count_;
      return visit(row);
    });
  }
  int64_t count() const { return count_; }

 private:
  TableRowSource& rows_;
  int64_t count_ = 0;
};

StatusOr<int> WriteTable(const TableFlags& flags, const TableInCheckpoint& table, TableRowSource& source) {
  CountedRows rows(source);
  if (flags.output.empty()) {
    TF_RETURN_IF_ERROR(WriteRows(rows, table, flags.slots, std::cout));
    return 0;
  }
  TF_RETURN_IF_ERROR(WriteRowsToFile(rows, table, flags.slots, flags.output));
  std::fprintf(stderr, "%s\n", StrCat(flags.output, ": ", rows.count(), " rows of '", table.name, "'").c_str());
  return 0;
}

StatusOr<int> ExportRows(const TableFlags& flags, SavedTablesReader& reader) {
  TF_ASSIGN_OR_RETURN(const TableInCheckpoint table, reader.Find(flags.table));
  return WriteTable(flags, table, reader);
}

using Work = StatusOr<int> (*)(const TableFlags&, SavedTablesReader&);
using RunningWork = StatusOr<int> (*)(const TableFlags&, RunningTables&);

constexpr std::string_view kScheme = "grpc://";

StatusOr<int> ListRunning(const TableFlags& flags, RunningTables& tables) {
  std::fputs(tables.Describe().c_str(), stdout);
  return 0;
}

StatusOr<int> GetRunning(const TableFlags& flags, RunningTables& tables) {
  TF_ASSIGN_OR_RETURN(const std::vector<int64_t> keys, KeysOf(flags));
  TableInCheckpoint table;
  TF_ASSIGN_OR_RETURN(FetchedRows fetched, tables.Rows(flags.table, keys, &table));
  TF_ASSIGN_OR_RETURN(const RowsText rows, DescribeRows(fetched, table, flags.keys, keys, flags.slots));
  std::fputs(rows.text.c_str(), stdout);
  return rows.missing > 0 ? 1 : 0;
}

StatusOr<int> ShowTopRunning(const TableFlags& flags, RunningTables& tables) {
  TableInCheckpoint table;
  TF_ASSIGN_OR_RETURN(FetchedRows fetched, tables.Top(flags.table, flags.by, flags.count, &table));
  TF_ASSIGN_OR_RETURN(const std::string text, DescribeTopRows(fetched, table, OrderOf(flags), flags.count));
  std::fputs(text.c_str(), stdout);
  return 0;
}

StatusOr<int> ExportRunning(const TableFlags& flags, RunningTables& tables) {
  TableInCheckpoint table;
  TF_ASSIGN_OR_RETURN(RunningRows rows, tables.All(flags.table, &table));
  return WriteTable(flags, table, rows);
}

// The tables of the job that flags.checkpoint names.
StatusOr<RunningTables> OpenRunning(const TableFlags& flags) {
  const std::string address = flags.checkpoint.substr(kScheme.size());
  TF_RETURN_IF_ERROR(ParseHostPort(address).status());
  TF_ASSIGN_OR_RETURN(const auto client,
                      NewGrpcCallClient(address, kConnectPatience, flags.tls, flags.token_file, flags.insecure));
  constexpr double kTimeoutSeconds = 5;
  TF_ASSIGN_OR_RETURN(const proto::ClusterReport report, AskForReport(*client, address, kTimeoutSeconds));
  return RunningTables(
      report,
      {.target = flags.checkpoint, .tls = flags.tls, .token_file = flags.token_file, .insecure = flags.insecure});
}

int ExitCode(const StatusOr<int>& code) {
  if (code.ok()) return *code;
  std::fprintf(stderr, "tensorbraid: %s\n", std::string(code.status().message()).c_str());
  return 2;
}

int Run(Work work, RunningWork running_work, const TableFlags& flags) {
  const StatusOr<int> code = [&]() -> StatusOr<int> {
    if (flags.checkpoint.starts_with(kScheme)) {
      TF_ASSIGN_OR_RETURN(RunningTables tables, OpenRunning(flags));
      return running_work(flags, tables);
    }
    TF_ASSIGN_OR_RETURN(const std::string prefix, ResolveCheckpoint(flags.checkpoint));
    if (IsIncrement(prefix) && flags.no_increments) {
      return InvalidArgument("'", prefix, "' is an increment: name its full checkpoint, or leave --no_increments out");
    }
    IncrementChain chain{.full = prefix};
    if (!flags.no_increments) {
      TF_ASSIGN_OR_RETURN(chain, FindChain(prefix));
    }
    TF_ASSIGN_OR_RETURN(SavedTablesReader reader, SavedTablesReader::Open(chain.full, chain.increments));
    return work(flags, reader);
  }();
  return ExitCode(code);
}

// Writes the rows of each new increment until the reader closes the pipe. With `once`, ends after the ones that exist.
StatusOr<int> Follow(const TableFlags& flags) {
  if (flags.checkpoint.starts_with(kScheme)) {
    return InvalidArgument("'", flags.checkpoint, "' is a task of a running job, which does not know where the chief ",
                           "saves; name the directory of its checkpoints. It has increments if the job saves them "
                           "(save_incremental_checkpoint_secs)");
  }
  TableFollower follower({.directory = flags.checkpoint, .full = flags.full, .table = flags.followed}, std::cout);
  bool begun = false, told = false;
  while (true) {
    const auto written = follower.Poll();
    const bool waits = absl::IsNotFound(written.status()) && !begun && !flags.once;
    if (!written.ok() && !waits) return written.status();
    if (waits && !std::exchange(told, true)) {
      std::fprintf(stderr, "tensorbraid: waiting for the first checkpoint in '%s'\n", flags.checkpoint.c_str());
    }
    begun = begun || written.ok();
    if (flags.once) return 0;
    SleepFor(Milliseconds(flags.interval));
  }
}

}  // namespace

void AddTableCommand(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<TableFlags>();
  CLI::App* table = app.add_subcommand("table", "Show the rows of growing tables in a checkpoint or a running job");
  table->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, Work work, RunningWork running) {
    CLI::App* command = table->add_subcommand(name, help);
    command
        ->add_option("CHECKPOINT", flags->checkpoint,
                     "a prefix (logs/model-100), one of its files, or a directory, for its latest checkpoint; or a "
                     "task of a running job: grpc://host:port")
        ->required();
    command->add_flag("--no_increments", flags->no_increments, "without the increments that follow the checkpoint");
    AddClientOptions(command, &flags->tls, &flags->token_file, &flags->insecure);
    command->callback([invocation, flags, work, running] {
      invocation->run = [flags, work, running] { return Run(work, running, *flags); };
    });
    return command;
  };
  const auto add_table = [&](CLI::App* command) {
    command->add_option("TABLE", flags->table, "the name of the table, without its parts: users")->required();
  };
  const auto add_slots = [&](CLI::App* command) {
    command->add_flag("--slots", flags->slots, "also the numbers of the optimizer's slots");
  };

  add("ls", "List the growing tables: rows, parts, slots and bytes", &ListTables, &ListRunning);
  CLI::App* get = add("get", "Print the rows of some keys", &GetRows, &GetRunning);
  add_table(get);
  get->add_option("KEY", flags->keys, "the keys of the rows")->required();
  get->add_flag("--hash", flags->hash, "the keys are strings, as those of feature columns");
  add_slots(get);
  get->footer("\nExits with 1 if a key has no row, 2 on an error.");
  CLI::App* top =
      add("top", "Print the keys with the largest norms or counts, or the latest updates", &ShowTop, &ShowTopRunning);
  add_table(top);
  top->add_option("--by", flags->by,
                  "norm: L2 norm of the row; frequency: occurrences; version: step of the last update")
      ->check(OneOf({"norm", "frequency", "version"}))
      ->capture_default_str();
  top->add_option("--count", flags->count, "how many keys to print")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->capture_default_str();
  CLI::App* exported = add("export", "Write all rows as CSV", &ExportRows, &ExportRunning);
  add_table(exported);
  add_slots(exported);
  exported->add_option("--output", flags->output, "the file to write; without it, standard output")->type_name("FILE");
  CLI::App* follow =
      table->add_subcommand("follow", "Write the rows and variables that increments bring, as lines of JSON");
  follow->add_option("CHECKPOINT_DIR", flags->checkpoint, "the directory of the checkpoints")->required();
  follow->add_option("--table", flags->followed, "only the rows of this table")->type_name("TABLE");
  follow->add_flag("--full", flags->full, "begin with the newest full checkpoint itself");
  follow->add_flag("--once", flags->once, "end with what there is, and do not wait for more");
  follow->add_option("--interval", flags->interval, "seconds between two looks for new increments")
      ->check(AtLeast(0.01))
      ->type_name("SECONDS")
      ->capture_default_str();
  follow->callback([invocation, flags] { invocation->run = [flags] { return ExitCode(Follow(*flags)); }; });
  follow->footer(
      "\nFor a process that serves. Begins with the increments that follow the newest full checkpoint. The lines:\n"
      "  {\"begin\":\"model.ckpt-120\",\"full\":false}                           a checkpoint\n"
      "  {\"table\":\"users\",\"key\":18,\"deleted\":true}                         first the keys that it deletes\n"
      "  {\"table\":\"users\",\"key\":17,\"version\":118,\"values\":[0.5,-1.25]}   then rows\n"
      "  {\"variable\":\"dense/bias\",\"dtype\":\"float32\",\"shape\":[2],\"first\":0,\"values\":[0.25,1]}\n"
      "  {\"end\":\"model.ckpt-120\",\"full\":false,\"rows\":1,\"deleted\":1,\"variables\":1}\n"
      "A line of a variable has numbers of it that follow each other, from number \"first\" on, row by row. Slots of\n"
      "optimizers are left out.\n"
      "A new full checkpoint comes whole (\"full\":true), because no increment leads to it: it replaces all.\n"
      "If an increment is missing, an error says what to do.\n\n"
      "Exits with 0 after --once, 2 on an error.");
  table->footer(
      "\nReads checkpoints of Tensorbraid, with the increments that follow them, and of DeepRec. Takes memory for one\n"
      "part of a table, and for the keys in increments. Of a running job, reads rows as they are, and changes nothing; "
      "a\n"
      "row that is asked for does not count as looked up. An export of a running job is not of one moment: its steps "
      "go\n"
      "on meanwhile.\n\n"
      "Examples:\n"
      "  tensorbraid table ls logs\n"
      "  tensorbraid table get grpc://localhost:2222 users 17 4711\n"
      "  tensorbraid table get logs users 17 4711 --slots\n"
      "  tensorbraid table top logs/model.ckpt-2000 users --by=frequency\n"
      "  tensorbraid table export logs users --output=users.csv\n"
      "  tensorbraid table follow logs --full | my_server");
}

}  // namespace tensorbraid
