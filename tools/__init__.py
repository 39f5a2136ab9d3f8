# SPDX-License-Identifier: BSD-3-Clause
"""The scripts behind `make`. bench/ imports from this package, which never imports bench/."""
