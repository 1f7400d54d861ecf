#include "cfile/parts/arrow/c_data.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "encodings/core/status.h"

namespace cfile::internal {
namespace {

struct ArrayContents {
  ArrayParts parts;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> child_pointers;
  ArrowArray dictionary{};
};

// A consumer may have moved a child to another place, and set its release function to null.
template <typename Struct>
void ReleaseUnlessMoved(Struct& child) {
  if (child.release != nullptr) child.release(&child);
}

template <typename Contents, typename Struct>
void Release(Struct* released) {
  auto* const contents = static_cast<Contents*>(released->private_data);
  for (Struct& child : contents->children) ReleaseUnlessMoved(child);
  ReleaseUnlessMoved(contents->dictionary);
  released->release = nullptr;
  delete contents;
}

struct SchemaContents {
  std::string format;
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> child_pointers;
  ArrowSchema dictionary{};
};

void AppendInt32(size_t value, std::string& out) {
  const auto number = static_cast<int32_t>(value);
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  out.append(bytes, sizeof(number));
}

// Writes the number of pairs, then each key and each value with its length before it. All numbers
// are int32 in the byte order of this machine.
std::string EncodeMetadata(const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::string out;
  AppendInt32(metadata.size(), out);
  for (const auto& [key, value] : metadata) {
    for (const std::string& text : {key, value}) {
      AppendInt32(text.size(), out);
      out += text;
    }
  }
  return out;
}

int ErrnoOf(const absl::Status& status) {
  using Code = absl::StatusCode;
  constexpr std::pair<Code, int> kErrors[] = {{Code::kOk, 0},
                                              {Code::kInvalidArgument, EINVAL},
                                              {Code::kFailedPrecondition, EINVAL},
                                              {Code::kNotFound, ENOENT},
                                              {Code::kAlreadyExists, EEXIST},
                                              {Code::kPermissionDenied, EACCES},
                                              {Code::kUnauthenticated, EACCES},
                                              {Code::kOutOfRange, ERANGE},
                                              {Code::kUnimplemented, ENOSYS},
                                              {Code::kCancelled, ECANCELED},
                                              {Code::kDeadlineExceeded, ETIMEDOUT},
                                              {Code::kResourceExhausted, ENOMEM},
                                              {Code::kAborted, EAGAIN},
                                              {Code::kUnavailable, EAGAIN}};
  for (const auto& [code, error] : kErrors) {
    if (code == status.code()) return error;
  }
  return EIO;
}

// The private data of an ArrowArrayStream.
class Stream {
 public:
  explicit Stream(std::unique_ptr<ArrowBatches> batches) : batches_(std::move(batches)) {}

  ArrowBatches& batches() { return *batches_; }

  // Calls `function`, keeps the text of an error, and returns the errno code of the status.
  template <typename Function>
  int Call(const Function& function) noexcept {
    try {
      const absl::Status status = function();
      if (status.ok()) return 0;
      error_ = std::string(status.message());
      return ErrnoOf(status);
    } catch (const std::bad_alloc&) {
      return OutOfMemory();
    } catch (const std::exception&) {
      // An example is std::length_error, if a size is larger than any memory.
      return OutOfMemory();
    }
  }
  const char* error() const noexcept { return no_memory_ ? "no memory" : error_.c_str(); }
  bool no_memory() const { return no_memory_; }

 private:
  int OutOfMemory() noexcept {
    no_memory_ = true;
    return ENOMEM;
  }

  const std::unique_ptr<ArrowBatches> batches_;
  std::string error_;
  bool no_memory_ = false;
};

Stream& Of(ArrowArrayStream* stream) { return *static_cast<Stream*>(stream->private_data); }

int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  out->release = nullptr;
  return Of(stream).Call([&] {
    Of(stream).batches().Schema().MoveTo(out);
    return absl::OkStatus();
  });
}

int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  out->release = nullptr;
  // The batches must not be used after an exception.
  if (Of(stream).no_memory()) return ENOMEM;
  return Of(stream).Call([&] {
    CFILE_ASSIGN_OR_RETURN(HeldArray array, Of(stream).batches().Next());
    array.MoveTo(out);
    return absl::OkStatus();
  });
}

const char* GetLastError(ArrowArrayStream* stream) { return Of(stream).error(); }

void ReleaseStream(ArrowArrayStream* stream) {
  delete &Of(stream);
  stream->release = nullptr;
}

}  // namespace

HeldArray MakeArray(ArrayParts parts) {
  auto contents = std::make_unique<ArrayContents>();
  contents->parts = std::move(parts);
  ArrayParts& own = contents->parts;
  contents->children.resize(own.children.size());
  contents->child_pointers.resize(own.children.size());
  HeldArray array;
  ArrowArray& out = *array.get();
  out.length = own.length;
  out.null_count = own.null_count;
  out.n_buffers = static_cast<int64_t>(own.buffers.size());
  out.buffers = own.buffers.data();
  out.n_children = static_cast<int64_t>(own.children.size());
  out.children = contents->child_pointers.data();
  // Nothing fails after this line.
  for (size_t i = 0; i < own.children.size(); ++i) {
    own.children[i].MoveTo(&contents->children[i]);
    contents->child_pointers[i] = &contents->children[i];
  }
  if (!own.dictionary.empty()) {
    own.dictionary.MoveTo(&contents->dictionary);
    out.dictionary = &contents->dictionary;
  }
  out.release = Release<ArrayContents, ArrowArray>;
  out.private_data = contents.release();
  return array;
}

HeldSchema MakeSchema(const ArrowField& field) {
  auto contents = std::make_unique<SchemaContents>();
  contents->format = field.format;
  contents->name = field.name;
  if (!field.metadata.empty()) contents->metadata = EncodeMetadata(field.metadata);
  std::vector<HeldSchema> children;
  for (const ArrowField& child : field.children) children.push_back(MakeSchema(child));
  HeldSchema dictionary;
  if (!field.dictionary.empty()) dictionary = MakeSchema(field.dictionary[0]);
  contents->children.resize(children.size());
  contents->child_pointers.resize(children.size());
  HeldSchema schema;
  ArrowSchema& out = *schema.get();
  out.format = contents->format.c_str();
  out.name = contents->name.c_str();
  out.metadata = contents->metadata.empty() ? nullptr : contents->metadata.data();
  out.flags = field.flags;
  out.n_children = static_cast<int64_t>(children.size());
  out.children = contents->child_pointers.data();
  // Nothing fails after this line.
  for (size_t i = 0; i < children.size(); ++i) {
    children[i].MoveTo(&contents->children[i]);
    contents->child_pointers[i] = &contents->children[i];
  }
  if (!dictionary.empty()) {
    dictionary.MoveTo(&contents->dictionary);
    out.dictionary = &contents->dictionary;
  }
  out.release = Release<SchemaContents, ArrowSchema>;
  out.private_data = contents.release();
  return schema;
}

void MakeStream(std::unique_ptr<ArrowBatches> batches, ArrowArrayStream* out) {
  auto stream = std::make_unique<Stream>(std::move(batches));
  *out = {.get_schema = GetSchema,
          .get_next = GetNext,
          .get_last_error = GetLastError,
          .release = ReleaseStream,
          .private_data = stream.release()};
}

}  // namespace cfile::internal
