#include "tools/pieces.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace cfile::tools::pieces_test {

// Calls RunPieces with `num_pieces` pieces and checks the order of the calls that it makes.
class Recorder {
 public:
  Recorder(size_t num_threads, size_t num_pieces, size_t num_lanes)
      : num_threads_(num_threads),
        num_pieces_(num_pieces),
        slots_(NumSlots(num_threads)),
        lanes_(num_lanes),
        parsed_(num_pieces) {}

  // Lets a step of a piece fail. `step` is 0 for parse, 1 + i for append to lane i, and -1 for
  // finish.
  void FailAt(size_t piece, int step) { failures_.push_back({piece, step}); }

  absl::Status Run() {
    return RunPieces(num_threads_, {.take =
                                        [&](size_t slot) {
                                          if (taken_ == num_pieces_) return false;
                                          slots_[slot] = taken_++;
                                          EXPECT_LE(taken_ - finished_, slots_.size());
                                          return true;
                                        },
                                    .parse =
                                        [&](size_t slot) {
                                          EXPECT_EQ(parsed_[slots_[slot]]++, 0);
                                          return Result(slots_[slot], 0);
                                        },
                                    .num_lanes = lanes_.size(),
                                    .append =
                                        [&](size_t lane, size_t slot) {
                                          EXPECT_EQ(parsed_[slots_[slot]], 1);
                                          EXPECT_EQ(lanes_[lane]++, slots_[slot]);
                                          return Result(slots_[slot], 1 + static_cast<int>(lane));
                                        },
                                    .finish =
                                        [&](size_t slot) {
                                          EXPECT_EQ(finished_++, slots_[slot]);
                                          for (const auto& lane : lanes_) {
                                            EXPECT_GE(lane, finished_);
                                          }
                                          return Result(slots_[slot], -1);
                                        }});
  }

  size_t num_finished() const { return finished_; }
  size_t num_taken() const { return taken_; }

 private:
  struct Place {
    size_t piece;
    int step;
    bool operator==(const Place&) const = default;
  };

  absl::Status Result(size_t piece, int step) const {
    for (const Place& place : failures_) {
      if (!(place == Place{piece, step})) continue;
      return absl::InvalidArgumentError(std::to_string(piece) + " " + std::to_string(step));
    }
    return absl::OkStatus();
  }

  const size_t num_threads_;
  const size_t num_pieces_;
  size_t taken_ = 0;
  std::vector<size_t> slots_;               // the number of the piece in each slot
  std::vector<std::atomic<size_t>> lanes_;  // how many pieces were appended to each lane
  std::vector<std::atomic<int>> parsed_;    // how often each piece was parsed
  std::atomic<size_t> finished_ = 0;
  std::vector<Place> failures_;
};

TEST(Pieces, AreAllDoneInOrder) {
  for (const size_t threads : {1, 2, 4, 9}) {
    for (const size_t lanes : {0, 1, 5}) {
      for (const size_t pieces : {0, 1, 3, 500}) {
        Recorder recorder(threads, pieces, lanes);
        const absl::Status status = recorder.Run();
        EXPECT_TRUE(status.ok()) << status;
        EXPECT_EQ(recorder.num_finished(), pieces);
      }
    }
  }
}

TEST(Pieces, TheFirstErrorIsReturned) {
  for (const size_t threads : {1, 2, 4}) {
    for (int round = 0; round < 50; ++round) {
      Recorder recorder(threads, 100, 3);
      recorder.FailAt(21, 0);
      recorder.FailAt(20, 3);
      recorder.FailAt(20, 2);
      recorder.FailAt(22, 1);
      EXPECT_EQ(recorder.Run().message(), "20 2");
      EXPECT_EQ(recorder.num_finished(), 20);
      EXPECT_LE(recorder.num_taken(), 20 + NumSlots(threads));
    }
  }
}

TEST(Pieces, AnErrorOfFinishEndsTheWork) {
  for (const size_t threads : {1, 4}) {
    Recorder recorder(threads, 1000, 2);
    recorder.FailAt(7, -1);
    EXPECT_EQ(recorder.Run().message(), "7 -1");
    EXPECT_LE(recorder.num_taken(), 8 + NumSlots(threads));
  }
}

// Lets other threads run, so that the test fails if a thread does not wait for another one.
void YieldOften() {
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
}

TEST(Pieces, WaitForASlot) {
  constexpr size_t kThreads = 2;
  for (int round = 0; round < 20; ++round) {
    size_t taken = 0;
    std::atomic<size_t> parsed = 0, appended = 0;
    const absl::Status status =
        RunPieces(kThreads, {.take =
                                 [&](size_t) {
                                   if (taken == 20) return false;
                                   ++taken;
                                   EXPECT_LE(taken, appended + NumSlots(kThreads));
                                   return true;
                                 },
                             .parse =
                                 [&](size_t) {
                                   ++parsed;
                                   return absl::OkStatus();
                                 },
                             .num_lanes = 1,
                             .append =
                                 [&](size_t, size_t) {
                                   if (appended == 0) {
                                     while (parsed < NumSlots(kThreads)) std::this_thread::yield();
                                     YieldOften();
                                   }
                                   ++appended;
                                   return absl::OkStatus();
                                 },
                             .finish = [](size_t) { return absl::OkStatus(); }});
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(Pieces, AnErrorThatComesLateButBelongsBehindIsNotReturned) {
  for (int round = 0; round < 20; ++round) {
    size_t taken = 0;
    std::atomic<bool> parsing = false, failed = false;
    std::vector<size_t> pieces(NumSlots(2));
    const absl::Status status =
        RunPieces(2, {.take =
                          [&](size_t slot) {
                            pieces[slot] = taken++;
                            return taken <= 2;
                          },
                      .parse =
                          [&](size_t slot) {
                            if (pieces[slot] == 0) return absl::OkStatus();
                            parsing = true;
                            while (!failed) std::this_thread::yield();
                            YieldOften();
                            return absl::InvalidArgumentError("the second piece");
                          },
                      .num_lanes = 1,
                      .append =
                          [&](size_t, size_t) {
                            while (!parsing) std::this_thread::yield();
                            EXPECT_FALSE(failed.exchange(true));
                            return absl::InvalidArgumentError("the first piece");
                          },
                      .finish = [](size_t) { return absl::OkStatus(); }});
    EXPECT_EQ(status.message(), "the first piece");
  }
}

TEST(Pieces, NoMemoryIsAnError) {
  for (const size_t threads : {1, 4}) {
    int taken = 0;
    const absl::Status status =
        RunPieces(threads, {.take = [&](size_t) { return taken++ < 100; },
                            .parse = [](size_t) -> absl::Status { throw std::bad_alloc(); },
                            .finish = [](size_t) { return absl::OkStatus(); }});
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  }
}

}  // namespace cfile::tools::pieces_test
