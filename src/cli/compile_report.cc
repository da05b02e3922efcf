#include "cli/compile_report.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <vector>

#include "core/system/clock.h"
#include "core/text/strings.h"
#include "core/text/text_table.h"
#include "executor/clusters/step_programs.h"
#include "io/file.h"
#include "pjrt/find_plugins.h"
#include "planner/model/placed_step.h"

namespace tensorbraid {
namespace {

std::string NumberText(size_t number, const std::string& name) {
  return StrCat(number, " ", name, number == 1 ? "" : "s");
}

// Compiles the programs of a step, equal ones once, and makes the rows of the table.
class ProgramTable {
 public:
  explicit ProgramTable(const pjrt::Topology& card) : card_(card) {}

  void Add(const StepProgram& program) {
    TextRow& row = rows_.emplace_back(TextRow{program.last_node, DeviceOf(program), StrCat(program.num_nodes)});
    if (!program.text.ok()) return Fail(program, program.text.status(), &row);
    const auto began = MonotonicClock::now();
    const auto [known, added] = memory_.try_emplace(program.text->text, pjrt::ProgramMemory());
    if (added) known->second = card_.Compile(program.text->text, program.name);
    const std::chrono::duration<double> took = MonotonicClock::now() - began;
    if (!known->second.ok()) return Fail(program, known->second.status(), &row);
    const pjrt::ProgramMemory& memory = *known->second;
    row.push_back(added ? Formatted("%.2f s", took.count()) : "as above");
    for (const int64_t bytes : {memory.arguments, memory.outputs, memory.aliased, memory.temporaries}) {
      row.push_back(SizeText(static_cast<double>(bytes)));
    }
    of_device_[DeviceOf(program)] += memory.arguments + memory.outputs - memory.aliased + memory.temporaries;
  }

  int failed() const { return failed_; }
  const std::map<std::string, int64_t>& of_device() const { return of_device_; }
  // The table, and the errors below.
  std::string Text() const { return StrCat(TableText(rows_), errors_); }

 private:
  static std::string DeviceOf(const StepProgram& program) {
    return program.device.substr(program.device.rfind("/device:") + std::string_view("/device:").size());
  }
  void Fail(const StepProgram& program, const Status& status, TextRow* row) {
    ++failed_;
    row->push_back("failed, see below");
    errors_ += StrCat("failed: ", program.name, ": ", status.message(), "\n");
  }

  const pjrt::Topology& card_;
  std::vector<TextRow> rows_ = {{"program, by its last node", "device", "nodes", "compiled in", "arguments", "outputs",
                                 "of these in place", "temporary"}};
  std::map<std::string, StatusOr<pjrt::ProgramMemory>> memory_;  // by the text of the program
  std::map<std::string, int64_t> of_device_;                     // what a run needs
  std::string errors_;
  int failed_ = 0;
};

}  // namespace

StatusOr<std::string> CompilerFor(const std::string& path) {
  if (!path.empty()) return path;
  const pjrt::FoundPlugin found = pjrt::FindPlugin(pjrt::ThisMachine(), "GPU");
  if (found.path.empty()) return NotFound(found.problem);
  return found.path;  // it compiles also if there is no card or no driver
}

StatusOr<CompileReport> CompileStep(const pjrt::Topology& card, const CompileRequest& request) {
  TF_ASSIGN_OR_RETURN(std::shared_ptr<const Graph> graph,
                      planner::StepOnAccelerators(request.graph, request.options, "GPU"));
  TF_ASSIGN_OR_RETURN(const StepPrograms step, ProgramsOf(graph));
  ProgramTable table(card);
  if (!request.dump.empty()) TF_RETURN_IF_ERROR(MakeDirectories(request.dump));
  for (size_t i = 0; i < step.programs.size(); ++i) {
    const StepProgram& program = step.programs[i];
    table.Add(program);
    if (request.dump.empty() || !program.text.ok()) continue;
    TF_RETURN_IF_ERROR(WriteFile(JoinPath(request.dump, StrCat("program_", i, ".mlir")), program.text->text));
  }
  CompileReport report{.text = table.Text(),
                       .programs = static_cast<int>(step.programs.size()),
                       .failed = table.failed(),
                       .on_host = static_cast<int>(step.on_host.size()),
                       .host_trips = step.host_trips,
                       .memory = 0};
  for (const auto& [device, bytes] : table.of_device()) {
    report.memory = std::max(report.memory, bytes);
    report.text += StrCat("On ", device, ", a run needs ", SizeText(static_cast<double>(bytes)), ".\n");
  }
  report.text += StrCat("The step has ", NumberText(step.programs.size(), "program"), ", and goes from the device to ",
                        "the host and back ", NumberText(step.host_trips, "time"), ". The host computes ",
                        NumberText(step.on_host.size(), "node"), step.on_host.empty() ? "." : ":", "\n");
  for (const std::string& node : step.on_host) report.text += StrCat("  ", node, "\n");
  return report;
}

}  // namespace tensorbraid
