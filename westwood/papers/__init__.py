# SPDX-License-Identifier: BSD-3-Clause
"""Published experiments: how they are run, drawn and held against what the papers claim."""
