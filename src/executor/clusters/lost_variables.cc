#include "executor/clusters/lost_variables.h"

#include <utility>

#include "core/text/strings.h"
#include "executor/clusters/signature.h"
#include "pjrt/device_buffer.h"

namespace tensorbraid {

std::shared_ptr<pjrt::Loss> LostVariables::LossOfUpdated(const ClusterRun& run, const pjrt::ProgramText& text) {
  if (text.updates.empty()) return nullptr;
  MutexLock lock(mu_);
  bool is_kept = updated_.size() == text.updates.size();
  for (size_t k = 0; is_kept && k < updated_.size(); ++k) {
    is_kept = updated_[k] == run.variables[run.variable_of[text.updates[k].argument]].get();
  }
  if (!is_kept) {
    std::vector<int> numbers;
    updated_.clear();
    for (const auto& update : text.updates) {
      numbers.push_back(run.variable_of[update.argument]);
      updated_.push_back(run.variables[numbers.back()].get());
    }
    loss_of_updated_ = std::make_shared<const std::string>(LossOf(run, numbers));
  }
  return std::make_shared<pjrt::Loss>(loss_of_updated_);
}

Status LostVariables::LoseConsumed(const ClusterRun& run, const pjrt::ProgramText& text, const LockedVariables& locked,
                                   const Status& error) const {
  std::vector<int> lost;
  std::vector<pjrt::DeviceBuffer*> buffers;
  for (const auto& update : text.updates) {
    if (update.aliased < 0) continue;
    TF_ASSIGN_OR_RETURN(auto* const buffer, pjrt::DeviceBuffer::Of(ValueOf(update.argument, run, locked)));
    if (buffer->array()) continue;
    lost.push_back(run.variable_of[update.argument]);
    buffers.push_back(buffer);
  }
  if (lost.empty()) return error;
  const auto loss = std::make_shared<pjrt::Loss>(std::make_shared<const std::string>(LossOf(run, lost)));
  const Status aborted = loss->Happen(error);
  for (pjrt::DeviceBuffer* buffer : buffers) buffer->Lose(loss);
  return aborted;
}

std::string LostVariables::LossOf(const ClusterRun& run, const std::vector<int>& numbers) const {
  std::string names = numbers.size() == 1 ? "the variable " : "the variables ";
  for (size_t i = 0; i < numbers.size(); ++i) {
    names += StrCat(i == 0                    ? ""
                    : i + 1 == numbers.size() ? " and "
                                              : ", ",
                    "'", run.variables[numbers[i]]->name(), "'");
  }
  return StrCat(names, " on ", device_, numbers.size() == 1 ? " has lost its value" : " have lost their values");
}

}  // namespace tensorbraid
