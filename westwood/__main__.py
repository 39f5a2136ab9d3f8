# SPDX-License-Identifier: BSD-3-Clause
"""`python -m westwood` is `westwood`."""

from westwood.cli import main

main()
