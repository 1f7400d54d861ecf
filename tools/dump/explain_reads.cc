#include "tools/dump/explain_reads.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cfile/inspect.h"
#include "cfile/status.h"
#include "tools/progress.h"

namespace cfile::tools {
namespace {

// A part of a file that was used.
struct Touched {
  std::string what;
  BlockPointer pointer = {};
  size_t keys = 0;                     // of an index node
  const ObservedRead* read = nullptr;  // the read that had these bytes; null: there is none

  // The comparisons of a binary search among the keys.
  uint64_t comparisons() const { return keys == 0 ? 0 : std::bit_width(keys - 1) + 1; }
};

// Walks from the root of an index to the data blocks that a search opened.
class IndexPath {
 public:
  // `num_blocks`: how many consecutive data blocks the search opened.
  IndexPath(IndexKind kind, uint64_t num_blocks) : kind_(kind), blocks_left_(num_blocks) {}

  // `target`: the ordinal, or the key in memcmp form, which was searched.
  absl::StatusOr<std::vector<Touched>> Find(const Reader& reader, uint64_t ordinal,
                                            const std::string& key) {
    const auto& root = kind_ == IndexKind::kPositional ? reader.info().positional_index_root
                                                       : reader.info().value_index_root;
    if (!root) return touched_;
    next_ = *root;
    CFILE_RETURN_IF_ERROR(VisitIndex(reader, kind_, [&](const IndexNodeInfo& node) {
      return Visit(node, ordinal, key);
    }));
    return std::move(touched_);
  }

 private:
  // False: the path is complete.
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

  // The entry that a reader takes: the last one with at most this ordinal, or with a lesser key;
  // the first one if there is none.
  size_t EntryOf(const IndexNodeInfo& node, uint64_t ordinal, const std::string& key) const {
    const auto after = std::partition_point(
        node.entries.begin(), node.entries.end(), [&](const IndexEntryInfo& entry) {
          return kind_ == IndexKind::kPositional ? entry.ordinal <= ordinal : entry.key < key;
        });
    return after == node.entries.begin() ? 0 : after - node.entries.begin() - 1;
  }

  const IndexKind kind_;
  uint64_t blocks_left_;
  BlockPointer next_;  // the node that comes next on the path
  bool at_leaf_ = false;
  uint64_t blocks_before_ = 0;  // the data blocks of the leaves so far
  std::vector<Touched> touched_;
};

// What was used of one file.
struct FileReads {
  std::string path = {};
  std::string column = {};  // of a table
  std::vector<Touched> touched = {};
  std::vector<const ObservedRead*> others = {};  // the reads for which nothing in `touched` stands
  ReaderCounters counters = {};
};

bool Has(const ObservedRead& read, const BlockPointer& pointer) {
  return read.offset <= pointer.offset && pointer.end() <= read.offset + read.size_bytes;
}

struct Place {
  size_t part = 0;
  size_t column = 0;
  uint64_t first_ordinal = 0;
  uint64_t num_rows = 0;
};

// The part and the column of a table's file. kNotFound: the table has no such file.
absl::StatusOr<Place> PlaceOf(const TableReader& table, const std::string& path) {
  const size_t columns = table.schema().columns.size() + (table.schema().key_index() ? 1 : 0);
  for (size_t part = 0; part < table.num_parts(); ++part) {
    for (size_t column = 0; column < columns; ++column) {
      CFILE_ASSIGN_OR_RETURN(const std::string file, table.part_file(part, column));
      if (file != path) continue;
      CFILE_ASSIGN_OR_RETURN(const PartInfo info, table.part(part));
      return Place{part, column, info.first_ordinal, info.num_rows};
    }
  }
  return absl::NotFoundError(absl::StrCat(path, ": no column of the table has this file"));
}

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
  const auto add = [&](const char* what, const std::optional<BlockPointer>& pointer) {
    const bool was_read = pointer && std::any_of(file.reads.begin(), file.reads.end(),
                                                 [&](const ObservedRead& read) {
                                                   return read.offset == pointer->offset &&
                                                          read.size_bytes <= pointer->size;
                                                 });
    if (was_read) result.touched.push_back({.what = what, .pointer = *pointer});
  };
  add("dictionary", info.dictionary);
  add("statistics", info.statistics);
  for (Touched& touched : result.touched) {
    const auto read = std::find_if(file.reads.begin(), file.reads.end(), [&](const auto& each) {
      return Has(each, touched.pointer);
    });
    if (read != file.reads.end()) touched.read = &*read;
  }
  for (const ObservedRead& read : file.reads) {
    const bool shown =
        std::any_of(result.touched.begin(), result.touched.end(),
                    [&](const Touched& touched) { return touched.read == &read; });
    if (!shown || read.offset == 0 || read.offset + read.size_bytes == info.file_size_bytes) {
      result.others.push_back(&read);
    }
  }
  return result;
}

// The name of a read for which no block stands.
std::string NameOf(const ObservedRead& read, uint64_t file_size) {
  const bool first = read.offset == 0;
  const bool last = read.offset + read.size_bytes == file_size;
  if (first && last) return "whole file";
  return first ? "front of the file" : last ? "end of the file" : "other";
}

std::string Microseconds(std::chrono::nanoseconds time) {
  return absl::StrFormat("%.1f", static_cast<double>(time.count()) / 1e3);
}

// True if the bytes of `touched` came with an earlier read of `reads`, the others.
bool IsShared(const Touched& touched, const FileReads& file) {
  return std::find(file.others.begin(), file.others.end(), touched.read) != file.others.end();
}

void AppendLine(const std::string& what, uint64_t offset, uint64_t size, const std::string& keys,
                const std::string& comparisons, const std::string& read, const std::string& time,
                std::string& out) {
  out += absl::StrFormat("%-28s  %12d  %10d  %6s  %11s  %10s  %8s\n", what, offset, size, keys,
                         comparisons, read, time);
}

void AppendText(const FileReads& file, uint64_t file_size, std::string& out) {
  absl::StrAppend(&out, "\n", Printable(file.path));
  if (!file.column.empty()) absl::StrAppend(&out, ", column ", Printable(file.column));
  out += '\n';
  out += absl::StrFormat("%-28s  %12s  %10s  %6s  %11s  %10s  %8s\n", "", "offset", "size", "keys",
                         "comparisons", "bytes read", "time us");
  for (const ObservedRead* read : file.others) {
    AppendLine(NameOf(*read, file_size), read->offset, read->size_bytes, "", "",
               absl::StrCat(read->size_bytes), Microseconds(read->time), out);
  }
  for (const Touched& touched : file.touched) {
    const bool own = touched.read != nullptr && !IsShared(touched, file);
    AppendLine(touched.what, touched.pointer.offset, touched.pointer.size,
               touched.keys == 0 ? "" : absl::StrCat(touched.keys),
               touched.keys == 0 ? "" : absl::StrCat(touched.comparisons()),
               absl::StrCat(own ? touched.read->size_bytes : 0),
               own ? Microseconds(touched.read->time) : "", out);
  }
}

Json ToJson(const FileReads& file, uint64_t file_size) {
  Json json = {{"path", JsonBytes(file.path)}};
  if (!file.column.empty()) json["column"] = JsonBytes(file.column);
  json["size"] = JsonInteger(file_size);
  Json& reads = json["reads"] = Json::array();
  const auto add_read = [&](const std::string& what, const ObservedRead& read) {
    reads.push_back({{"what", what},
                     {"offset", JsonInteger(read.offset)},
                     {"size", JsonInteger(read.size_bytes)},
                     {"nanoseconds", read.time.count()}});
  };
  for (const ObservedRead* read : file.others) add_read(NameOf(*read, file_size), *read);
  Json touched_list = Json::array();
  for (const Touched& touched : file.touched) {
    Json item = {{"what", touched.what},
                 {"offset", JsonInteger(touched.pointer.offset)},
                 {"size", touched.pointer.size}};
    if (touched.keys > 0) {
      item["keys"] = touched.keys;
      item["comparisons"] = touched.comparisons();
    }
    const bool own = touched.read != nullptr && !IsShared(touched, file);
    item["bytes_read"] = JsonInteger(own ? touched.read->size_bytes : 0);
    if (own) add_read(touched.what, *touched.read);
    touched_list.push_back(std::move(item));
  }
  json["touched"] = std::move(touched_list);
  json["index_nodes_read"] = JsonInteger(file.counters.index_nodes_read);
  json["blocks_read"] = JsonInteger(file.counters.blocks_read);
  json["blocks_cached"] = JsonInteger(file.counters.blocks_cached);
  return json;
}

}  // namespace

