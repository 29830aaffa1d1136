/* Counter-based random numbers: a chain of splitmix64 finalizers over (seed, stream, i, j), each
 * input passing through a full avalanche before the next is mixed in (SplitMix: Steele, Lea and
 * Flood 2014, OOPSLA '14, pp. 453-472, doi:10.1145/2660193.2660195). A number depends on its
 * indices alone, so results do not depend on the number of ranks. Normal numbers come from the
 * Box-Muller transform. Local. */
#include <dkmap/random.h>

#include <math.h>

static uint64_t splitmix64(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t dkm_random_bits(uint64_t seed, uint64_t stream, uint64_t i, uint64_t j)
{
    return splitmix64(splitmix64(splitmix64(splitmix64(seed) ^ stream) ^ i) ^ j);
}

double dkm_random_uniform(uint64_t seed, uint64_t stream, uint64_t i, uint64_t j)
{
    return (double)(dkm_random_bits(seed, stream, i, j) >> 11) * 0x1.0p-53;
}

double dkm_random_normal(uint64_t seed, uint64_t stream, uint64_t i, uint64_t j)
{
    const double two_pi = 6.283185307179586477;
    uint64_t bits = dkm_random_bits(seed, stream, i, j);
    double u = ((double)(bits >> 11) + 0.5) * 0x1.0p-53;
    double v = (double)(splitmix64(bits) >> 11) * 0x1.0p-53;

    return sqrt(-2.0 * log(u)) * cos(two_pi * v);
}

dkm_idx dkm_random_below(uint64_t seed, uint64_t stream, uint64_t i, dkm_idx n)
{
    uint64_t range = (uint64_t)n, limit = UINT64_MAX - UINT64_MAX % range, bits, j = 0;

    do
        bits = dkm_random_bits(seed, stream, i, j++);
    while (bits >= limit);
    return (dkm_idx)(bits % range);
}
