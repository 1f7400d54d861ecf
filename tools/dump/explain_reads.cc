#include "tools/dump/explain_reads.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/inspect.h"
#include "cfile/packed_file.h"
#include "cfile/status.h"
#include "tools/document.h"
#include "tools/location.h"

namespace cfile::tools {
namespace {

// An index node, a data block or another part of a file that the search used.
struct Touched {
  std::string what;
  BlockPointer pointer = {};
  size_t keys = 0;                     // the number of keys of an index node; otherwise 0
  const ObservedRead* read = nullptr;  // the read that contains this part; null: there is none

  // The number of comparisons that a binary search among the keys needs.
  uint64_t comparisons() const { return keys == 0 ? 0 : std::bit_width(keys - 1) + 1; }
};

// The path of a search from the root of an index to the data blocks that the search opened.
class IndexPath {
 public:
  // `num_blocks`: the number of data blocks that the search opened. These blocks follow each other.
  IndexPath(IndexKind kind, uint64_t num_blocks) : kind_(kind), blocks_left_(num_blocks) {}

  // `ordinal`: the row that was searched in a positional index. `key`: that of a value index, in
  // memcmp form.
  absl::StatusOr<std::vector<Touched>> Find(const Reader& reader, uint64_t ordinal,
                                            const std::string& key) {
    const auto& root = kind_ == IndexKind::kPositional ? reader.info().positional_index_root
                                                       : reader.info().value_index_root;
    if (!root) return touched_;
    next_ = *root;
    CFILE_RETURN_IF_ERROR(VisitIndex(
        reader, kind_, [&](const IndexNodeInfo& node) { return Visit(node, ordinal, key); }));
    return std::move(touched_);
  }

 private:
  // False if the path is complete.
  bool Visit(const IndexNodeInfo& node, uint64_t ordinal, const std::string& key) {
    const bool follows = at_leaf_ && node.leaf;  // the search went on to the next leaf
    if (node.pointer != next_ && !follows) {
      if (node.leaf) blocks_before_ += node.entries.size();
      return true;
    }
    const char* const name = kind_ == IndexKind::kPositional ? "positional" : "value";
    touched_.push_back({.what = absl::StrCat(name, " index, depth ", node.depth),
                        .pointer = node.pointer,
                        .keys = node.entries.size()});
    size_t entry = follows ? 0 : EntryOf(node, ordinal, key);
    if (!node.leaf) {
      if (!node.entries.empty()) next_ = node.entries[entry].pointer;
      return true;
    }
    at_leaf_ = true;
    for (; entry < node.entries.size() && blocks_left_ > 0; ++entry, --blocks_left_) {
      touched_.push_back({.what = absl::StrCat("data block ", blocks_before_ + entry),
                          .pointer = node.entries[entry].pointer});
    }
    blocks_before_ += node.entries.size();
    return blocks_left_ > 0;
  }

  // The last entry whose ordinal is at most `ordinal`, or whose key is less than `key`; or the
  // first one.
  size_t EntryOf(const IndexNodeInfo& node, uint64_t ordinal, const std::string& key) const {
    const auto after = std::partition_point(
        node.entries.begin(), node.entries.end(), [&](const IndexEntryInfo& entry) {
          return kind_ == IndexKind::kPositional ? entry.ordinal <= ordinal : entry.key < key;
        });
    return after == node.entries.begin() ? 0 : after - node.entries.begin() - 1;
  }

  const IndexKind kind_;
  uint64_t blocks_left_;
  BlockPointer next_;  // the next node of the path
  bool at_leaf_ = false;
  uint64_t blocks_before_ = 0;  // the number of data blocks of the leaves that were visited
  std::vector<Touched> touched_;
};

// What a search used and read of one file.
struct FileReads {
  std::string path = {};
  std::string column = {};  // the name of the column; empty if the file is not in a table
  uint64_t size_bytes = 0;  // the size of the file
  bool has_pieces = false;
  std::vector<Touched> touched = {};
  // Reads that have a line of their own: those that contain nothing in `touched`, and those of the
  // front and of the end of the file, which were made when the file was opened.
  std::vector<const ObservedRead*> others = {};
  ReaderCounters counters = {};

