"""What is needed soon is asked of memory early, from compiled loops. Changes no result."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LINE = 64  # bytes that memory hands out at once
READ, EVERY_CACHE, DATA = 0, 3, 1  # of LLVM's intrinsic

_intrinsic: Callable[..., Any] = intrinsic


@_intrinsic
def prefetch(typing, address):  # type: ignore[no-untyped-def]
    """Asks for the line of memory at an address, given as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer, whole = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, whole, whole, whole])
        declare: Callable[..., Any] = cgutils.get_or_insert_function
        call = declare(builder.module, kind, "llvm.prefetch.p0")
        how = [whole(READ), whole(EVERY_CACHE), whole(DATA)]
        builder.call(call, [builder.inttoptr(args[0], pointer), *how])
        return context.get_dummy_value()

    return types.void(types.intp), codegen
