// OpenCode 1.x: it calls this once for every folder that it works in, and is given hooks by their names

// Where no server listens OpenCode names this address all the same (1.18).
const NOBODY = "http://localhost:4096/"

// How agents begin that work for OpenCode itself and share a session's id; their prompts are asked for as well.
const INTERNAL = ["title", "compaction", "summary"]
const INTERNAL_PROMPTS = [
  "You are a title generator. You output ONLY a thread title.",
  "You are a context summarization agent.",
]

const calls = new Map() // call → session: calls of our own tools that are not answered yet

/** Leave word which sessions wait for our MCP server: a call says nothing of its session itself (1.18). */
function calling() {
  safely(() => {
    const path = `${SETUP.calls}/${process.pid}.json`
    const waiting = [...new Set(calls.values())]
    if (waiting.length) put(path, JSON.stringify({ pid: process.pid, sessions: waiting }))
    else rmSync(path, { force: true })
  })
}

async function server({ client, directory, ...host }) {
  if (isSilenced()) return {}

  const address = () => safely(() => String(host.serverUrl), "")
  const seen = () => leaveWord({ directory, url: address() === NOBODY ? "" : address() })
  const told = async (id) => (await within(HOST_MS, client.session.get({ path: { id } }), {}))?.data ?? {}
  const watch = watching({ told, work: () => directory, seen })
  const { sessions, payload } = watch
  let internalPrompts

  /** How OpenCode's own agents begin. */
  async function internals() {
    const got = await within(HOST_MS, client.app.agents(), {})
    const agents = Array.isArray(got?.data) ? got.data : []
    const prompts = agents.filter((agent) => INTERNAL.includes(agent.name)).map((agent) => agent.prompt)
    return [...INTERNAL_PROMPTS, ...prompts.filter((prompt) => typeof prompt === "string" && prompt.trim())]
  }

  const servers = async () => Object.keys((await within(HOST_MS, client.mcp.status(), {}))?.data ?? {})

  const hooks = {
    "chat.message": async ({ sessionID: id }, { message, parts }) => {
      if (!id) return
      internalPrompts ??= await internals()
      const session = await watch.known(id)
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
      const text = watch.current(session)
      if (text && !system.includes(text)) system.push(text)
    },

    "experimental.text.complete": async ({ sessionID: id, messageID, partID }, output) => {
      if (!id || !/citation/i.test(output.text)) return
      const { text, cited } = parted(output.text)
      if (!cited) return
      output.text = text
      watch.cited(id, cited, { message_id: messageID, part_id: partID })
    },

    "experimental.session.compacting": async ({ sessionID: id }) => {
      if (sessions.get(id)?.kind === "main") await ask("experimental.session.compacting", payload(id))
    },

    "tool.execute.before": async ({ tool, sessionID: id, callID }) => {
      const root = sessions.get(id)?.root ?? id
      if (tool.startsWith(`${PROGRAM}_`)) {
        calls.set(callID, root)
        calling()
      }
      if (!SETUP.hooks["tool.execute.before"] || sessions.get(id)?.kind === "own") return
      record("tool.execute.before", payload(root, { tool: toolName(tool, await servers()), call_id: callID }))
    },

    "tool.execute.after": async ({ callID }) => {
      if (calls.delete(callID)) calling()
    },

    event: async ({ event }) => {
      const { type, properties = {} } = event
      const id = properties.sessionID ?? properties.info?.id
      if (!id) return
      if (type === "session.created") watch.born.set(id, properties.info ?? {})
      const status = type === "session.idle" ? "idle" : type === "session.status" ? properties.status?.type : ""
      if (status) {
        watch.rests(id, status === "idle")
        if (status === "idle") answered(id)
      }
      if (type === "session.deleted") watch.deleted(id, properties.info ?? {})
    },

    dispose: async () => watch.over(),
  }

  /** A session at rest waits for nothing, also where a call failed and nothing said so. */
  function answered(id) {
    const left = [...calls].filter(([, session]) => session === id)
    for (const [call] of left) calls.delete(call)
    if (left.length) calling()
  }

  calling()
  seen()
  return Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, reliable(hook)]))
}
