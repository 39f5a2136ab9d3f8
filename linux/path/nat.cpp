// SPDX-License-Identifier: GPL-2.0-only
#include "nat.hpp"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <sys/socket.h>

#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

namespace ww::path {
namespace {

constexpr const char* kChain = "leaving";
constexpr std::uint32_t kOwned = 2;      // NFT_TABLE_F_OWNER, which headers before Linux 5.12 lack
constexpr std::uint32_t kSourceAt = 12;  // in an IPv4 header
constexpr std::uint32_t kAfterOthers = 100;  // NF_IP_PRI_NAT_SRC, where nft's `srcnat` is

bool forwards() {
    std::ifstream file("/proc/sys/net/ipv4/ip_forward");
    int value = 0;
    return file >> value && value == 1;
}

// Collects messages that the packet filter applies as one transaction.
class Batch {
  public:
    Batch() { limit(NFNL_MSG_BATCH_BEGIN); }

    static Message message(int type, std::uint16_t flags) {
        return {static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type),
                static_cast<std::uint16_t>(NLM_F_ACK | flags), nfgenmsg{AF_INET, NFNETLINK_V0, 0}};
    }

    void add(Message& message) {
        append(message);
        answers_++;
    }

    void send(Netlink& kernel) {
        limit(NFNL_MSG_BATCH_END);
        kernel.send(bytes_, answers_, "adding a table");
    }

  private:
    void limit(std::uint16_t type) {
        Message message(type, 0, nfgenmsg{AF_UNSPEC, NFNETLINK_V0, htons(NFNL_SUBSYS_NFTABLES)});
        append(message);
    }
    void append(Message& message) {
        const auto more = message.finish();
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }

    std::vector<std::uint8_t> bytes_;
    int answers_ = 0;
};

// Adds a part of a rule: its name, and the attributes that `fill` writes.
template <class Fill>
void put_expression(Message& rule, const char* name, const Fill& fill) {
    const std::size_t expression = rule.open(NFTA_LIST_ELEM | NLA_F_NESTED);
    rule.put_text(NFTA_EXPR_NAME, name);
    const std::size_t data = rule.open(NFTA_EXPR_DATA | NLA_F_NESTED);
    fill();
    rule.close(data);
    rule.close(expression);
}

void put_value(Message& rule, std::uint16_t type, std::uint32_t value) {
    const std::size_t data = rule.open(type | NLA_F_NESTED);
    rule.put(NFTA_DATA_VALUE, value);
    rule.close(data);
}

// ip saddr BLOCK masquerade
Message rule_of(const std::string& table, const Block& block) {
    Message rule = Batch::message(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    rule.put_text(NFTA_RULE_TABLE, table);
    rule.put_text(NFTA_RULE_CHAIN, kChain);
    const std::size_t expressions = rule.open(NFTA_RULE_EXPRESSIONS | NLA_F_NESTED);
    const auto number = [&](std::uint16_t type, std::uint32_t value) {
        rule.put(type, htonl(value));
    };
    put_expression(rule, "payload", [&] {
        number(NFTA_PAYLOAD_DREG, NFT_REG_1);
        number(NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
        number(NFTA_PAYLOAD_OFFSET, kSourceAt);
        number(NFTA_PAYLOAD_LEN, sizeof block.first);
    });
    put_expression(rule, "bitwise", [&] {
        number(NFTA_BITWISE_SREG, NFT_REG_1);
        number(NFTA_BITWISE_DREG, NFT_REG_1);
        number(NFTA_BITWISE_LEN, sizeof block.first);
        put_value(rule, NFTA_BITWISE_MASK, htonl(UINT32_MAX << (32 - block.prefix)));
        put_value(rule, NFTA_BITWISE_XOR, 0);
    });
    put_expression(rule, "cmp", [&] {
        number(NFTA_CMP_SREG, NFT_REG_1);
        number(NFTA_CMP_OP, NFT_CMP_EQ);
        put_value(rule, NFTA_CMP_DATA, htonl(block.first));
    });
    put_expression(rule, "masq", [] {});
    rule.close(expressions);
    return rule;
}

void add_table(Netlink& kernel, const std::string& name, const Block& block) {
    Batch batch;
    Message table = Batch::message(NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_EXCL);
    table.put_text(NFTA_TABLE_NAME, name);
    table.put(NFTA_TABLE_FLAGS, htonl(kOwned));
    batch.add(table);

    Message chain = Batch::message(NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_EXCL);
    chain.put_text(NFTA_CHAIN_TABLE, name);
    chain.put_text(NFTA_CHAIN_NAME, kChain);
    const std::size_t hook = chain.open(NFTA_CHAIN_HOOK | NLA_F_NESTED);
    chain.put(NFTA_HOOK_HOOKNUM, htonl(NF_INET_POST_ROUTING));
    chain.put(NFTA_HOOK_PRIORITY, htonl(kAfterOthers));
    chain.close(hook);
    chain.put_text(NFTA_CHAIN_TYPE, "nat");
    batch.add(chain);

    Message rule = rule_of(name, block);
    batch.add(rule);
    batch.send(kernel);
}

}  // namespace

std::string loopback_nameserver(std::istream& file) {
    std::string found;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key, server;
        if (!(words >> key >> server) || key != "nameserver") continue;
        if (server.rfind("127.", 0) != 0 && server != "::1") return "";
        found = server;
    }
    return found;
}

Nat make_nat(const Gateway& gateway) {
    if (!forwards())
        return {nullptr,
                "net.ipv4.ip_forward is 0 (sysctl -w net.ipv4.ip_forward=1 lets packets pass)"};
    try {
        auto kernel = std::make_unique<Netlink>(NETLINK_NETFILTER);
        add_table(*kernel, "westwood-" + gateway.device, gateway.block);
        return {std::move(kernel), ""};
    } catch (const std::system_error& error) {
        return {nullptr,
                "this kernel has no masquerading by nf_tables (" + error.code().message() + ")"};
    }
}

}  // namespace ww::path
