// SPDX-License-Identifier: GPL-2.0-only
#include "plan.hpp"

#include <string>

#include "../../engine/validate.hpp"
#include "queues.hpp"

namespace ww::path {
namespace {

constexpr std::size_t kMostFlows = 1u << 16;  // an address has 16 bits for the flow

// Returns the error of a plan whose values are all within their limits, or an empty string.
std::string problem_of(const Plan& plan) {
    if (plan.network.flows.size() > kMostFlows) return "more than 65536 flows";
    for (std::size_t i = 0; i < plan.protocols.size(); i++)
        if (!plan.network.flows[i].datagrams.on && control_of(plan, i).empty())
            return "flow " + std::to_string(i) + ": Linux has no such congestion control";
    for (std::size_t i = 0; i < plan.network.links.size(); i++) {
        const sim::Link& link = plan.network.links[i];
        for (const sim::Direction* direction : {&link.forward, &link.backward})
            if (sim::holds(*direction) && (direction->ack_filter || !waits_in_kernel(*direction)))
                return "link " + std::to_string(i) + ": Linux has no such queue";
    }
    return sim::validate(plan.network);
}

}  // namespace

Plan read_plan(std::istream& text) {
    Plan plan = wire::read_plan(text);
    for (std::size_t i = 0; i < plan.controls.size(); i++)  // the kernel has the user's control
        if (!plan.controls[i].empty()) plan.network.flows[i].cc = ww_configure(plan.protocols[i]);
    const std::string problem = problem_of(plan);
    if (!problem.empty()) throw PlanError(problem);
    return plan;
}

std::string control_of(const Plan& plan, std::size_t flow) {
    for (const wire::Stack& stack : plan.stacks)
        if (stack.flow == flow) return stack.control;
    if (const std::string& own = plan.controls[flow]; !own.empty()) return plan.objects.at(own);
    switch (plan.protocols[flow]) {
#define WW_UPSTREAM(name) name
#define WW_OURS(name) #name
#define WW_NOWHERE ""
#define WW_CASE(ID, name, ALGORITHM, RECOVERY, settings, label, look, ns3, kernel, source) \
    case WW_PROTOCOL_##ID:                                                                 \
        return kernel;
        WW_PROTOCOLS(WW_CASE)
#undef WW_CASE
#undef WW_NOWHERE
#undef WW_OURS
#undef WW_UPSTREAM
    case WW_PROTOCOL_COUNT:
        break;
    }
    return "";
}

bool has_sack(const sim::Flow& flow) { return flow.recovery != sim::Recovery::newreno; }

}  // namespace ww::path
