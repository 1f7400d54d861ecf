// cfile-dump rewrite: writes the values of files and tables in another form.
#include "tools/dump/commands.h"

#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cfile/concatenate.h"
#include "cfile/status.h"
#include "tools/columns/copy.h"
#include "tools/document.h"
#include "tools/encoding_reason.h"
#include "tools/layout_options.h"
#include "tools/location.h"
#include "tools/progress.h"
#include "tools/text_table.h"

namespace cfile::tools {
namespace {

struct RewriteArguments {
  std::string target;
  std::vector<std::string> places;  // the files behind the first one, then the target
  bool force = false;
  LayoutArguments layout;
};

// The sizes and forms of one column, for the output.
struct RewrittenColumn {
  std::string name;
  bool is_key_index = false;
  uint64_t bytes_before = 0;  // the size of the files that were read
  ColumnTotals totals;        // the sizes, encodings and codec of the files that were written
};

struct RewriteReport {
  std::vector<RewrittenColumn> columns;
  uint64_t num_rows = 0;
  std::optional<uint64_t> copied_blocks;  // only of several files: see ConcatenateReport
  std::set<std::string> kept, dropped;
};

// Adds to `report` what the new file of a column keeps and drops. `in_table`: the new file belongs
// to a table.
void Note(const FileInfo& info, const WriterOptions& options, bool has_extensions, bool in_table,
          RewriteReport& report) {
  const auto note = [&](const char* what, bool had, bool has) {
    if (had) (has ? report.kept : report.dropped).insert(what);
  };
  note("value index", info.value_index_root.has_value(), options.value_index);
  note("metadata", !options.metadata.empty(), true);
  note("movable blocks", info.has_movable_blocks(), has_extensions);
  note("statistics", info.statistics.has_value(), has_extensions);
  note("Bloom filter", info.bloom_filter.has_value(), options.bloom_filter_bits_per_value > 0);
  note("checksums", info.has_checksums(), options.version != FormatVersion::kV1);
  // A file of a table does not lose them, because table.cft holds precision and scale, too.
  if (!in_table) note("precision and scale", info.type.decimal_precision > 0, has_extensions);
}

// Shows the progress of copying: the average of the rows of all columns, which are copied one after
// another.
class RowProgress {
 public:
  RowProgress(std::string_view stage, uint64_t num_rows, size_t num_columns)
      : num_columns_(num_columns) {
    CancelOnSignals();  // so that temporary files are removed
    progress_.Begin(stage, num_rows, Progress::Unit::kRows);
  }
  CopyProgress callback() {
    return [this](uint64_t rows) {
      values_ += rows;
      return progress_.Update(0, values_ / num_columns_);
    };
  }

