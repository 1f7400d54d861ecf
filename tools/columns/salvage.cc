// cfile-dump salvage: copies the readable rows of a torn or damaged file, or of a table with such
// files, into a new file or table.
#include "tools/dump/commands.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cfile/salvage.h"
#include "cfile/status.h"
#include "cfile/table_maintenance.h"
#include "cfile/table_repair.h"
#include "tools/columns/copy.h"
#include "tools/document.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

struct SalvageArguments {
  std::string out;
  bool force = false;
  bool sorted = false;
  bool unsorted = false;
  bool null_lost = false;
};

const char* NameOf(SalvageReport::Dictionary dictionary) {
  constexpr const char* kNames[] = {"none needed", "found", "lost"};
  return kNames[static_cast<size_t>(dictionary)];
}

Document Begin(const CommonOptions& common, const SalvageArguments& arguments, bool complete) {
  Document document(common.json, common.path);
  document.AddJson({{"out", arguments.out}, {"complete", complete}});
  document.AddLine(Printable(arguments.out), ": ",
                   complete ? "all that was in " : "what is left of ", Printable(common.path));
  return document;
}

void AddReport(const SalvageReport& report, Document& document) {
  const auto line = [&](const auto&... parts) { document.AddLine("  ", parts...); };
  document.AddJson({{"has_footer", report.has_footer},
                    {"rows", report.rows},
                    {"data_blocks", report.blocks},
                    {"bytes", report.bytes},
                    {"size", report.info.file_size_bytes},
                    {"dictionary", NameOf(report.dictionary)}});
  line(Plural(report.rows, "row"), " of ", Plural(report.blocks, "data block"), ", ", report.bytes,
       " of ", Plural(report.info.file_size_bytes, "byte"));
  if (!report.has_footer) line("torn: the footer is missing, so the number of rows is not known");
  if (report.dictionary != SalvageReport::Dictionary::kNone)
    line("dictionary ", NameOf(report.dictionary));
  Table lost(document.is_json()), missing(document.is_json());
  for (const LostBytes& bytes : report.lost) {
    const std::string reason = WithOptionNames(bytes.reason);
    lost.Add({{"begin", bytes.begin}, {"end", bytes.end}, {"reason", reason}});
    line("lost bytes ", bytes.begin, " to ", bytes.end - 1, ": ", TerminalSafe(reason));
  }
  if (report.more_lost.count > 0) {
    line("and ", report.more_lost.count, " more, ", Plural(report.more_lost.bytes, "byte"));
  }
  for (const OrdinalRange& rows : report.missing) {
    missing.Add({{"first_ordinal", rows.begin}, {"last_ordinal", rows.end - 1}});
    line("missing rows ", rows.begin, " to ", rows.end - 1);
  }
  document.AddJson(
      {{"lost", lost},
       {"more_lost", {{"count", report.more_lost.count}, {"bytes", report.more_lost.bytes}}},
       {"missing", missing}});
}

// Shows how much of a file or table was read. Salvage reads most blocks twice: to check and to copy
// them.
class ReadProgress {
 public:
  ReadProgress(std::string_view stage, uint64_t size_bytes) : total_bytes_(2 * size_bytes) {
    progress_.Begin(stage, total_bytes_);
  }
  // Salvage and Repair cannot be interrupted, so after a signal, the next read calls `discard`, and
  // ends the process.
  ReadObserver observer(std::function<void()> discard) {
    return [this, discard = std::move(discard)](const std::string&, const ObservedRead& read) {
      bytes_read_ = std::min(bytes_read_ + read.size_bytes, total_bytes_);
      if (progress_.Update(bytes_read_, 0).ok()) return;
      End();
      discard();
      EndByCaughtSignal();
    };
  }
  void End() { progress_.End(); }

 private:
  Progress progress_;
  const uint64_t total_bytes_;
  uint64_t bytes_read_ = 0;
};

// Passes all calls on to `sink`, which the caller owns. Salvage takes its sink as a unique_ptr, but
// SalvageFile must be able to delete the temporary file while Salvage runs.
class BorrowedSink final : public Sink {
 public:
  explicit BorrowedSink(Sink& sink) : sink_(sink) {}
  const std::string& name() const override { return sink_.name(); }
  absl::Status Append(std::span<const uint8_t> bytes) override { return sink_.Append(bytes); }
  absl::Status Finish() override { return sink_.Finish(); }

