# SPDX-License-Identifier: BSD-3-Clause
#
# ww_add_tests(room "sources" libraries...) builds the program ww_<room>_tests from the sources and runs it
# in ctest as four shards, because starting a process takes longer than most test cases.
find_package(GTest REQUIRED)

function(ww_add_tests room sources)
  set(program ww_${room}_tests)
  add_executable(${program} ${sources})
  target_link_libraries(${program} PRIVATE ${ARGN} GTest::gtest_main)
  # Reading headers and instantiating their templates takes most of the time, so a few files are
  # compiled as one. Names in anonymous namespaces must therefore differ within a room.
  set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4
                        UNITY_BUILD_RELOCATABLE ON) # for the cache: equal in all clones
  # Only the engine's library is optimised: optimising a test takes longer than running it once. In the sanitized
  # build that is more than half of a test's compilation.
  target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${program} PROPERTIES WW_UNOPTIMISED ON)
  list(LENGTH sources files)
  if(files GREATER 20) # a precompiled header takes as long as it saves in six files
    target_precompile_headers(${program} PRIVATE <gtest/gtest.h> <algorithm> <cmath> <deque> <map> <random> <set>)
  endif()
  set(shards 4)
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${room}/${shard} COMMAND ${program} --gtest_brief=1
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${room}/${shard} PROPERTIES ENVIRONMENT
                         "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