 private:
  Progress progress_;
  const size_t num_columns_;
  uint64_t values_ = 0;  // copied rows, added up over the columns
};

Schema SchemaOfFile() {
  Schema schema;
  schema.columns.push_back({.name = kFileColumn});
  return schema;
}

absl::Status CheckNames(const LayoutOptions& layout, const std::string& source,
                        const Schema& schema) {
  absl::Status status;
  VisitLayoutColumns(layout, [&](const char* option, const std::string& name) {
    status.Update(CheckColumn(option, name, source, schema));
  });
  return status;
}

absl::StatusOr<RewriteReport> RewriteFile(const Reader& file, const CommonOptions& common,
                                          const RewriteArguments& arguments,
                                          const LayoutOptions& layout) {
  CFILE_RETURN_IF_ERROR(CheckNames(layout, common.path, SchemaOfFile()));
  CFILE_RETURN_IF_ERROR(CheckOutIsFree(arguments.target, arguments.force));
  RewriteReport report{.num_rows = file.num_rows()};
  CFILE_ASSIGN_OR_RETURN(WriterOptions options, OptionsLike(file, layout, kFileColumn));
  SetWriterLimits(common, options);
  Note(file.info(), options, layout.has_extensions(), /*in_table=*/false, report);
  CFILE_ASSIGN_OR_RETURN(auto sink, CreateFileAt(arguments.target, ExistingOf(arguments.force)));
  RowProgress progress("rewriting", file.num_rows(), 1);
  CFILE_ASSIGN_OR_RETURN(ColumnTotals totals,
                         CopyFile(file, options, std::move(sink), progress.callback()));
  report.columns.push_back({.name = kFileColumn,
                            .bytes_before = file.info().file_size_bytes,
                            .totals = std::move(totals)});
  return report;
}

absl::StatusOr<RewriteReport> RewriteTable(const Input& input, const CommonOptions& common,
                                           const RewriteArguments& arguments,
                                           const LayoutOptions& layout) {
  const TableReader& table = *input.table;
  const Schema& schema = table.schema();
  CFILE_RETURN_IF_ERROR(CheckNames(layout, common.path, schema));
  if (input.part && schema.merge_rule && !common.stored_rows) return NeedsStoredRows("--part");
  // --force would remove the other parts.
  if (input.part) CFILE_RETURN_IF_ERROR(CheckOutIsNotInput(common.path, arguments.target));
  RewriteReport report{.num_rows = input.num_rows()};
  for (const ColumnSchema& column : schema.columns) report.columns.push_back({.name = column.name});
  if (const auto key_index = schema.key_index()) {
    RewrittenColumn& keys =
        report.columns.emplace_back(RewrittenColumn{.name = kKeyIndexName, .is_key_index = true});
    for (size_t part = input.parts().begin; part < input.parts().end; ++part) {
      CFILE_ASSIGN_OR_RETURN(const Reader file, table.OpenColumn(part, *key_index));
      keys.bytes_before += file.info().file_size_bytes;
    }
  }
  const auto options_of = [&](size_t part, size_t column) -> absl::StatusOr<WriterOptions> {
    const std::string& name = schema.columns[column].name;
    WriterOptions options = WriterOptionsOf(layout, name);
    CFILE_ASSIGN_OR_RETURN(const std::string path, table.part_file(part, column));
    // A part that is older than the column has no file of it.
    if (!path.empty()) {
      CFILE_ASSIGN_OR_RETURN(const Reader file, table.OpenColumn(part, column));
      CFILE_ASSIGN_OR_RETURN(options, OptionsLike(file, layout, name));
      options.movable_blocks.reset();  // as in all new tables
      Note(file.info(), options, layout.has_extensions(), /*in_table=*/true, report);
      report.columns[column].bytes_before += file.info().file_size_bytes;
    }
    SetWriterLimits(common, options);
    return options;
  };
  CFILE_ASSIGN_OR_RETURN(NewTable target, NewTable::Create(arguments.target, arguments.force));
  RowProgress progress("rewriting", input.num_rows(), schema.columns.size());
  auto copied = CopyTable(table, input.parts(), target.location(), options_of,
                          WriterOptionsOf(layout, "").oldest_reader, progress.callback());
  if (!copied.ok()) return target.WithFinalPath(copied.status());
  std::vector<ColumnTotals> totals = *std::move(copied);
  CFILE_RETURN_IF_ERROR(target.Finish());
  for (size_t i = 0; i < totals.size(); ++i) report.columns[i].totals = std::move(totals[i]);
  return report;
}

// True if the last value of each file is at most the first value of the next file. Preconditions:
// all files have the same type and a value index.
absl::StatusOr<bool> FollowInOrder(const std::vector<Reader>& files) {
  return VisitType(files[0].type(), [&]<typename T>(std::type_identity<T>) -> absl::StatusOr<bool> {
    std::optional<Owned<T>> last;
    for (const Reader& file : files) {
      if (file.num_rows() == 0) continue;
      CFILE_ASSIGN_OR_RETURN(const auto first, file.Get<T>(0));
      if constexpr (!std::is_same_v<T, Int96>) {
        if (last && first && *first < *last) return false;
      }
      CFILE_ASSIGN_OR_RETURN(last, file.Get<T>(file.num_rows() - 1));
    }
    return true;
  });
}

absl::StatusOr<RewriteReport> ConcatenateFiles(const CommonOptions& common,
                                               const RewriteArguments& arguments,
                                               const LayoutOptions& layout) {
  std::vector<Reader> files;
  RewriteReport report;
  uint64_t bytes = 0;
  bool sorted = true;
  for (size_t i = 0; i + 1 < arguments.places.size(); ++i) {
    CommonOptions one = common;
    one.path = arguments.places[i];
    CFILE_ASSIGN_OR_RETURN(const Input input, OpenInput(one));
    if (!input.file) {
      return absl::InvalidArgumentError(
          absl::StrCat(one.path,
                       " is a table: only files are joined. To add rows to a table, use "
                       "cfile-import --append"));
    }
    const Reader& file = files.emplace_back(*input.file);
    const FileInfo& info = file.info();
    if (info.holds_bloom_filters()) {
      return absl::UnimplementedError(
          absl::StrCat(one.path, ": the file holds Bloom filters of Kudu instead of rows"));
    }
    report.num_rows += file.num_rows();
    bytes += info.file_size_bytes;
    sorted = sorted && info.value_index_root.has_value() &&
             (info.positional_index_root || file.num_rows() == 0);
    if (!(file.type() == files[0].type())) {
      return absl::InvalidArgumentError(absl::StrCat(arguments.places[0], " has the type ",
                                                     files[0].type().ToString(), ", but ", one.path,
                                                     " has the type ", file.type().ToString()));
    }
  }
  CFILE_RETURN_IF_ERROR(CheckNames(layout, arguments.places[0], SchemaOfFile()));
  CFILE_RETURN_IF_ERROR(CheckOutIsFree(arguments.target, arguments.force));
  CFILE_ASSIGN_OR_RETURN(WriterOptions options, OptionsLike(files[0], layout, kFileColumn));
  SetWriterLimits(common, options);
  if (sorted) {
    CFILE_ASSIGN_OR_RETURN(sorted, FollowInOrder(files));
  }
  options.value_index = sorted;
  options.positional_index = true;
  for (const Reader& file : files) {
    Note(file.info(), options, layout.has_extensions(), /*in_table=*/false, report);
  }
  CFILE_ASSIGN_OR_RETURN(auto sink, CreateFileAt(arguments.target, ExistingOf(arguments.force)));
  RowProgress progress("joining", report.num_rows, 1);
  CFILE_ASSIGN_OR_RETURN(ConcatenateReport done,
                         Concatenate(files, std::move(sink), options, progress.callback()));
  report.columns.push_back(
      {.name = kFileColumn, .bytes_before = bytes, .totals = std::move(done.totals)});
  report.copied_blocks = done.copied_blocks;
  return report;
}

void PrintReport(const RewriteReport& report, const std::string& target,
                 const CommonOptions& common, Output& output) {
  uint64_t before = 0, after = 0;
  Table columns(common.json, {{"", {.shorten = 2, .least = 12}},
                              {"", kNumberColumn},
                              {"", kNumberColumn},
                              {"", {.shorten = 1, .least = 12}}});
  Record key_index(common.json);
  for (const RewrittenColumn& column : report.columns) {
    const ColumnTotals& totals = column.totals;
    before += column.bytes_before;
    after += totals.bytes_written;
    Record& record = common.json && column.is_key_index ? key_index : columns.Add();
    record.Add("name", column.name, absl::StrCat("  ", Printable(column.name)));
    record.AddText("bytes", WithCommas(totals.bytes_written) + " bytes, before");
    record.AddCount("bytes_before", column.bytes_before);
    record.AddJson(
        {{"bytes", totals.bytes_written}, {"compression", CompressionName(totals.compression)}});
    record.Add("blocks", totals.encodings, FormsText(totals.encodings, totals.compression));
  }
  Document document(common.json, common.path);
  document.AddJson({{"out", target}, {"rows", report.num_rows}});
  const std::string title =
      absl::StrFormat(": %s, %s bytes, before %s", Plural(report.num_rows, "row"),
                      WithCommas(after), WithCommas(before));
  document.AddLine(ShortenedForOutput(Printable(target), title.size(), /*keep_end=*/true), title);
  document.AddTable("columns", columns);
  if (key_index.json().size() > 0) document.AddJson({{"key_index", key_index}});
  if (report.copied_blocks) {
    document.AddJson({{"copied_blocks", *report.copied_blocks}});
    document.AddLine("  ", Plural(*report.copied_blocks, "block"),
                     " copied, the others encoded again");
  }
  for (const auto& [name, parts] :
       {std::pair("kept", &report.kept), std::pair("dropped", &report.dropped)}) {
    document.AddJson({{name, *parts}});
    if (parts->empty()) continue;
    const std::string line = absl::StrCat("  ", name, ": ", absl::StrJoin(*parts, ", "));
    document.AddLine(WrappedForOutput(line, 4));
  }
  document.PrintTo(output);
}

Outcome Rewrite(RewriteArguments arguments, const CommonOptions& common, Output& output) {
  output.IgnoreClosedPipe();
  arguments.target = arguments.places.back();
  LayoutOptions layout;
  CFILE_RETURN_IF_ERROR(arguments.layout.Read(layout));
  RewriteReport report;
  if (arguments.places.size() > 1) {
    arguments.places.insert(arguments.places.begin(), common.path);
    CFILE_ASSIGN_OR_RETURN(report, ConcatenateFiles(common, arguments, layout));
  } else {
    CFILE_ASSIGN_OR_RETURN(const Input input, OpenInput(common));
    CFILE_ASSIGN_OR_RETURN(report, input.file ? RewriteFile(*input.file, common, arguments, layout)
                                              : RewriteTable(input, common, arguments, layout));
  }
  PrintReport(report, arguments.target, common, output);
  return kFine;
}

}  // namespace

void AddRewriteCommand(Command& app, CommonOptions& common, Action& action) {
  Command& command = AddCommand(
      app, common, "rewrite", "Write a file or a table in another form, or several files as one",
      "Reads all values of FILE and writes them to TARGET, the last argument, a new file or a new\n"
      "table. The options are those of cfile-import, with the same defaults: without options, the\n"
      "writer chooses encodings and compression again. In a file, options name the column\n"
      "'value'.\n"
      "Kept: types, nulls, nested records, the order of the rows, the parts of a table, key\n"
      "columns, the merge rule, the value index, metadata, and the Bloom filter with as many bits\n"
      "for each value. Made again: the indexes, and the statistics. Version 1 and Kudu have no\n"
      "statistics, Bloom filters and movable blocks, and single files of them do not store\n"
      "precision and scale of decimals; what is dropped is printed.\n"
      "TARGET appears when it is complete: an error or Ctrl-C leaves no part of it. With\n"
      "--force, TARGET may be FILE. A table needs the memory of one block for each column. With\n"
      "--pack-below 0, each column of a table becomes a file; `cfile-table compact` unpacks parts\n"
      "in place.\n\n"
      "The rows of several files go into one file, in the order in which the files are given. All\n"
      "files must have the same type. Movable blocks (see the features in `cfile-dump summary`;\n"
      "files of tables have them) are copied without decoding, if the options do not ask for\n"
      "another form, no Bloom filter is made, and the blocks have no dictionary and are not\n"
      "small. TARGET has a value index if each file has one and the files follow each other in\n"
      "the order of their values. Metadata and the Bloom filter's size are those of the first\n"
      "file. `cfile-table compact` merges the parts of a table.\n\n"
      "Examples:\n"
      "  cfile-dump rewrite keys.cfile small.cfile --for size\n"
      "  cfile-dump rewrite keys.cfile keys.cfile --force --encoding prefix\n"
      "  cfile-dump rewrite keys.cfile kudu.cfile --oldest-reader kudu\n"
      "  cfile-dump rewrite monday.cfile tuesday.cfile week.cfile\n"
      "  cfile-dump rewrite flights copy --encoding carrier=dict --block-size 64KiB",
      "A .cfile, or the directory of a table; or the first of several files");
  const auto arguments = std::make_shared<RewriteArguments>();
  command.aliases = {{.word = "concat"}};
  command
      .Add("FILES ... TARGET", &arguments->places,
           "Perhaps more files, and at last TARGET, the output")
      .required = true;
  arguments->layout.AddTo(command);
  command.Add("--force", &arguments->force, "Replace the target if it exists");
  command.Add(
      "--stored-rows", &common.stored_rows,
      "With --part, of a table with a merge rule: also rows that other parts have replaced");
  AddColumnOptions(command, common, "Only this column of a table, as a file", kAllPartsOrOne);
  SetAction(command, action, [arguments](const CommonOptions& chosen, Output& output) {
    const Action rewrite = With(arguments, Rewrite);
    const bool one_file = !chosen.column.empty() && arguments->places.size() == 1;
    return (one_file ? OnFile(rewrite) : rewrite)(chosen, output);
  });
}

}  // namespace cfile::tools
