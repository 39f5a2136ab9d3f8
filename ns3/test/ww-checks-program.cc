/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Holds what a Westwood+ must do against this module's and against the one of your ns-3:
 *
 *   ./ww-checks                     prints a table of every check
 *   ./ww-checks --only=fork         makes one check
 *   ./ww-checks --only=memory       resets a connection under valgrind
 *   valgrind ./ww-checks --reset=mainline     does so, too, and shows what valgrind says
 *
 * Exit code: 0 if this module's holds everywhere, else 1; with --differ also 1 unless ns-3's fails
 * everywhere; 2 for a check that is none; 77 if there is no valgrind for --only=memory.
 */
#include "ww-checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace ns3;

namespace
{

/// Checks WwResetConnection in a process of its own, which valgrind watches.
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
    command.AddValue("only", "the check to make", only);
    command.AddValue("reset", "ours or mainline: reset a connection and say nothing", reset);
    command.AddValue("differ", "fail unless ns-3's own fails every check", differ);
    command.Parse(argc, argv);
    const WwSubject ours = WwSubject::Ours();
    const std::optional<WwSubject> mainline = WwSubject::Mainline();
    const bool isCheck = std::any_of(WwChecks().begin(),
                                     WwChecks().end(),
                                     [&](const WwCheck& check) { return check.name == only; });
    if (!only.empty() && only != "memory" && !isCheck)
    {
        std::cerr << "--only=" << only << ": expected memory or a check that the table names\n";
        return 2;
    }
    if (!reset.empty())
    {
        WwResetConnection(reset == "mainline" ? mainline.value() : ours);
        return 0;
    }
    std::cout << "| check | what must be so | " << ours.name << " | "
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
        std::cerr << "memory: no valgrind here\n";
        return 77;
    }
    if (only == "memory" || (only.empty() && HasValgrind()))
    {
        row("memory",
            "a connection that was reset leaves nothing behind that is used (valgrind)",
            [&](const WwSubject& subject) {
                const bool is = subject.name == ours.name;
                return ResetUnderValgrind(argv[0], is ? "ours" : "mainline");
            });
    }
    return expected ? 0 : 1;
}
