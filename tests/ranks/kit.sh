# What tests with several ranks share: sourced with $build set. ranks N COMMAND...; bad WORDS; finish. Exits with 77 where
# there is no MPI.
if ! command -v mpirun >/dev/null 2>&1 || [[ ! -e $build/attune_mpi.so ]]; then
    echo "SKIPPED: no mpirun, or attune was built without MPI"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=${ATTUNE_TEST_CACHE:-$work/cache}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=false
export OMP_NUM_THREADS=1
failures=0

ranks() { # $1: how many; the output of all is in $work/said, too
    timeout 120 mpirun -n "$1" "${@:2}" >"$work/out" 2>"$work/err" </dev/null
    local code=$?
    cat "$work/out"
    return $code
}
bad() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/err" | tail -20
    failures=$((failures + 1))
}
finish() {
    ((failures == 0)) && echo "all as wanted"
    exit $((failures > 0))
}
