"""Private noise comes from a cipher with an unknown key, and its streams never meet."""

import numpy as np
import pytest

from dpmf_core.privacy import Gaussian, Noise, PosteriorSample, Repeat, sequence
from dpmf_core.privacy.random_streams import KEY_BYTES, Secret

PLAN = sequence(Repeat(Gaussian(1.0, "sums"), 3), PosteriorSample(1.0, "factors"))


def key_of(cipher_key, counter=0):
    return bytes.fromhex(cipher_key) + counter.to_bytes(16, "little")


def raw(stream, count):
    words = stream.generator().bit_generator.random_raw(count)
    return words.astype("<u8").tobytes()


def test_the_cipher_is_aes():
    """FIPS 197, appendix C.1; the second vector is that of a zero key and a zero block."""
    block = int.from_bytes(bytes.fromhex("00112233445566778899aabbccddeeff"), "little")
    assert (
        raw(Secret(key_of("000102030405060708090a0b0c0d0e0f", block)), 2).hex()
        == "69c4e0d86a7b0430d8cdb78070b4c55a"
    )
    block = raw(Secret(bytes(KEY_BYTES)), 2)
    assert block.hex() == "66e94bd4ef8a2c3b884cfa59ca342b2e"


def test_a_stream_is_the_cipher_of_consecutive_counters():
    """Two streams `step` blocks apart overlap, also across the end of 64 and 128 bits."""
    for first in (0, 2**64 - 3, 2**128 - 3):
        long = raw(Secret(key_of("ab" * 16, first)), 40)
        for step in (1, 2, 3, 4, 7, 19):
            counter = (first + step) % 2**128
            block = raw(Secret(key_of("ab" * 16, counter)), 2)
            assert block == long[16 * step : 16 * step + 16]


def test_no_two_streams_share_a_counter():
    """Children and grandchildren start at different multiples of 2^64."""
    root = Secret(key_of("00" * 16, 2**127 + 5))
    family = [root]
    for child in root.spawn(5):
        family += [child, *child.spawn(4), *child.spawn(3)]
    family += root.spawn(2)
    counters = []
    for stream in family:
        state = stream.generator().bit_generator.state
        low, high = state["s"]["counter"][:2]
        counter = int(low) + (int(high) << 64)
        counters.append((counter - 2**127 - 5) % 2**128)
    # the bit generator counts a block ahead
    offsets = {(counter + 2**63) // 2**64 for counter in counters}
    assert len(offsets) == 5 * 8 + 3
    assert len(family) == 5 * 8 + 3
    for counter in counters:
        nearest = (counter + 2**63) // 2**64 << 64
        assert abs(counter - nearest) < 16


def test_a_third_generation_or_too_many_children_are_refused():
    child = Secret(bytes(KEY_BYTES)).spawn(1)[0]
    with pytest.raises(OverflowError):
        child.spawn(1)[0].spawn(1)
    with pytest.raises(OverflowError):
        child.spawn(2**32 - 1 + 1)


def test_without_a_seed_the_key_is_the_operating_system_s(monkeypatch):
    """All 256 bits of it, asked for once a run."""
    sizes = []

    def token_bytes(count):
        sizes.append(count)
        return bytes(range(count))

    monkeypatch.setattr("secrets.token_bytes", token_bytes)
    samples = Noise(PLAN).vector("sums", np.zeros(100), sensitivity=1.0)
    assert sizes == [32]
    same = Noise(PLAN, Secret(bytes(range(32)))).vector(
        "sums", np.zeros(100), sensitivity=1.0
    )
    assert np.array_equal(samples, same)


def test_private_noise_needs_no_stream_of_numpy(monkeypatch):
    """Without any bit generator of numpy: vectors, matrices, posterior samples."""

    def refuse(*_, **__):
        raise AssertionError("a stream of numpy was opened")

    streams = (
        "SFC64 PCG64 PCG64DXSM MT19937 Philox SeedSequence default_rng RandomState"
    )
    for name in streams.split():
        monkeypatch.setattr(np.random, name, refuse)
    noise = Noise(PLAN)
    draws = noise.vector("sums", np.zeros(10), sensitivity=1.0)
    assert draws.std() > 0
    release = noise.release("sums", sensitivity=1.0, size=10)
    assert release.symmetric(np.zeros((4, 4))).std() > 0
    assert noise.sampler("factors")((5,)).std() > 0
    assert not noise.is_reproducible


def test_a_seed_draws_what_it_always_drew():
    """SFC64 on the first grandchild of the seed: runs on public data are as they were."""
    release = np.random.SeedSequence(7).spawn(1)[0]
    expected = np.random.Generator(
        np.random.SFC64(release.spawn(1)[0])
    ).standard_normal(50)
    assert np.array_equal(
        Noise(PLAN, np.random.SeedSequence(7)).vector(
            "sums", np.zeros(50), sensitivity=1.0
        ),
        expected,
    )
    sampler = Noise(PLAN, np.random.SeedSequence(7)).sampler("factors")
    stream = np.random.SeedSequence(7).spawn(1)[0]
    generator = np.random.Generator(np.random.SFC64(stream))
    expected = generator.standard_normal(50)
    assert np.array_equal(sampler((50,)), expected)
