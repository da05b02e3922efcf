#include "cli/compile_report.h"

#include <chrono>
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

// A row of the table. Sets `error` and returns no figures if the program cannot be compiled.
TextRow CompileRow(const pjrt::Topology& card, const StepProgram& program, std::string* error) {
  TextRow row = {program.last_node, StrCat(program.num_nodes)};
  if (!program.text.ok()) {
    *error = std::string(program.text.status().message());
    return row;
  }
  const auto began = MonotonicClock::now();
  const auto memory = card.Compile(program.text->text, program.name);
  const std::chrono::duration<double> took = MonotonicClock::now() - began;
  if (!memory.ok()) {
    *error = std::string(memory.status().message());
    return row;
  }
  row.push_back(Formatted("%.2f s", took.count()));
  for (const int64_t bytes : {memory->arguments, memory->outputs, memory->aliased, memory->temporaries}) {
    row.push_back(SizeText(static_cast<double>(bytes)));
  }
  return row;
}

}  // namespace

StatusOr<std::string> CompilerFor(const std::string& path) {
  if (!path.empty()) return path;
  const pjrt::FoundPlugin found = pjrt::FindPlugin(pjrt::ThisMachine(), "GPU");
  if (found.path.empty()) return NotFound(found.problem);
  return found.path;  // it compiles also if there is no card or no driver
}

StatusOr<CompileReport> CompileStep(const pjrt::Topology& card, const CompileRequest& request) {
  TF_ASSIGN_OR_RETURN(std::shared_ptr<const Graph> graph,
                      planner::StepOnAccelerator(request.graph, request.options, "GPU"));
  TF_ASSIGN_OR_RETURN(const StepPrograms step, ProgramsOf(graph));
  CompileReport report{.text = "",
                       .programs = static_cast<int>(step.programs.size()),
                       .failed = 0,
                       .on_host = static_cast<int>(step.on_host.size())};
  std::vector<TextRow> rows = {
      {"program, by its last node", "nodes", "compiled in", "arguments", "outputs", "of these in place", "temporary"}};
  if (!request.dump.empty()) TF_RETURN_IF_ERROR(MakeDirectories(request.dump));
  std::string errors;
  for (const StepProgram& program : step.programs) {
    std::string error;
    rows.push_back(CompileRow(card, program, &error));
    if (!error.empty()) {
      ++report.failed;
      rows.back().push_back("failed, see below");
      errors += StrCat("failed: ", program.name, ": ", error, "\n");
    }
    if (!request.dump.empty() && program.text.ok()) {
      TF_RETURN_IF_ERROR(
          WriteFile(JoinPath(request.dump, StrCat("program_", rows.size() - 2, ".mlir")), program.text->text));
    }
  }
  report.text = StrCat(TableText(rows), errors);
  report.text += StrCat("The step has ", NumberText(step.programs.size(), "program"), ", and ",
                        NumberText(step.on_host.size(), "node"), " that the host computes between programs",
                        step.on_host.empty() ? "." : ":", "\n");
  for (const std::string& node : step.on_host) report.text += StrCat("  ", node, "\n");
  return report;
}

}  // namespace tensorbraid