  // The read that was made for `each`; null if the bytes were in a cache, or the read is in
  // `others`.
  const ObservedRead* ReadFor(const Touched& each) const {
    const bool shared = std::find(others.begin(), others.end(), each.read) != others.end();
    return shared ? nullptr : each.read;
  }
};

// True if `read` is of the whole block, perhaps with other bytes, or of a piece of it.
bool Has(const ObservedRead& read, const BlockPointer& pointer) {
  const uint64_t end = read.offset + read.size_bytes;
  return (read.offset <= pointer.offset && pointer.end() <= end) ||
         (pointer.offset <= read.offset && end <= pointer.end());
}

struct Place {
  size_t part = 0;
  size_t column = 0;
  uint64_t first_ordinal = 0;
  uint64_t num_rows = 0;
};

absl::StatusOr<Place> PlaceOf(const TableReader& table, const std::string& path) {
  CFILE_ASSIGN_OR_RETURN(const PartFile found, FindPartFile(table, path));
  CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(found.part));
  return Place{found.part, found.column, info.first_ordinal, info.num_rows};
}

// Adds `file` to `files`. For a packed file, adds the columns of which something was read instead.
absl::Status AddColumns(const ReadLog::File& file, const CommonOptions& common,
                        std::vector<ReadLog::File>& files) {
  if (!IsPackedPath(file.path)) {
    files.push_back(file);
    return absl::OkStatus();
  }
  CFILE_ASSIGN_OR_RETURN(const auto source,
                         OpenSourceAt(absl::StrCat(common.path, "/", file.path)));
  CFILE_ASSIGN_OR_RETURN(const std::vector<PackedColumn> columns,
                         ReadPackedDirectory(*source, OptionsOf(common).max_metadata_size_bytes));
  for (const PackedColumn& column : columns) {
    ReadLog::File in_column{absl::StrCat(file.path, "/", column.file_name), {}};
    for (ObservedRead read : file.reads) {
      const uint64_t begin = std::max<uint64_t>(read.offset, column.offset);
      const uint64_t end =
          std::min<uint64_t>(read.offset + read.size_bytes, column.offset + column.size_bytes);
      if (begin >= end) continue;
      read.offset = begin - column.offset;
      read.size_bytes = end - begin;
      in_column.reads.push_back(read);
    }
    if (!in_column.reads.empty()) files.push_back(std::move(in_column));
  }
  return absl::OkStatus();
}

// What the search used of `file`, whose index is read again.
absl::StatusOr<FileReads> ReadsOf(const Input& input, const CommonOptions& common,
                                  const ReadLog::File& file, const Searched& searched) {
  FileReads result{.path = common.path};
  Place place{.num_rows = input.num_rows()};
  std::optional<Reader> reader = input.file;
  if (input.table) {
    CFILE_ASSIGN_OR_RETURN(place, PlaceOf(*input.table, file.path));
    CFILE_ASSIGN_OR_RETURN(reader, input.table->OpenColumn(place.part, place.column));
    absl::StrAppend(&result.path, "/", file.path);
    const auto& columns = input.table->schema().columns;
    result.column = place.column < columns.size() ? columns[place.column].name : "key index";
  }
  result.counters = reader->counters();
  const uint64_t blocks = result.counters.blocks_read + result.counters.blocks_cached;
  if (searched.key_column == place.column) {
    CFILE_ASSIGN_OR_RETURN(result.touched,
                           IndexPath(IndexKind::kValue, blocks).Find(*reader, 0, searched.key));
  } else if (searched.ordinal && *searched.ordinal - place.first_ordinal < place.num_rows) {
    CFILE_ASSIGN_OR_RETURN(result.touched,
                           IndexPath(IndexKind::kPositional, blocks)
                               .Find(*reader, *searched.ordinal - place.first_ordinal, ""));
  }
  const FileInfo& info = reader->info();
  result.size_bytes = info.file_size_bytes;
  result.has_pieces = info.has_pieces();
  const auto add = [&](const char* what, const std::optional<BlockPointer>& pointer) {
    const bool was_read =
        pointer && std::any_of(file.reads.begin(), file.reads.end(), [&](const ObservedRead& read) {
          return read.offset == pointer->offset && read.size_bytes <= pointer->size;
        });
    if (was_read) result.touched.push_back({.what = what, .pointer = *pointer});
  };
  add("dictionary", info.dictionary);
  add("statistics", info.statistics);
  add("piece directory", info.piece_directory);
  for (Touched& touched : result.touched) {
    const auto read = std::find_if(file.reads.begin(), file.reads.end(),
                                   [&](const auto& each) { return Has(each, touched.pointer); });
    if (read != file.reads.end()) touched.read = &*read;
  }
  for (const ObservedRead& read : file.reads) {
    const bool shown = std::any_of(result.touched.begin(), result.touched.end(),
                                   [&](const Touched& touched) { return touched.read == &read; });
    if (!shown || read.offset == 0 || read.offset + read.size_bytes == result.size_bytes) {
      result.others.push_back(&read);
    }
  }
  return result;
}

// The name of a read of FileReads::others.
std::string NameOf(const ObservedRead& read, const FileReads& file) {
  const bool first = read.offset == 0;
  const bool last = read.offset + read.size_bytes == file.size_bytes;
  if (first && last) return "whole file";
  if (first) return "front of the file";
  if (last) return "end of the file";
  return file.has_pieces ? "piece table" : "other";
}

std::string TimeText(std::chrono::nanoseconds time) {
  const double microseconds = static_cast<double>(time.count()) / 1e3;
  return microseconds < 10000 ? absl::StrFormat("%.1f us", microseconds)
                              : absl::StrFormat("%.1f ms", microseconds / 1e3);
}

// Returns what was used of a file, and what was read of it. JSON has two lists, text one table.
Document DocumentOf(const FileReads& file, const CommonOptions& common) {
  Document document(common.json);
  Table reads(common.json);
  Table touched(common.json, {{"", {.shorten = 1, .least = 24}},
                              {"offset", kNumberColumn},
                              {"size", {.right = true, .drop = 1}},
                              {"keys", {.right = true, .drop = 2}},
                              {"comparisons", {.right = true, .drop = 3}},
                              {"bytes read", kNumberColumn},
                              {"time"}});
  // `used`: null for a read of FileReads::others. `read`: null if nothing was read.
  const auto add = [&](const std::string& what, uint64_t offset, uint64_t size, const Touched* used,
                       const ObservedRead* read) {
    if (read != nullptr) {
      reads.Add({{"what", what},
                 {"offset", read->offset},
                 {"size", read->size_bytes},
                 {"nanoseconds", read->time.count()}});
    }
    if (common.json && used == nullptr) return;
    Record& record = touched.Add();
    record.AddBytes("what", what);
    record.Add("offset", offset);
    record.Add("size", size);
    if (used != nullptr && used->keys > 0) {
      record.Add("keys", used->keys);
      record.Add("comparisons", used->comparisons());
    } else {
      for (const char* name : {"keys", "comparisons"}) record.AddText(name, "");
    }
    record.Add("bytes_read", read == nullptr ? 0 : read->size_bytes);
    record.AddText("time", read == nullptr ? "" : TimeText(read->time));
  };
  for (const ObservedRead* read : file.others) {
    add(NameOf(*read, file), read->offset, read->size_bytes, nullptr, read);
  }
  for (const Touched& each : file.touched) {
    add(each.what, each.pointer.offset, each.pointer.size, &each, file.ReadFor(each));
  }
  const std::string column =
      file.column.empty() ? "" : absl::StrCat(", column ", Printable(file.column));
  document.AddLine("\n", ShortenedForOutput(Printable(file.path) + column, 0, /*keep_end=*/true));
  document.AddJson({{"path", file.path}});
  if (!file.column.empty()) document.AddJson({{"column", file.column}});
  document.AddJson({{"size", file.size_bytes}, {"reads", reads}});
  document.AddTable("touched", touched);
  document.AddJson({{"index_nodes_read", file.counters.index_nodes_read},
                    {"blocks_read", file.counters.blocks_read},
                    {"blocks_cached", file.counters.blocks_cached}});
  return document;
}

}  // namespace

