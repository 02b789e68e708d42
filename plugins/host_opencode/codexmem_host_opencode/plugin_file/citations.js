// Citations

const letters = (word) => word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
const START = "(?<![^\\n])"
const END = "(?![^\\n])"
const OPENING = new RegExp(
  `<(?<ours>${letters("memory")}[-_]${letters("citation")})>|(?<codex><oai-mem-citation>)` +
    `|${START} {0,3}(?<fence>\`{3,})memory-citation[ \\t]*\\r?${END}\\n?`,
  "g",
)
const CODEX_CLOSING = "</oai-mem-citation>"

/** [start, end] of each citation block of a text. */
function blocks(text) {
  const found = []
  const neverClosed = new Set()
  OPENING.lastIndex = 0
  for (let opening = OPENING.exec(text); opening; opening = OPENING.exec(text)) {
    const { ours, codex, fence } = opening.groups
    let end
    if (codex) {
      const at = text.indexOf(CODEX_CLOSING, OPENING.lastIndex)
      end = at < 0 ? text.length : at + CODEX_CLOSING.length
    } else {
      const name = ours ? `</${letters(ours.toLowerCase())}>` : `${START}[ \\t]*${fence}[ \\t]*\\r?${END}`
      if (neverClosed.has(name)) continue
      const closing = new RegExp(name, "g")
      closing.lastIndex = OPENING.lastIndex
      if (!closing.test(text)) {
        neverClosed.add(name)
        continue
      }
      end = closing.lastIndex
    }
    found.push([opening.index, end])
    OPENING.lastIndex = end
  }
  return found
}

/** The text without its citation blocks and the gap that they leave, and the blocks. */
function parted(text) {
  const cited = []
  for (let found = blocks(text); found.length; found = blocks(text)) {
    let kept = ""
    let at = 0
    for (const [start, end] of found) {
      kept += text.slice(at, start)
      cited.push(text.slice(start, end))
      at = end
    }
    text = (kept + text.slice(at)).replace(/(?:[ \t]*\r?\n){3,}/g, "\n\n").trimEnd()
  }
  return { text, cited: cited.join("\n\n") }
}

const part = (name) => `<${name}>([^]*?)</${name}>\\s*`
const SHOWN = new RegExp(`<memory-citation>\\s*${part("citation_entries")}${part("session_ids")}</memory-citation>`)
const FENCED = "The block is a fence with this name at the beginning of a line, below an empty line, and never tags:"

/** How an answer cites as OpenCode 2 shows it: the form that a text tells a model, with a fence in place of tags. */
function overlaid(text) {
  return text.replace(SHOWN, (_, entries, sessions) => {
    const block = ["```memory-citation", entries.trim(), `sessions: ${sessions.trim()}`, "```"]
    return [FENCED, "", "````", "the end of the answer", "", ...block, "````"].join("\n")
  })
}
