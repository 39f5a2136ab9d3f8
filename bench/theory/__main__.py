# SPDX-License-Identifier: BSD-3-Clause
"""Measures again and writes the tables of docs/theory.md: python -m bench.theory [STUDY...]."""

import sys

from bench.theory.page import write
from bench.theory.studies import STUDIES

write([one for one in STUDIES if one.name in sys.argv[1:] or not sys.argv[1:]])
