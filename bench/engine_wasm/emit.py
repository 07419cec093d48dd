"""Compile kernels to one object file for WebAssembly.

numba's code of each kernel goes into one LLVM module, with a block of code that calls it from outside: arguments
are read from memory, eight bytes each, as numba flattens them (an array is seven words or more). llvmlite's own LLVM
optimises the whole and makes machine code for wasm32 of it.
"""

from __future__ import annotations

import re
from typing import Any

import llvmlite.binding as llvm
import numba

from bench.engine_wasm.entries import Entry
from bench.engine_wasm.unoptimised import unoptimised
from dprl.engine import compiler
from dprl.engine.pack import GENERATOR

# In every browser since 2021.
FEATURES = "+bulk-memory,+sign-ext,+nontrapping-fptoint,+mutable-globals"


# Bytes of Python's code of a helper that always goes into its callers, as all do natively: handing over an array costs
# more than the arithmetic on a row of it.
SMALL = 180


def target() -> llvm.TargetMachine:
    """Return LLVM's target machine for WebAssembly with 32-bit addresses."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = llvm.Target.from_triple("wasm32-unknown-unknown")
    return triple.create_target_machine(opt=3, reloc="static", features=FEATURES)


def object_of(entries: tuple[Entry, ...], machine: llvm.TargetMachine) -> bytes:
    """Compile these kernels to one object file, which numbers them in this order."""
    whole, arguments = _linked(entries, machine)
    whole.link_in(llvm.parse_assembly(_doors(entries, arguments, machine)))
    _keep(whole, ("address", "call"))
    whole.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = builder.getModulePassManager()
    passes.add_merge_functions_pass()  # samplers that several kernels have
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, builder)
    return bytes(machine.emit_object(whole))


def _linked(entries: tuple[Entry, ...], machine: llvm.TargetMachine) -> tuple[Any, list[list[str]]]:
    """Return one LLVM module with a function `kernel.<number>` for each kernel, and the types of each kernel's
    arguments."""
    whole = llvm.parse_assembly(_head(machine))
    arguments = []
    for number, entry in enumerate(entries):
        code, symbol = _code_of(entry)
        part = llvm.parse_assembly(_retargeted(code, machine))
        function = part.get_function(symbol)
        arguments.append([str(argument.type) for argument in function.arguments])
        function.name = f"kernel.{number}"
        _keep(part, (function.name,))
        _optimise(part, machine)
        whole.link_in(part)
    return whole, arguments


def _keep(module: Any, names: tuple[str, ...]) -> None:
    """Make everything except these names internal to the module, so that unused code can be removed."""
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in names:
            value.linkage = llvm.Linkage.internal


def _code_of(entry: Entry) -> tuple[str, str]:
    """Return numba's unoptimised LLVM code of a kernel, and the name of its function."""
    for helper in compiler._kernels:
        if helper not in compiler._registered:
            # LLVM decides what else goes into its callers: the code is smaller
            small = len(helper.__code__.co_code) <= SMALL
            numba.extending.register_jitable(forceinline=small)(helper)
            compiler._registered.add(helper)
    machine = numba.njit(entry.function, error_model="numpy")
    with unoptimised():
        machine.compile(entry.signature())
    compiled: Any = next(iter(machine.overloads.values()))
    return _placeless(str(compiled.library._final_module)), compiled.fndesc.llvm_func_name


# What an exception says, pickled, with the file that raises it. numba names it by its SHA-1.
SAID = re.compile(r"^(@\.const\.picklebuf\.\S+ = internal constant \{[^}]*\}) \{.*$", re.MULTILINE)
PLACES = re.compile(r"(?<=at_200x|expr_0x)[0-9a-f]+|(?<=picklebuf\.|ickledata\.)[0-9a-f]{40}")


def _placeless(code: str) -> str:
    """Remove from LLVM code what depends on where and when it was compiled. Addresses and digests in names become
    numbers, because nobody sees these names. The content of exceptions is removed, because the module only reports
    that there was one."""
    found: dict[str, str] = {}
    return PLACES.sub(
        lambda at: found.setdefault(at[0], str(len(found))), SAID.sub(r"\1 zeroinitializer", code)
    )