 private:
  Sink& sink_;
};

Outcome SalvageFile(const CommonOptions& common, const SalvageArguments& arguments,
                    Output& output) {
  output.IgnoreClosedPipe();
  CFILE_RETURN_IF_ERROR(CheckOutIsFree(arguments.out, arguments.force));
  if (arguments.null_lost) return absl::InvalidArgumentError("--null-lost is for a whole table");
  SalvageOptions options;
  options.reader = OptionsOf(common);
  if (arguments.sorted || arguments.unsorted) options.value_index = !arguments.unsorted;
  CFILE_ASSIGN_OR_RETURN(auto torn, OpenSourceAt(common.path, options.reader));
  if (IsPackedPath(common.path)) {
    return absl::InvalidArgumentError(absl::StrCat(
        common.path, ": the file has all columns of a part: salvage the table, or one column, ",
        common.path, "/NAME"));
  }
  CancelOnSignals();  // so that a signal does not leave the temporary file behind
  CFILE_ASSIGN_OR_RETURN(auto sink, CreateFileAt(arguments.out, ExistingOf(arguments.force)));
  ReadProgress progress("salvaging", torn->size());
  const auto report = Salvage(ObserveSource(torn, progress.observer([&] { sink.reset(); })),
                              std::make_unique<BorrowedSink>(*sink), options);
  progress.End();
  if (!report.ok()) {
    sink.reset();
    // ExplainDamage says which program can read a file that is no CFile. For a damaged CFile, it
    // advises `cfile-dump salvage`, which has just failed, so this advice is not shown.
    const absl::Status explained = ExplainDamage(report.status(), *torn, options.reader);
    return absl::IsInvalidArgument(explained) ? explained : report.status();
  }
  Document document = Begin(common, arguments, report->complete());
  AddReport(*report, document);
  document.PrintTo(output);
  return report->complete() ? kFine : kDamaged;
}

// Copies all bytes of `from` to `to`. With `unreadable_as_zeros`, writes zeros for each page that
// cannot be read, so that the rest of the file can be salvaged. This is for files of a local disk.
absl::Status CopyBytes(const Source& from, bool unreadable_as_zeros, Sink& to, Progress& progress,
                       uint64_t& bytes_copied) {
  constexpr size_t kPageBytes = 4096;
  std::vector<uint8_t> buffer(256 * kPageBytes);
  for (uint64_t offset = 0; offset < from.size();) {
    const std::span<uint8_t> bytes(buffer.data(),
                                   std::min<uint64_t>(buffer.size(), from.size() - offset));
    absl::Status status = from.ReadAt(offset, bytes);
    if (!status.ok() && !unreadable_as_zeros) return status;
    for (size_t at = 0; !status.ok() && at < bytes.size(); at += kPageBytes) {
      const auto page = bytes.subspan(at, std::min(kPageBytes, bytes.size() - at));
      if (!from.ReadAt(offset + at, page).ok()) std::ranges::fill(page, uint8_t{0});
    }
    CFILE_RETURN_IF_ERROR(to.Append(bytes));
    offset += bytes.size();
    CFILE_RETURN_IF_ERROR(progress.Update(bytes_copied += bytes.size(), 0));
  }
  return to.Finish();
}

// Copies all files of a table, and returns their size in bytes.
absl::StatusOr<uint64_t> CopyTableFiles(const std::string& path, Storage& to) {
  CFILE_ASSIGN_OR_RETURN(const TableLocation table, TableAt(path));
  const std::shared_ptr<const Storage> from = table.storage();
  CFILE_ASSIGN_OR_RETURN(std::vector<StorageEntry> files, from->List(""));
  std::erase_if(files, [](const StorageEntry& file) {
    return file.path.ends_with('/') ||
           IsTemporaryFileName(file.path.substr(file.path.find_last_of('/') + 1));
  });
  uint64_t total_bytes = 0;
  for (const StorageEntry& file : files) total_bytes += file.size_bytes;
  Progress progress;
  progress.Begin("copying", total_bytes);
  uint64_t bytes_copied = 0;
  for (const StorageEntry& file : files) {
    CFILE_ASSIGN_OR_RETURN(const auto source, from->Open(file.path));
    CFILE_ASSIGN_OR_RETURN(const auto sink, to.Create(file.path));
    CFILE_RETURN_IF_ERROR(CopyBytes(*source, !IsUrl(path), *sink, progress, bytes_copied));
  }
  return total_bytes;
}

