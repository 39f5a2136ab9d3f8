/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Compares this module's Westwood+ and your ns-3's with the requirements on a Westwood+:
 *
 *   ./ww-checks                     prints a table of all checks
 *   ./ww-checks --only=fork         runs one check
 *   ./ww-checks --only=memory       resets a connection under valgrind
 *   valgrind ./ww-checks --reset=mainline     does so for ns-3's, with valgrind's output
 *
 * Exit code: 0 if this module passes every check, otherwise 1; with --differ also 1 unless ns-3's
 * fails every check; 2 for an unknown check; 77 if --only=memory finds no valgrind.
 */
#include "ww-checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace ns3;

namespace
{

/// Checks WwResetConnection in a separate process, under valgrind.
WwVerdict
ResetUnderValgrind(const std::string& program, const std::string& whose)
{
    const std::string command = "valgrind '" + program + "' --reset=" + whose + " 2>&1";
    FILE* output = popen(command.c_str(), "r");
    char line[1000];
    int accesses = 0;
    while (output && std::fgets(line, sizeof(line), output))
    {
        accesses += std::string(line).find("Invalid ") != std::string::npos;
    }
    const bool finished = output && pclose(output) == 0;
    return {finished && accesses == 0, std::to_string(accesses) + " invalid accesses"};
}

bool
HasValgrind()
{
    return std::system("valgrind --version > /dev/null 2>&1") == 0;
}

std::string
Cell(const WwVerdict& verdict)
{
    return (verdict.holds ? "holds: " : "fails: ") + verdict.seen;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string only;
    std::string reset;
    bool differ = false;
    CommandLine command;
    command.AddValue("only", "the check to run", only);
    command.AddValue("reset", "ours or mainline: reset a connection and print nothing", reset);
    command.AddValue("differ", "fail unless ns-3's own fails every check", differ);
    command.Parse(argc, argv);
    const WwSubject ours = WwSubject::Ours();
    const std::optional<WwSubject> mainline = WwSubject::Mainline();
    const bool isCheck = std::any_of(WwChecks().begin(),
                                     WwChecks().end(),
                                     [&](const WwCheck& check) { return check.name == only; });
    if (!only.empty() && only != "memory" && !isCheck)
    {
        std::cerr << "--only=" << only << ": expected memory or a check of the table\n";
        return 2;
    }
    if (!reset.empty())
    {
        WwResetConnection(reset == "mainline" ? mainline.value() : ours);
        return 0;
    }
    std::cout << "| check | requirement | " << ours.name << " | "
              << (mainline ? mainline->name : "ns-3 has none") << " |\n"
              << "| --- | --- | --- | --- |\n";
    bool expected = true;
    const auto row = [&](const std::string& name, const std::string& clause, const auto& check) {
        const WwVerdict a = check(ours);
        const WwVerdict b = mainline ? check(*mainline) : WwVerdict{false, ""};
        std::cout << "| " << name << " | " << clause << " | " << Cell(a) << " | "
                  << (mainline ? Cell(b) : "") << " |" << std::endl;
        expected = expected && a.holds && !(differ && b.holds);
    };
    for (const WwCheck& check : WwChecks())
    {
        if (only.empty() || only == check.name)
        {
            row(check.name, check.clause, check.run);
        }
    }
    if (only == "memory" && !HasValgrind())
    {
        std::cerr << "memory: this machine has no valgrind\n";
        return 77;
    }
    if (only == "memory" || (only.empty() && HasValgrind()))
    {
        row("memory",
            "nothing uses the remains of a connection that was reset (valgrind)",
            [&](const WwSubject& subject) {
                const bool is = subject.name == ours.name;
                return ResetUnderValgrind(argv[0], is ? "ours" : "mainline");
            });
    }
    return expected ? 0 : 1;
}
