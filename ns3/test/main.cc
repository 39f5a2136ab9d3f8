/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Runs the module's test suites outside an ns-3 tree, as ns-3's own runner does inside one.
 */
#include "ns3/test.h"

int
main(int argc, char* argv[])
{
    return ns3::TestRunner::Run(argc, argv);
}
