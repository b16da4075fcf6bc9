"""Emits the vector instructions that loops of `projection_loops` and `projection_bits` lack.

Compilers make no good vector code of counts of comparisons and of carry-save adders. Each function
here works on blocks of a fixed length, so that all counters stay in registers. LLVM translates
its vectors to what the processor has: AVX2, AVX-512 or NEON.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils as untyped
from numba.extending import intrinsic

cgutils: Any = untyped

BLOCK = 64  # samples that a sweep meets at a time
TIED_BLOCK = 32  # the same where columns have ties
LANES = 32  # anchors whose bit sets are counted side by side
ROWS = 8  # bytes of a bit set that go through one round of adders
MOST_ROUNDS = 31  # rounds until counters of 8 bits could overflow

REGISTER = 256  # bits; types of that size are the ones LLVM translates best
BYTE, LONG = ir.IntType(8), ir.IntType(64)
BYTES = ir.VectorType(BYTE, LANES)


def _vectors(context: Any, builder: Any, signature: Any, values: Any, which: int, at: Any) -> Any:
    """Pointer to vectors of the size of a register, from place `at` of argument `which`."""
    array = signature.args[which]
    element = ir.IntType(array.dtype.bitwidth)
    vector = ir.VectorType(element, REGISTER // array.dtype.bitwidth)
    data = context.make_array(array)(context, builder, values[which]).data
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _load(builder: Any, vectors: Any, at: Any) -> Any:
    place = builder.gep(vectors, [LONG(at) if isinstance(at, int) else at])
    return builder.load(place, align=1)


def _store(builder: Any, value: Any, vectors: Any, at: int) -> None:
    builder.store(value, builder.gep(vectors, [LONG(at)]), align=1)


def _filled(vector: Any, values: Sequence[int]) -> Any:
    return ir.Constant(vector, [vector.element(value) for value in values])


def _spread(builder: Any, vector: Any, lane: int) -> Any:
    """One lane of a vector in all its lanes."""
    lanes = ir.Constant(
        ir.VectorType(ir.IntType(32), vector.type.count), [lane] * vector.type.count
    )
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), lanes)


def _filled_with(builder: Any, vector: Any, value: Any) -> Any:
    """One value in all lanes."""
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, LONG(0))
    return _spread(builder, one, 0)


def _less(builder: Any, a: Any, b: Any) -> Any:
    """All bits set in the lanes where a < b."""
    return builder.sext(builder.icmp_signed("<", a, b), a.type)


def _earlier_smaller(_context: Any, values: Any, found: Any) -> Any:
    """Set ``found[u]`` to how many of the `values` before ``values[u]`` are less than it."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, target = (
            _vectors(context, builder, signature, arguments, which, LONG(0)) for which in (0, 1)
        )
        lanes = REGISTER // values.dtype.bitwidth
        parts = [_load(builder, source, part) for part in range(BLOCK // lanes)]
        vector = parts[0].type
        sums = [_filled(vector, [0] * lanes) for _ in parts]
        for u in range(BLOCK):
            own = _spread(builder, parts[u // lanes], u % lanes)
            for part in range(u // lanes, len(parts)):
                less = _less(builder, own, parts[part])
                if part == u // lanes:
                    after = [-int(lane > u % lanes) for lane in range(lanes)]
                    less = builder.and_(less, _filled(vector, after))
                sums[part] = builder.sub(sums[part], less)
        for part, total in enumerate(sums):
            _store(builder, total, target, part)
        return context.get_dummy_value()

    return types.void(values, found), emit


def _smaller_around(
    _context: Any, values: Any, starts: Any, ends: Any, low: Any, high: Any, found: Any
) -> Any:
    """Set ``found[q]`` to four counts added up, of ``values[u]`` less than `low` and than `high`.

    Both are counted among the u before ``starts[q]`` and among those before ``ends[q]``.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, *others, target = (
            _vectors(context, builder, signature, arguments, which, LONG(0)) for which in range(6)
        )
        lanes = REGISTER // values.dtype.bitwidth
        parts = [_load(builder, source, part) for part in range(TIED_BLOCK // lanes)]
        for at in range(len(parts)):
            start, end, lower, upper = (_load(builder, other, at) for other in others)
            total = _filled(start.type, [0] * lanes)
            for u in range(TIED_BLOCK):
                own = _spread(builder, parts[u // lanes], u % lanes)
                less = builder.add(_less(builder, own, lower), _less(builder, own, upper))
                place = _filled(start.type, [u] * lanes)
                for until in (start, end):
                    counted = builder.and_(less, _less(builder, place, until))
                    total = builder.sub(total, counted)
            _store(builder, total, target, at)
        return context.get_dummy_value()

    return types.void(values, starts, ends, low, high, found), emit


def _compare_eight(
    _context: Any,
    ranks: Any,
    first: Any,
    anchors: Any,
    unequal: Any,
    inside: Any,
    planes: Any,
    at: Any,
) -> Any:
    """Write the bits "is below the anchor" of eight samples, a byte per anchor, to `planes`.

    With `unequal`, the bits "differs from the anchor" instead; only those in the byte `inside`.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = _vectors(context, builder, signature, arguments, 2, LONG(0))
        target = _vectors(context, builder, signature, arguments, 5, arguments[6])
        data = context.make_array(ranks)(context, builder, arguments[0]).data
        lanes = REGISTER // ranks.dtype.bitwidth
        parts = [_load(builder, source, part) for part in range(LANES // lanes)]
        vector = parts[0].type
        also = _filled_with(builder, vector, builder.sext(arguments[3], vector.element))
        kept = _filled_with(builder, vector, builder.trunc(arguments[4], vector.element))
        sums = [_filled(vector, [0] * lanes) for _ in parts]
        for bit in range(8):
            place = builder.gep(data, [builder.add(arguments[1], LONG(bit))])
            own = _filled_with(builder, vector, builder.load(place))
            for k, part in enumerate(parts):
                above = builder.and_(_less(builder, part, own), also)
                differs = builder.or_(_less(builder, own, part), above)
                mask = _filled(vector, [1 << bit] * lanes)
                sums[k] = builder.or_(sums[k], builder.and_(differs, mask))
        for k, total in enumerate(sums):
            bytes_ = builder.trunc(builder.and_(total, kept), ir.VectorType(BYTE, lanes))
            place = builder.gep(builder.bitcast(target, BYTE.as_pointer()), [LONG(k * lanes)])
            builder.store(bytes_, builder.bitcast(place, bytes_.type.as_pointer()), align=1)
        return context.get_dummy_value()

    arguments = ranks, types.int64, anchors, types.boolean, types.int64, planes, types.int64
    return types.void(*arguments), emit


def _set_bits(builder: Any, vector: Any) -> Any:
    """Number of bits set in every byte."""
    kind = ir.FunctionType(BYTES, [BYTES])
    count = cgutils.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{LANES}i8")
    return builder.call(count, [vector])


def _added(builder: Any, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Sum and carry of three bits, in every place of the vectors."""
    half = builder.xor(a, b)
    return builder.xor(half, c), builder.or_(builder.and_(a, b), builder.and_(half, c))


def _sum_of_bits(builder: Any, rounds: Any, row: Callable[[Any], Any]) -> Any:
    """Count the bits of the rows of bytes, eight rows per round, as 32-bit integers.

    Carry-save adders (Harley and Seal) keep the ones, twos and fours of every place and count set
    bits once per round, of the eights that are carried out.
    """
    kept = [cgutils.alloca_once_value(builder, _filled(BYTES, [0] * LANES)) for _ in range(4)]
    with cgutils.for_range(builder, rounds, intp=LONG) as loop:
        ones, twos, fours, eights = (builder.load(place) for place in kept)
        first = builder.mul(loop.index, LONG(ROWS))
        rows = [row(builder.add(first, LONG(i))) for i in range(ROWS)]
        two: list[Any] = []
        for i in range(0, ROWS, 2):
            ones, carry = _added(builder, rows[i], rows[i + 1], ones)
            two.append(carry)
        four: list[Any] = []
        for i in range(0, ROWS // 2, 2):
            twos, carry = _added(builder, two[i], two[i + 1], twos)
            four.append(carry)
        fours, carry = _added(builder, four[0], four[1], fours)
        eights = builder.add(eights, _set_bits(builder, carry))
        for place, value in zip(kept, (ones, twos, fours, eights), strict=True):
            builder.store(value, place)
    wide = ir.VectorType(ir.IntType(32), LANES)
    ones, twos, fours, eights = (builder.load(place) for place in kept)
    low = _set_bits(builder, fours)
    for place in (twos, ones):
        low = builder.add(builder.add(low, low), _set_bits(builder, place))
    eights = builder.shl(builder.zext(eights, wide), _filled(wide, [3] * LANES))
    return builder.add(eights, builder.zext(low, wide))


def _add_to(context: Any, builder: Any, array: Any, value: Any, found: Any) -> None:
    data = context.make_array(array)(context, builder, value).data
    place = builder.bitcast(data, found.type.as_pointer())
    builder.store(builder.add(builder.load(place, align=4), found), place, align=4)


def _count_common(
    _context: Any, a: Any, at_a: Any, b: Any, at_b: Any, rounds: Any, counts: Any
) -> Any:
    """Add to `counts` the number of bits that rows of a and of b share, lane by lane."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        left = _vectors(context, builder, signature, values, 0, values[1])
        right = _vectors(context, builder, signature, values, 2, values[3])

        def common(i: Any) -> Any:
            return builder.and_(_load(builder, left, i), _load(builder, right, i))

        _add_to(context, builder, counts, values[5], _sum_of_bits(builder, values[4], common))
        return context.get_dummy_value()

    return types.void(a, types.int64, b, types.int64, types.int64, counts), emit


def _count_concordant(
    _context: Any, a: Any, c: Any, at_a: Any, b: Any, d: Any, at_b: Any, rounds: Any, counts: Any
) -> Any:
    """Add to `counts` the bits that c and d share, minus twice those of which a and b differ."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        below_a, untied_a, below_b, untied_b = (
            _vectors(context, builder, signature, values, which, values[at])
            for which, at in ((0, 2), (1, 2), (3, 5), (4, 5))
        )

        def counted(i: Any) -> Any:
            return builder.and_(_load(builder, untied_a, i), _load(builder, untied_b, i))

        def against(i: Any) -> Any:
            differ = builder.xor(_load(builder, below_a, i), _load(builder, below_b, i))
            return builder.and_(counted(i), differ)

        found = _sum_of_bits(builder, values[6], counted)
        twice = _sum_of_bits(builder, values[6], against)
        found = builder.sub(found, builder.add(twice, twice))
        _add_to(context, builder, counts, values[7], found)
        return context.get_dummy_value()

    kinds = a, c, types.int64, b, d, types.int64, types.int64, counts
    return types.void(*kinds), emit


def _emitted(function: Callable[..., Any]) -> Callable[..., Any]:
    return cast(Any, intrinsic)(function)  # type: ignore[no-any-return]


earlier_smaller = _emitted(_earlier_smaller)
smaller_around = _emitted(_smaller_around)
compare_eight = _emitted(_compare_eight)
count_common = _emitted(_count_common)
count_concordant = _emitted(_count_concordant)
