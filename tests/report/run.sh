#!/bin/sh
# Chromium renders pages of `bench` at 390 and 1400 pixels: nothing is wider than the screen, and no
# text is too small. A page, and a picture of `attention`, in dark colours. Skipped without
# Chromium.
# usage: run.sh REPORT_DUMP
. tests/lib.sh
dump=$xformc xformc=$(dirname "$xformc")/../../xformc out=$scratch
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
cases='390 pixels, texts|390 pixels, sentences|1400 pixels, texts|dark|a dark picture'
if [ -z "$browser" ]; then
    echo "$cases" | tr '|' '\n' | sed 's/.*/skip & (no chromium)/'
    exit 0
fi
"$dump" texts page >"$out/texts.html" && "$dump" sentences page >"$out/sentences.html" || exit 1
"$xformc" attention specs/self_attention.lua -o "$out/heads.svg" || exit 1

# ask WIDTH FILE EXPRESSION OPTION…: the value of EXPRESSION in a frame of that width; d is the
# document.
ask() {
    width=$1 file=$2 expression=$3
    shift 3
    cat >"$out/frame.html" <<END
<!DOCTYPE html><meta name="color-scheme" content="light dark">
<iframe src="$file" width="$width" height="800" style="border:0" onload="
  const d = this.contentDocument, w = this.contentWindow;
  document.title = 'said ' + ($expression)"></iframe>
END
    timeout "$patience" "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
        --window-size=1600,900 --user-data-dir="$out/profile" "$@" \
        --dump-dom "file://$out/frame.html" \
        2>"$out/err" | sed -n 's/.*<title>said \(.*\)<\/title>.*/\1/p'
}

# says NAME EXPECTED FOUND
says() {
    if [ "$2" = "$3" ]; then echo "ok $1"; else
        not_ok "$1"
        echo "expected $2, found $3"
        tail -n 3 "$out/err"
    fi
}

# The page is not wider than the screen, and visible elements stay inside it. No text is smaller
# than 11 pixels. One picture of a roofline is shown, at nine tenths of its size or more.
fits="[d.documentElement.scrollWidth <= w.innerWidth,
    [...d.querySelectorAll('body *')].every(e => !e.getClientRects().length ||
        e.closest('.scroll, svg') || e.getBoundingClientRect().right <= w.innerWidth),
    [...d.querySelectorAll('.bars *, td, p')].every(e =>
        parseFloat(w.getComputedStyle(e).fontSize) >= 11),
    [...d.querySelectorAll('[open] svg')].filter(e => e.getClientRects().length).every(e =>
        e.getBoundingClientRect().width / e.viewBox.baseVal.width > 0.9),
    [...d.querySelectorAll('[open] svg')].filter(e => e.getClientRects().length).length]"
for kind in texts sentences; do
    says "390 pixels, $kind" true,true,true,true,1 "$(ask 390 $kind.html "$fits")"
done
says '1400 pixels, texts' true,true,true,true,1 "$(ask 1400 texts.html "$fits")"

colours="[w.getComputedStyle(d.body).backgroundColor, w.getComputedStyle(d.body).color,
    w.getComputedStyle(d.querySelector('svg text')).fill].join(' ')"
says dark 'rgb(15, 23, 42) rgb(226, 232, 240) rgb(148, 163, 184)' \
    "$(ask 1400 texts.html "$colours" --blink-settings=preferredColorScheme=0)"
colours="w.getComputedStyle(d.querySelector('rect')).fill + ' ' +
    w.getComputedStyle(d.querySelector('text')).fill"
says 'a dark picture' 'rgb(15, 23, 42) rgb(226, 232, 240)' \
    "$(ask 1400 heads.svg "$colours" --blink-settings=preferredColorScheme=0)"
