# What TAB makes of lines in a zsh of its own. usage: zsh -f completion.zsh FILE LINE WANTED [LINE WANTED]...
zmodload zsh/zpty
file=$1
shift
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "PS1='' ; autoload -Uz compinit; compinit -u -D; source $file 2>/dev/null; compdef _attune attune; echo REA''DY"
await() { # reads until the text is there, ten seconds at most
    local text= part tries=0
    while [[ $text != *$1* ]]; do
        if zpty -r -t shell part; then
            text+=$part
        else
            ((++tries > 200)) && { print -r -- "FAILED: zsh: no '$1' in ${(V)text}"; return 1 }
            sleep 0.05
        fi
    done
}
await READY || exit 1
while (($#)); do
    zpty -w -n shell "$1"$'\t'
    await "$2" || exit 1
    zpty -w -n shell $'\C-u'
    shift 2
done
zpty -d shell
