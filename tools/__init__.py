# SPDX-License-Identifier: BSD-3-Clause
"""The scripts behind `make`. bench/ imports from here, and nothing here imports bench/."""
