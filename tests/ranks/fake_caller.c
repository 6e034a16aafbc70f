/* Somebody else's program that has MPI running: the library joins its ranks, and leaves MPI as it was. */
#include "ranks/ranks.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    atn_ctx *ctx = NULL;
    atn_ranks *r = NULL;
    int rank = -1, count = 0, sum = 0, one = 1;
    double number = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    bool good = atn_ctx_create(NULL, &ctx) == ATN_OK && atn_ranks_join(ctx, &r) == ATN_OK && r->rank == rank &&
                r->count == count && atn_ranks_sum(r, ATN_OK, &number, 1) == ATN_OK && number == count;
    if (!good) fprintf(stderr, "rank %d of %d: %s\n", rank, count, ctx ? atn_ctx_message(ctx) : "no context");
    atn_ranks_leave(r);
    atn_ctx_free(ctx);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return good && sum == count ? 0 : 1;
}
