#include <dkmap/grid.h>

dkm_idx dkm_cyclic_count(dkm_idx n, dkm_idx nb, int p, int P)
{
    dkm_idx full = n / nb, rest = n % nb;
    dkm_idx mine = full / P * nb, last = full % P;

    if (p < 0)
        return 0;
    return mine + (p < last ? nb : p == last ? rest : 0);
}

int dkm_cyclic_owner(dkm_idx ig, dkm_idx nb, int P)
{
    return (int)(ig / nb % P);
}

dkm_idx dkm_cyclic_local(dkm_idx ig, dkm_idx nb, int P)
{
    return ig / nb / P * nb + ig % nb;
}

dkm_idx dkm_cyclic_global(dkm_idx il, dkm_idx nb, int p, int P)
{
    return (il / nb * P + p) * nb + il % nb;
}

dkm_idx dkm_slab_first(dkm_idx m, int rank, int size)
{
    dkm_idx each = m / size, extra = m % size;

    return rank * each + (rank < extra ? rank : extra);
}

dkm_idx dkm_slab_count(dkm_idx m, int rank, int size)
{
    return m / size + (rank < m % size ? 1 : 0);
}

int dkm_slab_owner(dkm_idx m, dkm_idx ig, int size)
{
    dkm_idx each = m / size, extra = m % size, edge = extra * (each + 1);

    return (int)(ig < edge ? ig / (each + 1) : extra + (ig - edge) / each);
}
