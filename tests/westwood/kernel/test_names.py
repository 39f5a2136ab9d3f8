# SPDX-License-Identifier: BSD-3-Clause
"""Names of congestion controls that `kernel record`, `watch` and `default` accept."""

from westwood.kernel import user_controls, ww_kernel


def test_a_file_stands_for_its_control_in_the_kernel():
    assert user_controls.kernel_name("folder/mine.c") == "ww_mine"
    assert user_controls.kernel_name("reno") == "reno"


def test_a_control_may_be_loaded_later_but_the_user_is_told_what_the_kernel_lacks():
    ww_kernel.check_names(["cubic", "nosuch"])
    assert "reno" in ww_kernel.registered()
    assert ww_kernel.unregistered(["reno"]) == ""
    assert "nosuch, none" in ww_kernel.unregistered(["nosuch", "reno", "none"])
