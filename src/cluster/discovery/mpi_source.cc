// The source for launchers of MPI: Open MPI, MPICH, Intel MPI, and Slurm with its PMIx or PMI plugin.
#include "cluster/discovery/mpi_exchanges.h"
#include "cluster/discovery/pmix_library.h"
#include "cluster/discovery/source.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

// Sets rank and size from the first of the variables that is set.
StatusOr<bool> ReadRank(VariableReader& reader, const char* rank, std::initializer_list<const char*> sizes,
                        Participant* participant) {
  TF_ASSIGN_OR_RETURN(const auto number, reader.GetNumber(rank));
  if (!number.has_value()) return false;
  participant->rank = *number;
  participant->name = StrCat("rank ", *number);
  for (const char* size : sizes) {
    TF_ASSIGN_OR_RETURN(const auto count, reader.GetNumber(size, 1));
    if (!count.has_value()) continue;
    participant->size = *count;
    if (*number >= *count) return InvalidArgument(rank, "=", *number, " does not fit ", size, "=", *count);
    break;
  }
  return true;
}

}  // namespace

StatusOr<Claim> LookAtMpi(const TaskArguments&, VariableReader& reader) {
  Participant participant;
  const char* launcher = "Open MPI";
  TF_ASSIGN_OR_RETURN(bool found, ReadRank(reader, "OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}, &participant));
  if (!found) {
    launcher = "PMIx";
    TF_ASSIGN_OR_RETURN(found, ReadRank(reader, "PMIX_RANK", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, &participant));
  }
  if (!found) {
    launcher = "PMI";
    TF_ASSIGN_OR_RETURN(found, ReadRank(reader, "PMI_RANK", {"PMI_SIZE"}, &participant));
  }
  if (!found) return Claim::NotMine("none of OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK is set");
  participant.host = reader.Get("SLURMD_NODENAME").value_or("");

  const bool in_slurm_step = reader.Get("SLURM_STEP_ID").has_value();
  std::string by;
  if (reader.Get("PMIX_NAMESPACE").has_value()) {
    if (const auto library = pmix::Library::Load(); !library.ok()) {
      if (in_slurm_step) return Claim::NotMine(StrCat(library.status().message(), "; Slurm can do without it"));
      return library.status();
    }
    by = "PMIx";
    participant.exchange = [size = participant.size](std::chrono::milliseconds timeout) {
      return NewPmixExchange(size, timeout);
    };
  } else if (reader.Get("PMI_FD").has_value()) {
    TF_ASSIGN_OR_RETURN(const auto fd, reader.GetNumber("PMI_FD", 3));
    if (participant.size == 0) return InvalidArgument("PMI_SIZE is missing; the launcher sets it");
    by = "PMI";
    participant.exchange = [fd = *fd, size = participant.size](std::chrono::milliseconds timeout) {
      return NewPmiExchange(fd, size, timeout);
    };
  } else if (in_slurm_step) {
    return Claim::NotMine("the launcher offers neither PMIx nor PMI; Slurm can do without them");
  } else {
    return FailedPrecondition(
        "this is ", participant.name, " of a job of ", launcher, ", but the launcher offers ",
        "neither PMIx (PMIX_NAMESPACE) nor PMI (PMI_FD), by which the ranks could tell each other ",
        "where they listen; use mpirun of Open MPI or MPICH, or a registry (TENSORBRAID_REGISTRY)");
  }
  TF_RETURN_IF_ERROR(SetTasksOfRanks(reader, &participant));
  std::string why = StrCat("this is ", participant.name);
  if (participant.size > 0) why += StrCat(" of ", participant.size);
  if (launcher != by) why += StrCat(" of ", launcher);
  return Claim{.participant = std::move(participant), .why = StrCat(why, "; the addresses come by ", by)};
}

}  // namespace tensorbraid
