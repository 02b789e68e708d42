// Our tools in OpenCode 2: the MCP server that OpenCode 1 starts by itself, spoken to from here so that each call says
// whose it is. One server serves all folders of a process.

const LIST_MS = 3000 // longest wait for the list before OpenCode goes on without; it takes one second
const CALL_MS = 60_000
const PROTOCOL = "2025-06-18"
const SESSION = "codexmem/session" // in the `_meta` of a call

/** A program that speaks MCP, started when it is needed and again when it has gone. */
function serving(command) {
  let child
  let number = 0
  let rest = ""
  const waiting = new Map()

  function start() {
    const mine = (child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] }))
    const gone = () => {
      if (child !== mine) return
      for (const { reject } of waiting.values()) reject(new Error("the program that serves the memory has ended"))
      waiting.clear()
      child = undefined
      rest = ""
    }
    child.on("error", gone)
    child.on("close", gone)
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (text) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop()
      for (const line of lines) safely(() => heard(JSON.parse(line)))
    })
    child.unref()
    child.stdin.unref?.()
    child.stdout.unref?.()
    const client = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: PROGRAM, version: "1" } }
    return sent("initialize", client).then(() => say({ method: "notifications/initialized" }))
  }

  const say = (message) => child?.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)

  function heard({ id, result, error }) {
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error) asked?.reject(new Error(error.message))
    else asked?.resolve(result)
  }

  function sent(method, params) {
    const id = ++number
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer within ${CALL_MS / 1000} s`)), CALL_MS)
      timer.unref?.()
      const settle = (settled) => (value) => {
        clearTimeout(timer)
        waiting.delete(id)
        settled(value)
      }
      waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
      say({ id, method, params })
    })
  }

  let ready
  async function request(method, params) {
    if (!child) {
      ready = start()
      ready.catch(() => child?.kill())
    }
    await ready
    return sent(method, params)
  }

  return {
    list: async () => (await request("tools/list", {})).tools,
    call: async (name, given, session) => {
      const params = { name, arguments: given ?? {}, _meta: session ? { [SESSION]: session } : {} }
      const { content = [] } = await request("tools/call", params)
      return content.map((part) => part.text ?? "").join("\n") || "nothing" // OpenCode 2 keeps no empty result
    },
    close: () => child?.kill(),
  }
}

/** A tool as OpenCode 2 takes it: on the list of the model itself, not inside its code mode. */
const offered = (tool, server, session) => ({
  name: `${PROGRAM}_${tool.name}`,
  description: tool.description,
  input: tool.inputSchema,
  options: { codemode: false },
  execute: async (given, { sessionID }) => {
    try {
      return { content: await server.call(tool.name, given, session(sessionID)) }
    } catch (error) {
      return { content: `${tool.name} error: ${error.message}` }
    }
  },
})
