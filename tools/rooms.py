# SPDX-License-Identifier: BSD-3-Clause
"""Lists the folders that have code, for the linters."""

PRODUCT = ("core", "engine", "wire", "plan", "metrics", "bindings", "lab", "westwood", "ns3")
PRODUCT += ("linux", "proofs")
HELPERS = ("tests", "bench", "tools", "upstream")
