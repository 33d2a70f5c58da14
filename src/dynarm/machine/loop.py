"""NumPy's inner loop around the kernels, as one LLVM function.

    void loop(char **args, intptr_t *dims, intptr_t *steps, void *data)

dims[0] samples; steps holds, in bytes, the step from sample to sample of each operand and then the steps inside each
operand's core axes. Whole blocks of W samples run in the vector kernel, a single sample left over in the scalar one,
and several left over in the vector kernel with lanes repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import KindError
from ..graph import Port
from .lanes import bits
from .layout import COLUMNS, FIXED, ROWS, STRIDED, group
from .program import Program

LOOP = "dynarm_loop"
ALIGN = 64
STACK = 1 << 16  # workspaces above this many bytes are taken from the heap


class _Port:
    """One operand: where its numbers lie in the arguments of the loop and in the workspace."""

    def __init__(self, index: int, port: Port, slot: int, first_core: int, output: bool):
        if len(port.shape) > 3:
            raise KindError(
                f"port '{port.name}' has {len(port.shape)} axes; at most 3 are compiled"
            )
        self.index, self.port, self.slot, self.core, self.output = (
            index,
            port,
            slot,
            first_core,
            output,
        )

    def axes(self) -> str:
        """Size and step of three axes, the missing ones of size 1."""
        k = self.index
        found = [f"i64 {size}, i64 %core{k}_{d}" for d, size in enumerate(self.port.shape)]
        return ", ".join(["i64 1, i64 0"] * (3 - len(found)) + found)

    def entry(self, width: int) -> list[str]:
        """The operand's address and steps, and how its blocks are moved."""
        k = self.index
        text = [
            f"%pargs{k} = getelementptr ptr, ptr %args, i64 {k}",
            f"%base{k} = load ptr, ptr %pargs{k}, align 8",
            f"%psteps{k} = getelementptr i64, ptr %steps, i64 {k}",
            f"%step{k} = load i64, ptr %psteps{k}, align 8",
            f"%side{k} = icmp eq i64 %step{k}, 8",
            f"%mode{k}a = select i1 %side{k}, i64 {COLUMNS}, i64 {STRIDED}",
        ]
        whole, previous = 8, "true"
        for d in reversed(range(len(self.port.shape))):
            text += [
                f"%pcore{k}_{d} = getelementptr i64, ptr %steps, i64 {self.core + d}",
                f"%core{k}_{d} = load i64, ptr %pcore{k}_{d}, align 8",
            ]
            if self.port.shape[d] > 1:
                text += [
                    f"%same{k}_{d} = icmp eq i64 %core{k}_{d}, {whole}",
                    f"%all{k}_{d} = and i1 %same{k}_{d}, {previous}",
                ]
                previous = f"%all{k}_{d}"
            whole *= self.port.shape[d]
        if self.port.size < group(width):
            previous = "false"
        text.append(f"%mode{k}b = select i1 {previous}, i64 {ROWS}, i64 %mode{k}a")
        if self.output:
            text.append(f"%mode{k} = add i64 %mode{k}b, 0")
        else:
            text += [
                f"%still{k} = icmp eq i64 %step{k}, 0",
                f"%mode{k} = select i1 %still{k}, i64 {FIXED}, i64 %mode{k}b",
            ]
        return text

    def soa(self, width: int, work: str, tag: str) -> tuple[list[str], str]:
        name = f"%soa{tag}{self.index}"
        return [f"{name} = getelementptr i8, ptr {work}, i64 {8 * width * self.slot}"], name

    def strided(
        self, width: int, work: str, tag: str, address: str, valid: str, mode: str
    ) -> list[str]:
        text, soa = self.soa(width, work, tag)
        name = "scatter" if self.output else "gather"
        k = self.index
        return [
            *text,
            f"call void @{name}{width}(ptr {soa}, ptr {address}, i64 %step{k}, i64 {valid}, i64 {mode}, {self.axes()})",
        ]

    def fixed(self, width: int) -> list[str]:
        """A broadcast input is laid out once, before the loop."""
        k = self.index
        return [
            f"%fix{k} = icmp eq i64 %mode{k}, {FIXED}",
            f"br i1 %fix{k}, label %fix{k}yes, label %fix{k}no",
            f"fix{k}yes:",
            *self.strided(width, "%work", "f", f"%base{k}", "1", str(STRIDED)),
            f"br label %fix{k}no",
            f"fix{k}no:",
        ]

    def block(self, width: int) -> list[str]:
        """Move one whole block, whose first sample is %i."""
        k = self.index
        text, soa = self.soa(width, "%work", "r")
        name = "rows_out" if self.output else "rows_in"
        return [
            f"%ahead{k} = mul i64 %i, %step{k}",
            f"%at{k} = getelementptr i8, ptr %base{k}, i64 %ahead{k}",
            f"switch i64 %mode{k}, label %other{k} [ i64 {ROWS}, label %rows{k} i64 {FIXED}, label %moved{k} ]",
            f"rows{k}:",
            *text,
            f"call void @{name}{width}(ptr {soa}, ptr %at{k}, i64 %step{k}, i64 {self.port.size})",
            f"br label %moved{k}",
            f"other{k}:",
            *self.strided(width, "%work", "s", f"%at{k}", str(width), f"%mode{k}"),
            f"br label %moved{k}",
            f"moved{k}:",
        ]

    def rest(self, width: int, work: str, tag: str, valid: str) -> list[str]:
        """Move what is left, whose first sample is %i."""
        k = self.index
        return [
            f"%ahead{tag}{k} = mul i64 %i, %step{k}",
            f"%at{tag}{k} = getelementptr i8, ptr %base{k}, i64 %ahead{tag}{k}",
            *self.strided(width, work, tag, f"%at{tag}{k}", valid, str(STRIDED)),
        ]


