// Another user for one test. Nothing is forbidden to root.
#pragma once

#include <unistd.h>

#include "gtest/gtest.h"

namespace cfile {

// If this process runs as root, all of its threads run as another user until the destructor.
// Construct before the TemporaryDirectory, which then belongs to the other user. Where root cannot
// become another user, geteuid() is still 0.
class OtherUser {
 public:
  OtherUser() : changed_(geteuid() == 0 && seteuid(65534) == 0) {}
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;
  ~OtherUser() { EXPECT_TRUE(!changed_ || seteuid(0) == 0); }

 private:
  const bool changed_;
};

}  // namespace cfile
