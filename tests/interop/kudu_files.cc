// cfile_kudu_files DIRECTORY: with the public Writer<T>, writes a CFile for each combination of
// type, encoding, null pattern, codec, size and oldest_reader that Apache Kudu reads. NAME.values
// has the rows of NAME.cfile as `kudu fs dump cfile` prints them. DIRECTORY/files.tsv lists NAME,
// type, encoding, number of rows.
//
// Kudu prints FLOAT with at most 8 digits, DECIMAL128 beyond 64 bits without inner zeros, and years
// without padding. The values here are chosen so that the output is still exact.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cfile/types.h"
#include "cfile/writer.h"

namespace {

using cfile::ColumnType;
using cfile::Compression;
using cfile::DataType;
using cfile::Encoding;
using cfile::int128_t;
using cfile::OldestReader;
using cfile::encodings::kIsBytes;

struct TypeCase {
  std::string name;
  ColumnType type;
  std::vector<Encoding> encodings;
  bool has_keys;  // whether Kudu allows the type in a key
};

enum class Nulls { kNotNullable, kNone, kTenth, kHalf, kAll };

struct FileCase {
  const TypeCase* type;
  Encoding encoding;
  Compression compression;
  Nulls nulls;
  size_t num_rows;
  size_t block_size_bytes;
  bool sorted;            // ascending values, with a value index
  bool positional_index;  // if false, Kudu reads with the value index
  OldestReader oldest_reader;
};

// Returns pseudo-random bits that depend on i alone.
uint64_t Mix(uint64_t i) {
  i = (i + 1) * 0x9E3779B97F4A7C15u;
  i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9u;
  i = (i ^ (i >> 27)) * 0x94D049BB133111EBu;
  return i ^ (i >> 31);
}

// Returns the number that row i is made from: alternately 100 equal numbers and 200 pseudo-random
// numbers.
uint64_t Seed(size_t i) { return Mix(i % 300 < 100 ? i / 300 : i); }

// Returns a value that ascends with i: at least `low` and below `high`. Rows 2k and 2k + 1 are
// equal.
int128_t Ascending(size_t i, size_t num_rows, int128_t low, int128_t high) {
  const size_t step = i / 2 * 2;
  const int128_t range = high - low;
  return low + range / static_cast<int128_t>(num_rows) * static_cast<int128_t>(step) +
         range % static_cast<int128_t>(num_rows) * static_cast<int128_t>(step) /
             static_cast<int128_t>(num_rows);
}

std::string Format(const char* format, auto... arguments) {
  char text[64];
  const int size = std::snprintf(text, sizeof(text), format, arguments...);
  return std::string(text, static_cast<size_t>(size));
}

std::string DateText(std::chrono::sys_days days) {
  const std::chrono::year_month_day date(days);
  return Format("%d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
}

// Returns the smallest and the largest value of `type` that Kudu prints exactly.
template <typename T>
std::pair<int128_t, int128_t> Range(DataType type) {
  constexpr int128_t kDay = int128_t{86'400} * 1'000'000;
  switch (type) {
    case DataType::kDate:
      return {-250'000, 250'000};
    case DataType::kUnixtimeMicros:
      return {-250'000 * kDay, 250'000 * kDay};
    case DataType::kDecimal32:
      return {-999'999'999, 999'999'999};
    case DataType::kDecimal64:
      return {-999'999'999'999'999'999, 999'999'999'999'999'999};
    default:
      break;
  }
  if constexpr (sizeof(T) == 16) {
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  } else {
    return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  }
}

template <typename T>
T Value(const FileCase& file, size_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return (Seed(i) & 1) != 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto quarters = static_cast<T>(static_cast<int64_t>(Seed(i) % 200'000) - 100'000) / 4;
    return std::is_same_v<T, double> ? quarters / 3 : quarters;
  } else {
    const auto [low, high] = Range<T>(file.type->type.data_type);
    if (file.sorted) return static_cast<T>(Ascending(i, file.num_rows, low, high));
    switch (Seed(i) % 16) {
      case 0:
        return static_cast<T>(low);
      case 1:
        return static_cast<T>(high);
      default:
        return static_cast<T>(
            low +
            static_cast<int128_t>(Seed(i) % static_cast<cfile::encodings::uint128_t>(high - low)));
    }
  }
}

std::string BytesValue(const FileCase& file, size_t i) {
  const bool binary = file.type->type.data_type == DataType::kBinary;
  if (file.sorted) {
    const auto number = static_cast<unsigned>(i / 2);
    if (!binary) return Format("key/%06u/%08u", number / 100, number);
    return {'\0', static_cast<char>(0x80 | number >> 14),
            static_cast<char>(0x80 | (number >> 7 & 0x7f)),
            static_cast<char>(0x80 | (number & 0x7f))};
  }
  const uint64_t seed = Seed(i);
  if (!binary)
    return seed % 16 == 0 ? std::string() : std::string(seed % 40, 'v') + std::to_string(seed % 64);
  std::string bytes(seed % 24, '\0');
  for (size_t k = 0; k < bytes.size(); ++k) {
    bytes[k] = static_cast<char>(k % 3 == 0 ? 0 : 0x80 | (Mix(seed + k / 3) & 0x7f));
  }
  return bytes;
}

template <typename T>
std::string Text(const ColumnType& type, const T& value) {
  if constexpr (kIsBytes<T>) {
    if (type.data_type != DataType::kBinary) return '"' + std::string(value) + '"';
    std::string text = "\"";
    for (const char c : value)
      text += Format("\\x%02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
    return text + '"';
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, float>) {
    return Format("%.8g", static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    const std::string text = Format("%.15g", value);
    return std::strtod(text.c_str(), nullptr) == value ? text : Format("%.17g", value);
  } else {
    using std::chrono::days;
    const std::string number = std::is_same_v<T, uint64_t>
                                   ? std::to_string(static_cast<uint64_t>(value))
                                   : std::to_string(static_cast<int64_t>(value));
    switch (type.data_type) {
      case DataType::kDate:
        return DateText(std::chrono::sys_days(days(static_cast<int>(value))));
      case DataType::kUnixtimeMicros: {
        const std::chrono::sys_time<std::chrono::microseconds> time{
            std::chrono::microseconds(static_cast<int64_t>(value))};
        const auto date = std::chrono::floor<days>(time);
        const std::chrono::hh_mm_ss clock(time - date);
        return DateText(date) + Format("T%02d:%02d:%02d.%06dZ",
                                       static_cast<int>(clock.hours().count()),
                                       static_cast<int>(clock.minutes().count()),
                                       static_cast<int>(clock.seconds().count()),
                                       static_cast<int>(clock.subseconds().count()));
      }
      case DataType::kDecimal32:
        return number + "_D32";
      case DataType::kDecimal64:
        return number + "_D64";
      case DataType::kDecimal128:
        return number + "_D128";
      default:
        return number;
    }
  }
}

bool IsNull(const FileCase& file, size_t i) {
  switch (file.nulls) {
    case Nulls::kNotNullable:
    case Nulls::kNone:
      return false;
    case Nulls::kTenth:
      return Mix(i + 777) % 10 == 0;
    case Nulls::kHalf:
      return i % 2 == 1;
    case Nulls::kAll:
      return true;
  }
  return false;
}

template <typename T>
absl::Status Write(const FileCase& file, const std::string& path_without_suffix) {
  std::vector<std::string> owned(kIsBytes<T> ? file.num_rows : 0);
  // Not std::vector: a std::vector<bool> does not convert to a span.
  const auto values = std::make_unique<T[]>(file.num_rows);
  std::vector<uint8_t> validity((file.num_rows + 7) / 8);
  std::ofstream text(path_without_suffix + ".values", std::ios::binary);
  for (size_t i = 0; i < file.num_rows; ++i) {
    if (IsNull(file, i)) {
      text << "NULL\n";
      continue;
    }
    if constexpr (kIsBytes<T>) {
      owned[i] = BytesValue(file, i);
      values[i] = owned[i];
    } else {
      values[i] = Value<T>(file, i);
    }
    validity[i / 8] = static_cast<uint8_t>(validity[i / 8] | 1 << (i % 8));
    text << Text(file.type->type, values[i]) << '\n';
  }
  if (!text.flush()) return absl::UnknownError("cannot write " + path_without_suffix + ".values");

  const cfile::WriterOptions options{
      .encoding = file.encoding,
      .compression = file.compression,
      .nullable = file.nulls != Nulls::kNotNullable,
      .positional_index = file.positional_index,
      .value_index = file.sorted,
      .block_size_bytes = file.block_size_bytes,
      // Small index nodes make deep trees.
      .index_block_size_bytes = file.num_rows > 100 ? size_t{200} : size_t{32 * 1024},
      .oldest_reader = file.oldest_reader,
      .metadata = {}};
  auto writer = cfile::Writer<T>::Create(path_without_suffix + ".cfile", file.type->type, options);
  if (!writer.ok()) return writer.status();
  // Appends batches, as Kudu's flush does. Kudu's batches have 100 rows. Here they have 96 rows, a
  // multiple of 8, so that each batch begins at a byte of the validity bitmap.
  for (size_t begin = 0; begin < file.num_rows; begin += 96) {
    const std::span<const T> batch(values.get() + begin,
                                   std::min<size_t>(96, file.num_rows - begin));
    const absl::Status status =
        options.nullable
            ? writer->Append(batch, std::span<const uint8_t>(validity).subspan(begin / 8))
            : writer->Append(batch);
    if (!status.ok()) return status;
  }
  return writer->Finish();
}

std::vector<TypeCase> Types() {
  std::vector<TypeCase> types;
  // What Kudu supports: PLAIN for all types; PREFIX and DICT for bytes; RLE for bool and integers
  // up to 64 bits; BIT_SHUFFLE for numbers.
  const auto add = [&types](std::string name, ColumnType type, std::vector<Encoding> others,
                            bool has_keys) {
    std::vector<Encoding> encodings = {Encoding::kPlain};
    encodings.insert(encodings.end(), others.begin(), others.end());
    types.push_back({std::move(name), std::move(type), std::move(encodings), has_keys});
  };
  const std::vector<Encoding> integers = {Encoding::kRle, Encoding::kBitShuffle};
  const std::vector<Encoding> wide = {Encoding::kBitShuffle};
  const std::vector<Encoding> bools = {Encoding::kRle};
  const std::vector<Encoding> bytes = {Encoding::kPrefix, Encoding::kDict};
  const auto of = [](DataType data_type) {
    ColumnType type;
    type.data_type = data_type;
    return type;
  };
  add("uint8", ColumnType::Uint8(), integers, true);
  add("int8", ColumnType::Int8(), integers, true);
  add("uint16", ColumnType::Uint16(), integers, true);
  add("int16", ColumnType::Int16(), integers, true);
  add("uint32", ColumnType::Uint32(), integers, true);
  add("int32", ColumnType::Int32(), integers, true);
  add("uint64", ColumnType::Uint64(), integers, true);
  add("int64", ColumnType::Int64(), integers, true);
  add("string", ColumnType::String(), bytes, true);
  add("bool", ColumnType::Bool(), bools, false);
  add("float", ColumnType::Float(), wide, false);
  add("double", ColumnType::Double(), wide, false);
  add("binary", ColumnType::Binary(), bytes, true);
  add("unixtime_micros", ColumnType::Timestamp(cfile::TimeUnit::kMicros), integers, true);
  add("int128", ColumnType::Int128(), wide, true);
  add("decimal32", of(DataType::kDecimal32), integers, true);
  add("decimal64", of(DataType::kDecimal64), integers, true);
  add("decimal128", of(DataType::kDecimal128), wide, true);
  add("is_deleted", of(DataType::kIsDeleted), bools, false);
  add("varchar", ColumnType::Varchar(), bytes, true);
  add("date", ColumnType::Date(), integers, true);
  return types;
}

std::vector<FileCase> Files(const std::vector<TypeCase>& types) {
  constexpr std::pair<size_t, size_t> kSizes[] = {
      {0, 256 * 1024}, {1, 256 * 1024}, {9, 256 * 1024}, {20'000, 1024}};
  std::vector<FileCase> files;
  for (const TypeCase& type : types) {
    for (const Encoding encoding : type.encodings) {
      for (const Compression compression :
           {Compression::kNone, Compression::kSnappy, Compression::kLz4, Compression::kZlib}) {
        for (const auto& [num_rows, block_size_bytes] : kSizes) {
          for (const OldestReader oldest_reader : {OldestReader::kKudu, OldestReader::kDefault}) {
            const FileCase file{.type = &type,
                                .encoding = encoding,
                                .compression = compression,
                                .nulls = Nulls::kNotNullable,
                                .num_rows = num_rows,
                                .block_size_bytes = block_size_bytes,
                                .sorted = false,
                                .positional_index = true,
                                .oldest_reader = oldest_reader};
            for (const Nulls nulls :
                 {Nulls::kNotNullable, Nulls::kNone, Nulls::kTenth, Nulls::kHalf, Nulls::kAll}) {
              files.push_back(file);
              files.back().nulls = nulls;
            }
            if (type.has_keys) {
              for (const bool positional_index : {true, false}) {
                files.push_back(file);
                files.back().sorted = true;
                files.back().positional_index = positional_index;
              }
            }
          }
        }
      }
    }
  }
  return files;
}

std::string Name(const FileCase& file) {
  constexpr const char* kNulls[] = {"nn", "n0", "n10", "n50", "n100"};
  return file.type->name + "." + cfile::EncodingName(file.encoding) + "." +
         cfile::CompressionName(file.compression) + "." +
         (!file.positional_index ? "by-value"
          : file.sorted          ? "sorted"
                                 : kNulls[static_cast<size_t>(file.nulls)]) +
         "." + std::to_string(file.num_rows) + "." +
         (file.oldest_reader == OldestReader::kKudu ? "kudu" : "default");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: cfile_kudu_files DIRECTORY\n";
    return 1;
  }
  const std::string directory = argv[1];
  std::filesystem::create_directories(directory);
  std::ofstream list(directory + "/files.tsv", std::ios::binary);
  const std::vector<TypeCase> types = Types();
  for (const FileCase& file : Files(types)) {
    const std::string name = Name(file);
    const absl::Status status = cfile::encodings::VisitPhysicalType(
        file.type->type.physical(), [&](auto t) -> absl::Status {
          using T = typename decltype(t)::type;
          if constexpr (std::is_same_v<T, cfile::Int96>) {
            return absl::InvalidArgumentError("Kudu has no int96");
          } else {
            return Write<T>(file, directory + "/" + name);
          }
        });
    if (!status.ok()) {
      std::cerr << "cfile_kudu_files: " << name << ": " << status << "\n";
      return 1;
    }
    list << name << '\t' << file.type->name << '\t' << cfile::EncodingName(file.encoding) << '\t'
         << file.num_rows << '\n';
  }
  return list.flush() ? 0 : 1;
}
