# SPDX-License-Identifier: BSD-3-Clause
"""The test cases of BBRv3's draft: what each provokes, what must be seen, and whether it was."""