void AddExplainOption(Command& command, bool& explain) {
  command.Add("--explain", &explain,
              "Also print which index nodes and data blocks were used for the row, and what was "
              "read; for more rows than one, on standard error, only how much. Comparisons are "
              "computed, not counted: they are those of a binary search among the keys of a node. "
              "With --json, a second line has the object explain");
}

ReadObserver ReadLog::observer() {
  return [this](const std::string& path, const ObservedRead& read) {
    if (stopped_) return;
    const auto file = std::find_if(files_.begin(), files_.end(),
                                   [&](const File& each) { return each.path == path; });
    if (file != files_.end()) {
      file->reads.push_back(read);
    } else {
      files_.push_back({path, {read}});
    }
  };
}

void ReadLog::Stop() {
  if (stopped_) return;
  time_ = Clock::now() - begin_;
  stopped_ = true;
}

void AppendTotals(const ReaderCounters& total, const ReadLog& log, std::string& out) {
  absl::StrAppend(&out, "read ", WithCommas(total.source_bytes), " bytes in ",
                  Plural(total.source_requests, "request"), ", with read-ahead\n",
                  Plural(total.index_nodes_read, "index node"), ", ",
                  Plural(total.blocks_read, "data block"), " read; ",
                  Plural(total.blocks_cached, "data block"), " from the cache; ",
                  TimeText(log.time()), "\n");
}

absl::Status AppendExplanation(const Input& input, const CommonOptions& common, ReadLog& log,
                               const Searched& searched, std::string& out) {
  log.Stop();
  // The counters must be read before the loop, because ReadsOf reads the indexes again.
  const ReaderCounters total = input.counters();
  Json files = Json::array();
  std::vector<ReadLog::File> logged;
  for (const ReadLog::File& file : log.files())
    CFILE_RETURN_IF_ERROR(AddColumns(file, common, logged));
  for (const ReadLog::File& file : logged) {
    // A packed file may have columns that the part no longer has.
    if (input.table && absl::IsNotFound(PlaceOf(*input.table, file.path).status())) continue;
    CFILE_ASSIGN_OR_RETURN(const FileReads reads, ReadsOf(input, common, file, searched));
    const Document document = DocumentOf(reads, common);
    files.push_back(document.json());
    out += document.text();
  }
  if (!common.json) {
    out += '\n';
    AppendTotals(total, log, out);
    return absl::OkStatus();
  }
  Document document(common.json, common.path);
  document.AddJson({{"explain",
                     {{"files", std::move(files)},
                      {"source_requests", total.source_requests},
                      {"source_bytes", total.source_bytes},
                      {"index_nodes_read", total.index_nodes_read},
                      {"blocks_read", total.blocks_read},
                      {"blocks_cached", total.blocks_cached},
                      {"nanoseconds", log.time().count()}}}});
  absl::StrAppend(&out, document.json().dump(), "\n");
  return absl::OkStatus();
}

}  // namespace cfile::tools
