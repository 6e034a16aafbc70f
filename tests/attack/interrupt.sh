# Ctrl-C: the first one ends a verb with its sentence, the second one at once; neither leaves anything behind.
. "$(dirname "$0")/kit.sh"

points 40000 'r(), r(), r()' >"$work/cloud.xyz"
points 40000 'r(), r(), 2 * r()' >"$work/other.xyz"
points 200000 '120 * r(), 120 * r(), 120 * r()' >"$work/atoms.xyz"
interrupted() { # its sentence, whatever it was doing
    local k
    begin "$@"
    for ((k = 0; k < 10; ++k)); do sleep 0.1; done # into its work
    kill -INT "$child"
    finish
    [[ $code == 1 ]] || failed "$*: exit $code after Ctrl-C, wanted 1"
    [[ $(wc -l <"$work/err") == 1 ]] || failed "$*: not one line"
    grep -q "stopped" "$work/err" || failed "$*: no sentence"
    nothing_left "$work" '*.[0-9]*.[0-9]*'
}
interrupted "$attune" register "$work/cloud.xyz" "$work/other.xyz" --dense --precision 64 --iterations 100000 --device host
interrupted "$attune" register "$work/cloud.xyz" "$work/other.xyz" --method softassign --dense --iterations 100000 --device host
interrupted "$attune" lattice "$work/atoms.xyz" --device host -o "$work/out.xyz"
points 20000 'r(), r(), 4 * r()' >"$work/model.xyz"
interrupted "$attune" needle "$work/model.xyz" "$work/model.xyz" --brute --roll=-180,180,0.5 --shift=-2,2,0.004 --rounds 8 --device host
interrupted "$attune" sample scans --size 100000000 -o "$work/scans"

# One launch that takes minutes: nothing asks whether to go on until it returns, and it is ended all the same.
cat >"$work/long.xml" <<'END'
<ParallelAlgorithm name="long" dimensions="1">
  <DataObjects>
    <DataObject name="y" structure="vector" elementDataType="DP"/>
    <Parameter name="n" dataType="INDEX"/>
  </DataObjects>
  <Children>
    <IteratorBlock name="steps" dimensions="1" ICF="#acc(0) * 0.5 + #in(0)" ICFInit="0" ICFType="DP">
      <FunctionBlock name="term" dataType="DP" function="DP(#in(0))"/>
    </IteratorBlock>
    <DataAccessWrite name="store" destination="y" selFunction="v0"/>
  </Children>
  <Connections>
    <Connection source="y.Size(0)" destination="long.Range(0)"/>
    <Connection source="n.out" destination="steps.Range(0)"/>
    <Connection source="steps.i(0)" destination="term.in(0)"/>
    <Connection source="term.out" destination="steps.func(0)"/>
    <Connection source="steps.out" destination="store.in"/>
    <Connection source="long.i(0)" destination="store.v(0)"/>
  </Connections>
</ParallelAlgorithm>
END
for signal in INT TERM; do
    begin env -u ATTUNE_CC "$attune" run "$work/long.xml" --device host --size y=1 --param n=100000000000 --out "y=$work/y.npy"
    for ((k = 0; k < 6000; ++k)); do # until it is built
        compgen -G "$work/cache/attune/*.so" >/dev/null && break
        kill -0 "$child" 2>/dev/null || failed "it ended before it ran"
        sleep 0.01
    done
    sleep 0.5
    kill "-$signal" "$child"
    finish
    [[ $code == 1 ]] || failed "exit $code after $signal in a long launch"
    [[ $(cat "$work/err") == "attune run: stopped on request" ]] || failed "no sentence after $signal in a long launch"
    [[ ! -e $work/y.npy ]] || failed "a result that was never computed"
done

# Two at once, while a file is being written: both wait for it while it is stopped.
twice() {
    local k
    kill -STOP "$child"
    for ((k = 0; k < 1000; ++k)); do # lower numbers would overtake it
        [[ $(awk '{ print $3 }' "/proc/$child/stat") == T ]] && break
        sleep 0.01
    done
    kill -INT "$child"
    kill -TERM "$child"
    kill -CONT "$child"
    finish
    # 1: another thread took the second one, and the first was heeded before that one ran
    [[ $code == 130 || $code == 143 || $code == 1 ]] || failed "exit $code after two signals"
}
begin "$attune" sample atoms --size 3000000 -o "$work/atoms"
for ((k = 0; k < 6000; ++k)); do
    compgen -G "$work/atoms/*.$child.*" >/dev/null && break
    kill -0 "$child" 2>/dev/null || failed "it ended before it wrote"
    sleep 0.01
done
twice
nothing_left "$work/atoms" "*.$child.*"

# Two at once while a compiler runs: it ends too, and its folder is gone.
cat >"$work/cc" <<'END'
#!/bin/sh
case "$*" in *--version*) echo "cc 1.0"; exit ;; esac
echo $$ >"$RUNNING"
exec sleep 1000
END
chmod +x "$work/cc"
export RUNNING=$work/running
compiling() { # waits for a compiler
    for ((k = 0; k < 6000; ++k)); do
        [[ -s $RUNNING ]] && break
        sleep 0.01
    done
    compiler=$(cat "$RUNNING")
}
compiler_is_gone() { # killed, and reaped by whoever inherits it
    for ((k = 0; k < 1000; ++k)); do
        kill -0 "$compiler" 2>/dev/null || break
        [[ $(awk '{ print $3 }' "/proc/$compiler/stat" 2>/dev/null) == Z ]] && break
        sleep 0.01
    done
    ((k < 1000)) || failed "the compiler runs on"
}
ATTUNE_CC=$work/cc begin "$attune" devices --device host
compiling
twice
nothing_left "$work/cache" 'work-*'
compiler_is_gone

# One while workers compile: their compilers end too, and their folders are gone.
for verb in "tune scale --budget 100s" "bench kernels"; do
    rm -f "$RUNNING"
    ATTUNE_CC=$work/cc begin "$attune" $verb --device host
    compiling
    kill -INT "$child"
    finish
    [[ $code == 1 ]] || failed "$verb: exit $code after Ctrl-C, wanted 1"
    nothing_left "$work/cache" 'work-*'
    compiler_is_gone
done
echo "Ctrl-C ends it"
