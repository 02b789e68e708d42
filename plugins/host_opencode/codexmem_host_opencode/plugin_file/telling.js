// codexmem in OpenCode: tells codexmem what happens, and gives each session what codexmem remembers.
// `codexmem setup opencode` writes this file and `codexmem unsetup opencode` removes it; changes are lost.
// It needs nothing that OpenCode does not bring along, and whatever fails in here must never reach OpenCode.

import { spawn, spawnSync } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"

const SETUP = {"hooks": {}, "wait_s": {}, "ready": "", "seen": "", "calls": "", "helpers": "codexmem-", "mcp": []}

const RECORD_MS = 5000 // longest wait for an event to be written down; it takes 15
const ANSWER_MS = 5000 // longest wait for an answer, beyond what a plugin was allowed to take
const HOST_MS = 1000 // longest wait for what OpenCode tells about itself
const KEPT = 1000 // sessions that are kept in mind

const isSet = (name) => !["", "0", undefined].includes(process.env[name])
const isSilenced = () => isSet("CODEXMEM_CHILD") || isSet("CODEXMEM_BYPASS")

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

/** A hook that OpenCode can rely on: whatever goes wrong in it, OpenCode goes on as if codexmem were not there. */
const reliable = (hook) => async (...given) => {
  try {
    await hook(...given)
  } catch {
    // nobody could do anything about it
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

// Where OpenCode is at work

/** Put a file in place at once, for this user alone. */
function put(path, content) {
  mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.${process.pid}`, content, { mode: 0o600 })
  renameSync(`${path}.${process.pid}`, path)
}

/** Leave word where OpenCode works, how it is reached and which program it is; `kind` tells a folder's files apart. */
function leaveWord(word, kind = "") {
  safely(() => {
    const name = createHash("sha256").update(word.directory).digest("hex").slice(0, 16)
    const path = `${SETUP.seen}/${name}${kind}.json`
    const content = JSON.stringify({ ...word, program: process.execPath, pid: process.pid })
    if (safely(() => readFileSync(path, "utf8"), "") === content) {
      const now = new Date()
      utimesSync(path, now, now)
    } else put(path, content)
  })
}