def _head(machine: llvm.TargetMachine) -> str:
    return f'target triple = "wasm32-unknown-unknown"\ntarget datalayout = "{machine.target_data}"\n'


# A test that a binomial draw seldom needs. As part of its caller, its twelve divisions would be moved out of the loop,
# and each draw would pay for them.
SELDOM = re.compile(r"^(define .*_binomial_btpe_squeeze.*\)) \{$", re.MULTILINE)

# What mathematics.py has under names of its own, with the bits that it has natively. A square root is an instruction,
# rounded right everywhere.
OURS = {
    "llvm.log.f64": "gnu_log",
    "llvm.exp.f64": "gnu_exp",
    "log1p": "gnu_log1p",
    "expm1": "gnu_expm1",
    "sqrt": "llvm.sqrt.f64",
}


def _retargeted(code: str, machine: llvm.TargetMachine) -> str:
    """Convert LLVM code for this processor to code for WebAssembly."""
    code = re.sub(r"^target (datalayout|triple) = .*$", "", code, flags=re.MULTILINE)
    code = re.sub(r'"target-(cpu|features)"="[^"]*"', "", code)
    code = SELDOM.sub(r"\1 noinline {", code)
    for theirs, ours in OURS.items():
        code = re.sub(rf"^declare .*@{re.escape(theirs)}\(.*$", "", code, flags=re.MULTILINE)
        code = code.replace(f"@{theirs}(", f"@{ours}(")
        if f"@{ours}(" in code and not re.search(
            rf"^declare .*@{re.escape(ours)}\(", code, flags=re.MULTILINE
        ):
            code += f"\ndeclare double @{ours}(double) nounwind willreturn memory(none)\n"
    return _head(machine) + code


def _doors(entries: tuple[Entry, ...], arguments: list[list[str]], machine: llvm.TargetMachine) -> str:
    """Return LLVM code for two functions: `address(number)` gives a kernel's address for other kernels, and
    `call(number, words)` calls a kernel from outside."""
    lines = [_head(machine)]
    doors = []
    for number, (entry, types) in enumerate(zip(entries, arguments, strict=True)):
        lines.append(f"declare i32 @kernel.{number}({', '.join(types)})")
        if not entry.called:
            doors.append("ptr null")
            continue
        doors.append(f"ptr @door.{number}")
        lines.append(f"define internal i32 @door.{number}(ptr %words) {{")
        handed = []
        for i, kind in enumerate(types):
            word = "i64" if kind == "ptr" else kind
            lines.append(f"%p{i} = getelementptr i64, ptr %words, i32 {i}\n%v{i} = load {word}, ptr %p{i}")
            if kind == "ptr":
                lines.append(f"%a{i} = inttoptr i64 %v{i} to ptr")
            handed.append(f"{kind} %{'a' if kind == 'ptr' else 'v'}{i}")
        lines.append(f"%r = call i32 @kernel.{number}({', '.join(handed)})\nret i32 %r\n}}")
    lines += [f"declare void @sfc64_{name}()" for name in GENERATOR]
    addresses = [
        *(f"ptr @kernel.{i}" for i in range(len(entries))),
        *(f"ptr @sfc64_{name}" for name in GENERATOR),
    ]
    for name, values in (("addresses", addresses), ("doors", doors)):
        lines.append(f"@{name} = internal constant [{len(values)} x ptr] [{', '.join(values)}]")
    lines.append("""
define ptr @address(i32 %number) {
  %p = getelementptr ptr, ptr @addresses, i32 %number
  %r = load ptr, ptr %p
  ret ptr %r
}
define i32 @call(i32 %number, ptr %words) {
  %p = getelementptr ptr, ptr @doors, i32 %number
  %f = load ptr, ptr %p
  %r = call i32 %f(ptr %words)
  ret i32 %r
}""")
    return "\n".join(lines)


def _optimise(module: Any, machine: llvm.TargetMachine) -> None:
    """Optimise a kernel with LLVM. Vector instructions are left out, because older browsers lack them. Pairs of
    reference counts that cancel within a function are removed, after small functions are inlined, as numba does."""
    for speed_level in (0, 2):
        options = llvm.create_pipeline_tuning_options(speed_level=speed_level)
        options.loop_vectorization = options.slp_vectorization = False
        builder = llvm.create_pass_builder(machine, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(module, builder)