def loop(
    program: Program, inputs: Sequence[Port], outputs: Sequence[Port], width: int
) -> list[str]:
    """The text of the loop; it calls kernel1, kernel<width> and the functions of `layout`."""
    ports, core = [], len(inputs) + len(outputs)
    for k, (port, slot) in enumerate(
        zip((*inputs, *outputs), (*program.inputs, *program.outputs), strict=True)
    ):
        ports.append(_Port(k, port, slot, core, k >= len(inputs)))
        core += len(port.shape)
    come, go = ports[: len(inputs)], ports[len(inputs) :]
    bytes_wide, bytes_single = 8 * width * program.slots, 8 * program.slots
    return [
        f"define void @{LOOP}(ptr noalias %args, ptr noalias %dims, ptr noalias %steps, ptr %data) nounwind {{",
        "entry:",
        f"%work = alloca i8, i64 {bytes_wide}, align {ALIGN}",
        f"%one = alloca i8, i64 {bytes_single}, align {ALIGN}",
        "%n = load i64, ptr %dims, align 8",
        *[line for p in ports for line in p.entry(width)],
        *_constants(program, "%one", 1),
        "%many = icmp sgt i64 %n, 1",
        "br i1 %many, label %wide, label %tail",
        "wide:",
        *_constants(program, "%work", width),
        *[line for p in come for line in p.fixed(width)],
        "br label %head",
        "head:",
        f"%i0 = phi i64 [ 0, %fix{come[-1].index}no ], [ %after, %moved{go[-1].index} ]",
        "%left0 = sub i64 %n, %i0",
        f"%enough = icmp sge i64 %left0, {width}",
        "br i1 %enough, label %body, label %tail",
        "body:",
        "%i = add i64 %i0, 0",
        *[line for p in come for line in p.block(width)],
        f"call void @kernel{width}(ptr %work)",
        *[line for p in go for line in p.block(width)],
        f"%after = add i64 %i, {width}",
        "br label %head",
        "tail:",
        "%start = phi i64 [ 0, %entry ], [ %i0, %head ]",
        "%left = sub i64 %n, %start",
        "%several = icmp sgt i64 %left, 1",
        "br i1 %several, label %pad, label %perhaps",
        "pad:",
        *[
            line.replace("%i,", "%start,")
            for p in come
            for line in p.rest(width, "%work", "p", "%left")
        ],
        f"call void @kernel{width}(ptr %work)",
        *[
            line.replace("%i,", "%start,")
            for p in go
            for line in p.rest(width, "%work", "p", "%left")
        ],
        "ret void",
        "perhaps:",
        "%last = icmp eq i64 %left, 1",
        "br i1 %last, label %single, label %exit",
        "single:",
        *[line.replace("%i,", "%start,") for p in come for line in p.rest(1, "%one", "q", "1")],
        "call void @kernel1(ptr %one)",
        *[line.replace("%i,", "%start,") for p in go for line in p.rest(1, "%one", "q", "1")],
        "br label %exit",
        "exit:",
        "ret void",
        "}",
    ]


def _constants(program: Program, work: str, width: int) -> list[str]:
    """Outputs that are constants are written once."""
    text = []
    for slot, value in program.fixed:
        for lane in range(width):
            name = f"%const{width}_{slot}_{lane}"
            text += [
                f"{name} = getelementptr i8, ptr {work}, i64 {8 * (width * slot + lane)}",
                f"store double {bits(value)}, ptr {name}, align 8",
            ]
    return text
