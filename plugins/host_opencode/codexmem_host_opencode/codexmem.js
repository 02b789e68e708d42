// codexmem in OpenCode 1.x: tells codexmem what happens, and gives each session what codexmem remembers.
// `codexmem setup opencode` writes this file and `codexmem unsetup opencode` removes it; changes are lost.
// It needs nothing that OpenCode does not bring along, and whatever fails in here must never reach OpenCode.

import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { lstatSync, mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs"

const SETUP = {"hooks": {}, "wait_s": {}, "ready": "", "seen": "", "helpers": "codexmem-"}

const RECORD_MS = 5000 // longest wait for an event to be written down; it takes 15
const ANSWER_MS = 5000 // longest wait for an answer, beyond what a plugin was allowed to take
const HOST_MS = 1000 // longest wait for what OpenCode tells about itself
const KEPT = 1000 // sessions that are kept in mind

// Where no server listens OpenCode names this address all the same (1.18).
const NOBODY = "http://localhost:4096/"

// How agents begin that work for OpenCode itself and share a session's id; their prompts are asked for as well.
const INTERNAL = ["title", "compaction", "summary"]
const INTERNAL_PROMPTS = [
  "You are a title generator. You output ONLY a thread title.",
  "You are a context summarization agent.",
]

const isSet = (name) => !["", "0", undefined].includes(process.env[name])

/** What was not looked at for longest goes when there are too many. */
class Kept extends Map {
  get(key) {
    const value = super.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key, value) {
    this.delete(key)
    super.set(key, value)
    if (this.size > KEPT) this.delete(this.keys().next().value)
    return this
  }
}

/** Runs what must not throw, and gives `otherwise` when it does. */
function safely(work, otherwise) {
  try {
    return work()
  } catch {
    return otherwise
  }
}

async function within(milliseconds, promise, otherwise) {
  let timer
  const late = new Promise((resolve) => (timer = setTimeout(() => resolve(otherwise), milliseconds)))
  try {
    return await Promise.race([promise, late])
  } catch {
    return otherwise
  } finally {
    clearTimeout(timer)
  }
}

// Telling codexmem

const options = (payload, stdout) => ({ cwd: folder(payload.cwd), stdio: ["pipe", stdout, "ignore"] })

const folder = (path) => (path && safely(() => lstatSync(path).isDirectory(), false) ? path : undefined)

/** Write an event down before anything else happens: OpenCode may end a moment later. */
function record(event, payload) {
  const command = SETUP.hooks[event]
  if (!command) return
  safely(() =>
    spawnSync(command[0], command.slice(1), {
      ...options(payload, "ignore"),
      input: JSON.stringify(payload),
      timeout: RECORD_MS,
      killSignal: "SIGKILL",
    }),
  )
}

/** Tell of an event and wait for the answer, which is empty when there is none. */
function ask(event, payload) {
  const command = SETUP.hooks[event]
  if (!command) return Promise.resolve("")
  return new Promise((resolve) => {
    try {
      const child = spawn(command[0], command.slice(1), options(payload, "pipe"))
      const chunks = []
      const timer = setTimeout(() => {
        child.kill("SIGKILL")
        resolve("")
      }, ANSWER_MS + 1000 * (SETUP.wait_s[event] ?? 0))
      const end = (text) => {
        clearTimeout(timer)
        resolve(text)
      }
      child.on("error", () => end(""))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (chunk) => chunks.push(chunk))
      child.on("close", () => end(Buffer.concat(chunks).toString("utf8")))
      child.stdin.end(JSON.stringify(payload))
    } catch {
      resolve("")
    }
  })
}

// What lies ready for new sessions

let ready = { stamp: "", memory: "", text: "" }