// Copies the table, repairs the copy, and removes the files of parts that are no longer in it.
absl::StatusOr<RepairReport> SalvageIntoNewTable(const CommonOptions& common,
                                                 const SalvageArguments& arguments) {
  // NewTable removes only local files. At a URL, a copy that cannot be repaired would stay.
  if (IsUrl(arguments.out)) {
    return absl::InvalidArgumentError(
        "OUT must be a local directory: salvage does not write tables to URLs");
  }
  CFILE_ASSIGN_OR_RETURN(NewTable copy, NewTable::Create(arguments.out, arguments.force));
  const std::shared_ptr<Storage> storage = copy.location().storage();
  const absl::StatusOr<uint64_t> size_bytes = CopyTableFiles(common.path, *storage);
  if (!size_bytes.ok()) return copy.WithFinalPath(size_bytes.status());
  // Messages about damage name the damaged table, because users do not know the copy's temporary
  // name.
  const auto renamed = [&](absl::string_view text) {
    return absl::StrReplaceAll(text, {{storage->name(), common.path}});
  };
  ReaderOptions reader = OptionsOf(common);
  reader.stored_rows = common.stored_rows;
  ReadProgress progress("repairing", *size_bytes);
  absl::StatusOr<RepairReport> report = Repair(
      ObserveStorage(storage, progress.observer([&] { copy.Discard(); })),
      {.salvage = true, .null_lost = arguments.null_lost, .drop_damaged = true, .reader = reader});
  progress.End();
  if (absl::IsNotFound(report.status())) {
    // If a writer did not finish there, the error of OpenTableAt says how to salvage its files.
    const auto table = OpenTableAt(common.path, OptionsOf(common));
    if (absl::IsNotFound(table.status())) return table.status();
  }
  if (absl::IsNotFound(report.status()) || absl::IsDataLoss(report.status()) ||
      absl::IsFailedPrecondition(report.status()))
    return absl::Status(report.status().code(), renamed(report.status().message()));
  if (!report.ok()) return copy.WithFinalPath(report.status());
  CFILE_RETURN_IF_ERROR(
      copy.WithFinalPath(CollectGarbage(storage, std::chrono::seconds(0)).status()));
  report->damage = renamed(report->damage);
  for (RepairedPart& part : report->parts) part.reason = renamed(part.reason);
  CFILE_RETURN_IF_ERROR(copy.Finish());
  return report;
}

Outcome SalvageTable(const CommonOptions& common, const SalvageArguments& arguments,
                     Output& output) {
  output.IgnoreClosedPipe();
  if (!common.part.empty() || arguments.sorted || arguments.unsorted) {
    return absl::InvalidArgumentError(
        "--part, --sorted and --unsorted are for one column of a table: choose it with --column");
  }
  CancelOnSignals();  // so that the copy is removed
  CFILE_ASSIGN_OR_RETURN(const RepairReport report, SalvageIntoNewTable(common, arguments));
  uint64_t lost_rows = 0;
  std::string parts;
  Table json_parts(common.json);
  for (const RepairedPart& part : report.parts) {
    lost_rows += part.lost_rows;
    Table lost_values(common.json);
    for (const auto& [column, count] : part.lost_values) {
      lost_values.Add({{"column", column}, {"values", count}});
    }
    json_parts.Add({{"part", part.name},
                    {"state", NameOf(part.state)},
                    {"rows", part.num_rows},
                    {"lost_rows", part.lost_rows},
                    {"lost_values", lost_values},
                    {"reason", WithOptionNames(part.reason)}});
    if (part.state == RepairedPart::State::kKept) continue;
    absl::StrAppend(&parts, "  ", Printable(part.name), " ", std::string(NameOf(part.state)), ", ",
                    Plural(part.num_rows, "row"), ", ", part.lost_rows,
                    " lost: ", TerminalSafe(WithOptionNames(part.reason)), "\n");
    for (const auto& [column, count] : part.lost_values) {
      absl::StrAppend(&parts, "    ", TerminalSafe(column), ": ", count, " lost values are null\n");
    }
  }
  Document document = Begin(common, arguments, report.complete());
  const std::string damage = WithOptionNames(report.damage);
  document.AddJson({{"damage", damage},
                    {"rows", report.num_rows},
                    {"lost_rows", lost_rows},
                    {"parts", json_parts}});
  document.AddLine("  ", Plural(report.num_rows, "row"), " of ", Plural(report.num_parts, "part"),
                   ", ", lost_rows, " lost");
  if (!damage.empty()) document.AddLine("  damaged: ", TerminalSafe(damage));
  document.Append(parts);
  document.PrintTo(output);
  return report.complete() ? kFine : kDamaged;
}

