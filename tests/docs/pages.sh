# pages.sh: pages whose commands are run and whose sessions are compared. Sourced by suites.
pages='README.md docs/cli.md docs/chat.md docs/tokenizers.md docs/repl.md docs/tuning.md
 docs/quantization.md docs/format.md docs/untrusted-files.md docs/models.md
 docs/internals.md'

# blocks LANGUAGE PAGE...: the lines of code blocks in that language; '' means without a language.
blocks() {
    language=$1
    shift
    awk -v fence="\`\`\`$language" '/^```/ { inside = !inside && $0 == fence; next } inside && NF' "$@"
}
