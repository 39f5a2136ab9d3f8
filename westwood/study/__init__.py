# SPDX-License-Identifier: BSD-3-Clause
"""What everything that judges shares: docs/architecture.md."""