// Returns whether `place` is a local directory, or a URL below which there are files. Does not read
// table.cft, because it may be damaged or missing.
bool IsTable(const std::string& place) {
  std::error_code ignored;
  if (!IsUrl(place)) return std::filesystem::is_directory(place, ignored);
  const auto table = TableAt(place);
  if (!table.ok()) return false;
  const auto files = table->storage()->List("");
  return files.ok() && !files->empty();
}

}  // namespace

void AddSalvageCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddPlainCommand(
      app, common, "salvage", "Write what is left of a damaged file or table into a new one",
      "FILE is the temporary file that a killed writer left next to the file that it was\n"
      "writing (.NAME.NUMBER-NUMBER.cfile-tmp), a file that `verify` finds damaged, or a table\n"
      "with damaged files.\n"
      "OUT gets every row of every complete block, and the type, encoding, codec and metadata\n"
      "of FILE. The output says which bytes are lost and, if it is known, which rows. The rows\n"
      "after a gap move up.\n"
      "A table is copied, and the copy is repaired: the copy keeps the rows that can be read in\n"
      "all columns, and gets a new table.cft if that of FILE is damaged. A table is repaired\n"
      "without a copy by `cfile-table repair --salvage`. With --column, OUT gets what is left of\n"
      "one file of a table.\n"
      "OUT appears when it is complete. A new table must be local. The exit code is 0 if nothing\n"
      "was lost. It is 2 if anything was lost or may have been lost. It is always 2 if the footer\n"
      "is missing. OUT exists in both cases, unless an error says that FILE cannot be read.\n\n"
      "Examples:\n"
      "  cfile-dump salvage .keys.cfile.4711-0.cfile-tmp keys.cfile --sorted\n"
      "  cfile-dump salvage flights flights-left\n"
      "  cfile-dump salvage flights --column carrier carrier.cfile\n"
      "  cfile-dump salvage --json damaged.cfile repaired.cfile | jq .missing",
      "A torn or damaged .cfile, or the directory of a table");
  AddJsonOption(command, common);
  AddColumnOptions(command, common, "Only this column of a table (default: the whole table)",
                   kOnlyPart);
  const auto arguments = std::make_shared<SalvageArguments>();
  command.Add("OUT", &arguments->out, "The new file or table").required = true;
  command.Add("--sorted", &arguments->sorted,
              "The values ascend: OUT gets a value index. (Without this option OUT gets one if the "
              "footer says that FILE had one.)");
  command.Add(
      "--unsorted", &arguments->unsorted,
      "OUT gets no value index, even if FILE had one: the values that are left do not ascend");
  command.Add("--null-lost", &arguments->null_lost,
              "Of a table: lost values of nullable columns become null, and their rows stay");
  command.Add("--force", &arguments->force, "Replace OUT if it exists");
  command.Add("--stored-rows", &common.stored_rows,
              "Of a table with a merge rule: also if rows are lost, so that rows that they have "
              "replaced or deleted count again");
  SetAction(command, action, [arguments](const CommonOptions& chosen, Output& output) {
    if (chosen.column.empty() && IsTable(chosen.path))
      return SalvageTable(chosen, *arguments, output);
    return OnFile([arguments](const CommonOptions& file, Output& file_output) {
      return SalvageFile(file, *arguments, file_output);
    })(chosen, output);
  });
}

}  // namespace cfile::tools
