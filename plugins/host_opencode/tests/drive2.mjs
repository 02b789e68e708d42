// Plays OpenCode 2 for the plugin file: folders that it works in, hooks, events and tools as a scenario says.

import { existsSync, readFileSync, readdirSync } from "node:fs"

const { file, host, steps } = JSON.parse(readFileSync(process.argv[2], "utf8"))
const locations = new Map()

const LONGEST_MS = 60_000

/** Until something is so. */
async function until(isSo) {
  for (const end = Date.now() + LONGEST_MS; !isSo(); ) {
    if (Date.now() > end) throw new Error(`never so: ${isSo}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

class Stream {
  constructor(signal) {
    Object.assign(this, { signal, waiting: [], told: 0, heard: 0, lives: true, wake: () => {} })
    signal?.addEventListener("abort", () => this.wake())
  }

  tell(event) {
    this.told++
    this.waiting.push(event)
    this.wake()
  }

  async *[Symbol.asyncIterator]() {
    try {
      if (host.deaf-- > 0) throw new Error("no events now")
      while (!this.signal?.aborted) {
        while (this.waiting.length) {
          yield this.waiting.shift()
          this.heard++
        }
        await new Promise((resolve) => (this.wake = resolve))
      }
    } finally {
      this.lives = false
    }
  }
}

function played(directory) {
  const played = { hooks: {}, tools: {}, transforms: [], removed: [], streams: [], prompts: [] }
  const known = ({ sessionID }) => {
    if (host.sessions[sessionID]) return { data: host.sessions[sessionID] }
    throw Object.assign(new Error("Session not found"), { _tag: "SessionNotFoundError" })
  }
  const editor = { add: (tool) => (played.tools[tool.name] = tool) }
  played.ctx = {
    app: { version: "2.0.20" },
    location: { directory },
    session: {
      hook: async (name, hook) => {
        await new Promise((resolve) => setTimeout(resolve, 2)) // OpenCode takes its time, and other things happen
        played.hooks[name] = hook
      },
      get: async (asked) => known(asked),
      context: async ({ sessionID }) => ({ data: host.messages[sessionID] ?? [] }),
      ...(host.lists ? { list: async () => ({ data: Object.values(host.sessions), cursor: {} }) } : {}),
    },
    tool: {
      hook: async (name, hook) => void (played.hooks[`tool.${name}`] = hook),
      transform: async (change) => {
        played.transforms.push(change)
        change(editor)
      },
      reload: async () => played.transforms.forEach((change) => change(editor)),
    },
    mcp: {
      list: async () => ({ data: host.servers.map((name) => ({ name, status: { status: "connected" } })) }),
      transform: async (change) => change({ remove: (name) => played.removed.push(name) }),
    },
    event: {
      subscribe: ({ signal } = {}) => {
        const stream = new Stream(signal)
        played.streams.push(stream)
        return stream
      },
    },
    generate: {
      text: async (asked) => {
        if (host.refuses) throw Object.assign(new Error("no model is there"), { status: 503 })
        played.prompts.push(asked)
        return { data: { text: `said in ${directory}` } }
      },
    },
  }
  return played
}

async function asked({ method = "GET", path, body, token }) {
  const words = () => readdirSync(host.seen).map((name) => JSON.parse(readFileSync(`${host.seen}/${name}`, "utf8")))
  const mine = () => words().find((word) => word.pid === process.pid && word.location?.url)
  await until(() => existsSync(host.seen) && mine())
  const { location } = mine()
  const headers = { authorization: `Bearer ${token ?? location.token}`, "content-type": "application/json" }
  const answer = await fetch(location.url + path, { method, headers, body: body && JSON.stringify(body) })
  return { status: answer.status, body: await answer.json() }
}

const acts = {
  async begin(directory) {
    const one = played(directory)
    locations.set(directory, one)
    one.end = await plugin.setup(one.ctx)
    return { hooks: Object.keys(one.hooks), tools: Object.values(one.tools), removed: one.removed }
  },
  async end(directory) {
    await locations.get(directory).end()
    locations.delete(directory)
  },
  async hook({ name, at, event }) {
    await (locations.get(at) ?? [...locations.values()][0]).hooks[name]?.(event)
    return event
  },
  atOnce: (hooks) => Promise.all(hooks.map(acts.hook)),
  async event(event) {
    const living = () => [...locations.values()].map(({ streams }) => streams.find((stream) => stream.lives))
    await until(() => living().every(Boolean))
    const streams = living()
    for (const stream of streams) stream.tell(event)
    await until(() => streams.every((stream) => stream.heard === stream.told))
  },
  async tool({ name, input, session }) {
    const [{ tools }] = locations.values()
    await until(() => tools[name])
    return tools[name].execute(input, { sessionID: session })
  },
  ask: asked,
  told() {
    return Object.fromEntries([...locations].map(([directory, { prompts, tools }]) => [directory, { prompts, tools }]))
  },
}

setInterval(() => {}, 1000) // OpenCode goes on by itself, whatever the plugin file lets go of
const { default: plugin } = await import(file)
const results = []
for (const step of steps) {
  const [[name, given]] = Object.entries(step)
  results.push((await acts[name](given)) ?? null)
}
process.stdout.write(JSON.stringify(results), () => process.exit(0))
