# SPDX-License-Identifier: BSD-3-Clause
# What ctest is to list of the tests in CMakeLists.txt. ctest writes labels in alphabetical order.

# Classes, labels and settings.
expect_command(defaults [=[["<gputest_client>", "--watch", "<linked>"]]=])
expect_property(defaults ENVIRONMENT_MODIFICATION [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:defaults"]]=])
expect_property(defaults ENVIRONMENT null)
expect_property(defaults LABELS [=[["gpu", "gpu_small"]]=])
expect_property(defaults SKIP_RETURN_CODE 77)
expect_property(defaults FAIL_REGULAR_EXPRESSION null)
expect_property(defaults PASS_REGULAR_EXPRESSION null)
expect_property(defaults TIMEOUT null)
expect_property(defaults TIMEOUT_AFTER_MATCH null)
expect_property(defaults RUN_SERIAL null)
expect_property(medium ENVIRONMENT_MODIFICATION [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:medium", "GPUTEST_GPUS=set:2", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:medium"]]=])
expect_property(medium LABELS [=[["gpu", "gpu_medium"]]=])
expect_property(large ENVIRONMENT_MODIFICATION [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:large", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:large"]]=])
expect_property(large LABELS [=[["gpu", "gpu_large"]]=])
expect_property(large RUN_SERIAL null)
expect_property(large_serial ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:large", "GPUTEST_GPUS=set:1", "GPUTEST_LARGE=set:serial", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:large_serial"]]=])
expect_property(large_serial RUN_SERIAL true)
expect_property(large_wait ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:large", "GPUTEST_GPUS=set:1", "GPUTEST_LARGE=set:wait", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:large_wait"]]=])
expect_property(large_wait RUN_SERIAL null)
expect_property(with_heap ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_HEAP=set:64MiB", "GPUTEST_KEEPS=set:32MiB", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:with_heap"]]=])
expect_property(capable ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:2", "GPUTEST_REQUIRES=set:memory_pools sm_80 total_memory=40GiB", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:capable"]]=])
expect_property(most_small LABELS [=[["gpu", "gpu_small"]]=])
expect_property(most_small_in_gib LABELS [=[["gpu", "gpu_small"]]=])
expect_property(least_medium LABELS [=[["gpu", "gpu_medium"]]=])
expect_property(least_medium ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:268435457B", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:least_medium"]]=])
expect_property(leading_zeros LABELS [=[["gpu", "gpu_medium"]]=])
expect_property(labelled LABELS [=[["gpu", "gpu_small", "nightly", "two words"]]=])
set(timed_out [=[["gputest: timed out:"]]=])
expect_property(limited TIMEOUT 12090.0)
expect_property(limited TIMEOUT_AFTER_MATCH null)
expect_property(limited FAIL_REGULAR_EXPRESSION "${timed_out}")
expect_property(limited ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_TIMEOUT=set:30", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:limited"]]=])
expect_property(patient ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_WAIT_LIMIT=set:1h", "GPUTEST_TIMEOUT=set:1500", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:patient"]]=])
expect_property(patient TIMEOUT 37560.0)
expect_property(patient TIMEOUT_AFTER_MATCH null)
expect_property(patient FAIL_REGULAR_EXPRESSION "${timed_out}")
expect_property(patient_and_limited TIMEOUT 54062.5)
expect_property(limited_in_decimals TIMEOUT 12062.5)
expect_property(placed WORKING_DIRECTORY "\"${CMAKE_CURRENT_LIST_DIR}\"")
expect_property("odd;name [ int" ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:odd;name [ int"]]=])
expect_command(configured [=[["<gputest_client>", "--watch", "<linked>"]]=])
if(DEFINED test_not_configured)
  message(FATAL_ERROR "not_configured is listed, but not for this configuration")
endif()

# Arguments arrive unchanged.
expect_command(odd_arguments
  [==[["<gputest_client>", "--watch", "<linked>", "a;b", "", "back\\slash", "[x", "]=]", "${not_a_variable}", "\nline", "a\\;b", "end\\"]]==])
expect_command(odd_arguments_of_a_program
  [==[["<gputest_cli>", "run", "--", "/bin/echo", "a;b", "", "back\\slash", "[x", "]=]", "a\\;b", "end\\"]]==])
expect_command(odd_arguments_decided_later
  [==[["<gputest_cli>", "run", "<foreign>", "a;b", "back\\slash", "[x", "]=]", "a\\;b", "end\\"]]==])
expect_command(empty_argument_decided_now [=[["<gputest_cli>", "run", "<foreign>", "", "a;b", "Release"]]=])
expect_command(expanded_lists [=[["<gputest_client>", "--watch", "<linked>", "a", "b"]]=])
expect_command(expanded_lists_launched [=[["<gputest_cli>", "run", "<foreign>", "a", "b", "c", "d"]]=])

# With and without the launcher.
expect_command(via_library [=[["<gputest_client>", "--watch", "<via_library>"]]=])
expect_command(own_main [=[["<gputest_cli>", "run", "<own_main>"]]=])
expect_command(own_main_launcher_off [=[["<gputest_client>", "--watch", "<own_main>"]]=])
foreach(name IN ITEMS gputest_main gputest_catch2 gputest__catch2 __BUILD_INTERFACE_gputest__main_
        __LINK_ONLY___BUILD_INTERFACE_gputest__main__)
  expect_command(names_${name} [=[["<gputest_client>", "--watch", "<imported>", ""]]=])
endforeach()
expect_command(names_circle [=[["<gputest_cli>", "run", "<imported>", ""]]=])
expect_mentions(own_main 1)
expect_mentions(foreign 0)
expect_mentions(imported_helped 1)
expect_mentions("[a-z_]+" 2)
expect_command(via_private [=[["<gputest_client>", "--watch", "<via_private>"]]=])
expect_command(alias [=[["<gputest_client>", "--watch", "<linked>"]]=])
expect_command(file_of_linked [=[["<gputest_client>", "--watch", "<linked>", "x"]]=])
expect_command(foreign [=[["<gputest_cli>", "run", "<foreign>", "--flag"]]=])
expect_command(file_of_foreign [=[["<gputest_cli>", "run", "<foreign>"]]=])
expect_command(program [=[["<gputest_cli>", "run", "--", "sh", "-c", "true"]]=])
expect_command(path "[\"<gputest_cli>\", \"run\", \"--\", \"${CMAKE_CURRENT_LIST_DIR}/main.cpp\", \"x\"]")
expect_command(imported [=[["<gputest_cli>", "run", "<imported>"]]=])
expect_command(imported_linked [=[["<gputest_client>", "--watch", "<imported_linked>"]]=])
expect_command(launcher_on [=[["<gputest_cli>", "run", "--", "<linked>", "x"]]=])
expect_command(launcher_off [=[["<gputest_client>", "--watch", "<foreign>"]]=])
expect_command(launcher_on_in_upper_case [=[["<gputest_cli>", "run", "--", "<linked>"]]=])
expect_command(launcher_off_in_upper_case [=[["<gputest_client>", "--watch", "<foreign>"]]=])
expect_command(file_of_emulated [=[["<gputest_cli>", "run", "<emulated>", "x"]]=])
expect_command(emulated_by_a_name [=[["<gputest_cli>", "run", "helper", "<emulated_by_a_name>"]]=])
expect_command(emulated [=[["<gputest_cli>", "run", "<linked>", "--cpu=a,b", "<emulated>", "x"]]=])
expect_command(emulated_launcher_on [=[["<gputest_cli>", "run", "--", "<linked>", "--cpu=a,b", "<emulated>", "x"]]=])
expect_command(emulated_launcher_off [=[["<gputest_client>", "--watch", "<linked>", "--cpu=a,b", "<emulated>", "x"]]=])
expect_command(linked_later [=[["<gputest_client>", "--watch", "<linked_later>", "a;b"]]=])
expect_command(linked_later_via_private [=[["<gputest_client>", "--watch", "<linked_later_via_private>"]]=])
expect_command(alias_linked_later [=[["<gputest_client>", "--watch", "<linked_later_via_private>"]]=])
expect_command(linked_by_condition [=[["<gputest_client>", "--watch", "<linked_by_condition>"]]=])

# Properties set afterwards hold, and gputest's own stay.
expect_property(own_environment ENVIRONMENT [=[["A=1", "B=2"]]=])
expect_property(own_environment ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:medium", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:own_environment"]]=])
expect_property(replaced ENVIRONMENT_MODIFICATION
  [=[["A=set:1", "PATH=path_list_prepend:/b", "GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:large", "GPUTEST_GPUS=set:1", "GPUTEST_LARGE=set:wait", "GPUTEST_TIMEOUT=set:30", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:replaced"]]=])
expect_property(replaced LABELS [=[["gpu", "gpu_large", "mine"]]=])
expect_property(replaced TIMEOUT 90.0)
expect_property(replaced TIMEOUT_AFTER_MATCH null)
expect_property(replaced FAIL_REGULAR_EXPRESSION "${timed_out}")
expect_property(replaced RUN_SERIAL true)
expect_property(overridden ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_MEMORY=set:3GiB", "GPUTEST_ENTRY=set:ctest", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:overridden"]]=])
expect_property(extended ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:extended", "A=set:1"]]=])
expect_property(defaults_below LABELS [=[["gpu", "gpu_small", "mine"]]=])
expect_property(defaults_below ENVIRONMENT_MODIFICATION
  [=[["A=set:1", "GPUTEST_ENTRY=set:ctest", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:defaults_below"]]=])
expect_property(own_expressions FAIL_REGULAR_EXPRESSION [=[["mine", "too"]]=])
expect_property(own_expressions PASS_REGULAR_EXPRESSION [=[["yes"]]=])
expect_property(own_expressions ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:by_output", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:own_expressions"]]=])
expect_property(appended_expression FAIL_REGULAR_EXPRESSION [=[["mine"]]=])
expect_property(will_fail WILL_FAIL true)
expect_property(will_fail FAIL_REGULAR_EXPRESSION "[\"mine\"]")
expect_property(will_fail ENVIRONMENT_MODIFICATION
  [=[["GPUTEST_ENTRY=set:will_fail", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:will_fail"]]=])
expect_property(will_fail_replaced FAIL_REGULAR_EXPRESSION null)
expect_property(will_fail_replaced ENVIRONMENT_MODIFICATION
  [=[["A=set:1", "GPUTEST_ENTRY=set:will_fail", "GPUTEST_MEMORY=set:small", "GPUTEST_GPUS=set:1", "GPUTEST_DEFAULT_LOG=set:Testing/gputest", "GPUTEST_TEST=set:will_fail_replaced"]]=])
expect_property(no_skip_code SKIP_RETURN_CODE 77)