/** The text that new sessions are given, and whose it is. Read anew only when the file has changed. */
function lyingReady() {
  return safely(
    () => {
      const stat = lstatSync(SETUP.ready)
      const stamp = `${stat.mtimeMs}:${stat.size}:${stat.ino}`
      if (stamp !== ready.stamp) {
        const content = stat.isFile() ? readFileSync(SETUP.ready, "utf8") : ""
        const cut = content.indexOf("\n")
        ready = { stamp, memory: content.slice(0, Math.max(cut, 0)).split(" ")[0], text: content.slice(cut + 1) }
      }
      return ready
    },
    { stamp: "", memory: "", text: "" },
  )
}

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

// The plugin: OpenCode calls it once for every folder that it works in

export const CodexMem = async ({ client, directory, ...host }) => {
  if (isSet("CODEXMEM_CHILD") || isSet("CODEXMEM_BYPASS")) return {}

  const sessions = new Kept() // id → {kind: main | child | own, root, cwd, text, memory, rests}
  const born = new Kept() // id → what OpenCode told when it made the session in this process
  let internalPrompts

  const address = () => safely(() => String(host.serverUrl), "")

  /** Leave word where OpenCode works, how it is reached and which program it is. */
  function seen() {
    safely(() => {
      const name = createHash("sha256").update(directory).digest("hex").slice(0, 16)
      const path = `${SETUP.seen}/${name}.json`
      const url = address() === NOBODY ? "" : address()
      const content = JSON.stringify({ directory, url, program: process.execPath, pid: process.pid })
      if (safely(() => readFileSync(path, "utf8"), "") === content) {
        const now = new Date()
        utimesSync(path, now, now)
        return
      }
      mkdirSync(SETUP.seen, { recursive: true, mode: 0o700 })
      writeFileSync(`${path}.${process.pid}`, content, { mode: 0o600 })
      renameSync(`${path}.${process.pid}`, path)
    })
  }

  async function told(id) {
    const got = await within(HOST_MS, client.session.get({ path: { id } }), {})
    return got?.data ?? {}
  }

  /** How OpenCode's own agents begin. */
  async function internals() {
    const got = await within(HOST_MS, client.app.agents(), {})
    const agents = Array.isArray(got?.data) ? got.data : []
    const prompts = agents.filter((agent) => INTERNAL.includes(agent.name)).map((agent) => agent.prompt)
    return [...INTERNAL_PROMPTS, ...prompts.filter((prompt) => typeof prompt === "string" && prompt.trim())]
  }

  const payload = (id, more) => ({ session_id: id, cwd: sessions.get(id)?.cwd ?? directory, ...more })

  /** A session's first message in this process. */
  async function begin(id) {
    const info = born.get(id) ?? (await told(id))
    internalPrompts ??= await internals()
    const cwd = typeof info.directory === "string" && info.directory ? info.directory : directory
    const session = { kind: "main", root: id, cwd, text: "", memory: "", rests: false }
    sessions.set(id, session)
    if (typeof info.title === "string" && info.title.startsWith(SETUP.helpers)) session.kind = "own"
    else if (info.parentID) {
      // A subagent works on what its parent was told; only the parent's own events are told.
      const parent = sessions.get(info.parentID)
      session.kind = "child"
      session.root = parent?.root ?? info.parentID
      session.text = parent ? current(parent) : ""
      session.memory = parent?.memory ?? ""
    } else await start(id, session, born.has(id) ? "startup" : "resume")
    return session
  }

  async function start(id, session, source) {
    const first = payload(id, { source })
    if (source === "resume") session.text = await ask("session.start-resume", first)
    if (!session.text) session.text = await ask("session.start-startup", first)
    const lying = lyingReady()
    if (session.text && session.text === lying.text) session.memory = lying.memory
    seen()
  }

  /** A session's text: the same bytes until its memory has changed. */
  function current(session) {
    if (session.memory) {
      const lying = lyingReady()
      if (lying.memory === session.memory) session.text = lying.text
    }
    return session.text
  }

  const hooks = {
    "chat.message": async ({ sessionID: id }, { message, parts }) => {
      if (!id) return
      const session = sessions.get(id) ?? (await begin(id))
      session.rests = false
      if (session.kind !== "main" || !SETUP.hooks["chat.message"]) return
      const said = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
      const prompt = said.map((part) => part.text).join("\n")
      const recalled = await ask("chat.message", payload(id, { prompt, message_id: message.id }))
      if (!recalled) return
      const place = { id: `prt_codexmem${Date.now()}`, messageID: message.id, sessionID: id }
      parts.push({ ...place, type: "text", text: recalled, synthetic: true, metadata: { codexmem: true } })
    },

    "experimental.chat.system.transform": async ({ sessionID: id }, { system }) => {
      const session = id && sessions.get(id)
      if (!session || session.kind === "own") return
      const first = system[0] ?? ""
      if (internalPrompts.some((prompt) => first.startsWith(prompt.trim()))) return
      const text = current(session)
      if (text && !system.includes(text)) system.push(text)
    },

    "experimental.text.complete": async ({ sessionID: id, messageID, partID }, output) => {
      if (!id || !/citation/i.test(output.text)) return
      const { text, cited } = parted(output.text)
      if (!cited) return
      output.text = text
      const session = sessions.get(id)
      if (session?.kind === "own") return
      const where = { message_id: messageID, part_id: partID }
      record("experimental.text.complete", { ...payload(session?.root ?? id, where), cited })
    },

    "experimental.session.compacting": async ({ sessionID: id }) => {
      if (sessions.get(id)?.kind === "main") await ask("experimental.session.compacting", payload(id))
    },

    "tool.execute.before": async ({ tool, sessionID: id, callID }) => {
      if (!SETUP.hooks["tool.execute.before"] || sessions.get(id)?.kind === "own") return
      const name = await toolName(tool)
      record("tool.execute.before", payload(sessions.get(id)?.root ?? id, { tool: name, call_id: callID }))
    },

    event: async ({ event }) => {
      const { type, properties = {} } = event
      const id = properties.sessionID ?? properties.info?.id
      if (!id) return
      if (type === "session.created") born.set(id, properties.info ?? {})
      const status = type === "session.idle" ? "idle" : type === "session.status" ? properties.status?.type : ""
      if (status) rests(id, status === "idle")
      if (type === "session.deleted") deleted(id, properties.info ?? {})
    },

    dispose: async () => {
      const ended = [...sessions].filter(([, session]) => session.kind === "main")
      const all = ended.map(([id, { cwd }]) => ({ session_id: id, cwd }))
      seen()
      if (all.length) record("dispose", { sessions: all, cwd: directory })
      sessions.clear()
    },
  }

  /** OpenCode tells twice that a session is idle; once is enough until it has been at work again. */
  function rests(id, idle) {
    const session = sessions.get(id)
    if (session?.kind !== "main" || session.rests === idle) return
    session.rests = idle
    if (!idle) return
    seen()
    record("session.idle", payload(id))
  }

  function deleted(id, info) {
    const session = sessions.get(id)
    sessions.delete(id)
    if (info.parentID || (session && session.kind !== "main") || String(info.title ?? "").startsWith(SETUP.helpers)) return
    record("session.deleted", { session_id: id, cwd: info.directory ?? session?.cwd ?? directory })
  }

  /** A tool's name; of a tool of an MCP server in the form that tells it from OpenCode's own. */
  async function toolName(tool) {
    const got = await within(HOST_MS, client.mcp.status(), {})
    const servers = Object.keys(got?.data ?? {}).map((server) => server.replace(/[^a-zA-Z0-9_-]/g, "_"))
    const server = servers.filter((name) => tool.startsWith(`${name}_`)).sort((one, other) => other.length - one.length)[0]
    return server && server !== "codexmem" ? `mcp__${server}__${tool.slice(server.length + 1)}` : tool
  }

  seen()
  return Object.fromEntries(
    Object.entries(hooks).map(([name, hook]) => [
      name,
      async (...given) => {
        try {
          await hook(...given)
        } catch {
          // OpenCode goes on as if codexmem were not there
        }
      },
    ]),
  )
}