void AddExplainOption(CLI::App& command, bool& explain) {
  command.add_flag("--explain", explain,
                   "Also print which index nodes and data blocks were used, and what was read. "
                   "Comparisons are those of a binary search among the keys of a node. With "
                   "--json, a second line has the object explain");
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

void AppendTotals(const Input& input, const ReadLog& log, std::string& out) {
  const ReaderCounters total = input.file ? input.file->counters() : input.table->counters();
  absl::StrAppend(&out, "read ", WithCommas(total.source_bytes), " bytes in ",
                  Plural(total.source_requests, "request"), ": ",
                  Plural(total.index_nodes_read, "index node"), ", ",
                  Plural(total.blocks_read, "data block"), " read; ",
                  Plural(total.blocks_cached, "data block"), " from the cache; ",
                  Microseconds(log.time()), " us\n");
}

absl::Status AppendExplanation(const Input& input, const CommonOptions& common, ReadLog& log,
                               const Searched& searched, std::string& out) {
  log.Stop();
  // Counted before the indexes are read again.
  const ReaderCounters total = input.file ? input.file->counters() : input.table->counters();
  std::string totals;
  AppendTotals(input, log, totals);
  Json files = Json::array();
  for (const ReadLog::File& file : log.files()) {
    CFILE_ASSIGN_OR_RETURN(const FileReads reads, ReadsOf(input, common, file, searched));
    uint64_t file_size = 0;
    for (const ObservedRead& read : file.reads) {
      file_size = std::max(file_size, read.offset + read.size_bytes);
    }
    if (common.json) {
      files.push_back(ToJson(reads, file_size));
    } else {
      AppendText(reads, file_size, out);
    }
  }
  if (!common.json) {
    absl::StrAppend(&out, "\n", totals);
    return absl::OkStatus();
  }
  Json explain = {{"files", std::move(files)},
                  {"source_requests", JsonInteger(total.source_requests)},
                  {"source_bytes", JsonInteger(total.source_bytes)},
                  {"index_nodes_read", JsonInteger(total.index_nodes_read)},
                  {"blocks_read", JsonInteger(total.blocks_read)},
                  {"blocks_cached", JsonInteger(total.blocks_cached)},
                  {"nanoseconds", log.time().count()}};
  absl::StrAppend(&out, Json{{"explain", std::move(explain)}}.dump(), "\n");
  return absl::OkStatus();
}

}  // namespace cfile::tools
