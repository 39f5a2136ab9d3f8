// SPDX-License-Identifier: GPL-2.0-only
#include "object.hpp"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "../../wire/control.hpp"
#include "../path/plan.hpp"

namespace ww::path {
namespace {

// An object in memory, and what its dynamic section names.
class Object {
  public:
    explicit Object(const std::vector<char>& file) {
        Elf64_Ehdr head;
        require(file.size() >= sizeof head);
        std::memcpy(&head, file.data(), sizeof head);
        require(std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_type == ET_DYN &&
                head.e_machine == EM_X86_64);
        parts_.resize(head.e_phnum);
        require(head.e_phoff + parts_.size() * sizeof(Elf64_Phdr) <= file.size());
        std::memcpy(parts_.data(), file.data() + head.e_phoff, parts_.size() * sizeof(Elf64_Phdr));
        for (const Elf64_Phdr& part : parts_)
            if (part.p_type == PT_LOAD) bytes_ = std::max(bytes_, part.p_vaddr + part.p_memsz);
        void* const room = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE | PROT_EXEC,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) throw PlanError("object: no memory");
        base_ = static_cast<char*>(room);
        for (const Elf64_Phdr& part : parts_) {
            if (part.p_type != PT_LOAD) continue;
            require(part.p_offset + part.p_filesz <= file.size());
            std::memcpy(base_ + part.p_vaddr, file.data() + part.p_offset, part.p_filesz);
        }
        read_dynamic();
        relocate(table_[DT_RELA], table_[DT_RELASZ]);
        relocate(table_[DT_JMPREL], table_[DT_PLTRELSZ]);
    }

    const void* find(const char* name) const {
        require(table_[DT_HASH] != 0);
        const auto* hash = at<Elf64_Word>(table_[DT_HASH]);
        for (Elf64_Word i = 0; i < hash[1]; i++) {
            const Elf64_Sym& symbol = at<Elf64_Sym>(table_[DT_SYMTAB])[i];
            if (symbol.st_shndx != SHN_UNDEF &&
                std::strcmp(at<char>(table_[DT_STRTAB]) + symbol.st_name, name) == 0)
                return base_ + symbol.st_value;
        }
        return nullptr;
    }

  private:
    static void require(bool holds) {
        if (!holds) throw PlanError("object: is no shared object for x86-64");
    }
    template <class T>
    T* at(Elf64_Addr address) const {
        require(address < bytes_);
        return reinterpret_cast<T*>(base_ + address);
    }
    void read_dynamic() {
        for (const Elf64_Phdr& part : parts_) {
            if (part.p_type != PT_DYNAMIC) continue;
            for (const Elf64_Dyn* one = at<Elf64_Dyn>(part.p_vaddr); one->d_tag != DT_NULL; one++)
                if (one->d_tag >= 0 && one->d_tag < DT_NUM) table_[one->d_tag] = one->d_un.d_val;
        }
    }
    void relocate(Elf64_Addr first, Elf64_Xword bytes) {
        for (Elf64_Xword i = 0; i < bytes / sizeof(Elf64_Rela); i++) {
            const Elf64_Rela& one = at<Elf64_Rela>(first)[i];
            const Elf64_Sym& symbol = at<Elf64_Sym>(table_[DT_SYMTAB])[ELF64_R_SYM(one.r_info)];
            const auto base = reinterpret_cast<Elf64_Addr>(base_);
            const auto type = ELF64_R_TYPE(one.r_info);
            require(type == R_X86_64_RELATIVE || symbol.st_shndx != SHN_UNDEF);
            Elf64_Addr value = base + static_cast<Elf64_Addr>(one.r_addend);
            if (type == R_X86_64_64) value += symbol.st_value;
            if (type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT)
                value = base + symbol.st_value;
            std::memcpy(at<char>(one.r_offset), &value, sizeof value);
        }
    }

    std::vector<Elf64_Phdr> parts_;
    Elf64_Xword bytes_ = 0;
    char* base_ = nullptr;
    Elf64_Xword table_[DT_NUM] = {};
};

}  // namespace

const ww_control_ops& load_control(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> content{std::istreambuf_iterator<char>(in), {}};
    const Object object(content);
    const auto* table = static_cast<const ww_control_ops*>(object.find(wire::kControlSymbol));
    const std::string problem = table == nullptr ? "it has no table" : wire::problem_of(*table);
    if (!problem.empty()) throw PlanError("object: " + problem);
    static ww_control_ops loaded;  // its end is filled in by the host
    loaded = *table;
    loaded.context = nullptr;
    loaded.refuse = nullptr;
    loaded.new_state = nullptr;
    loaded.end_state = nullptr;
    return loaded;
}

}  // namespace ww::path
