// OpenCode 2: it calls this once for every folder that it works in (a location), in one process for all of them.
// Written from what is known of 2.x; it was never run by the real program.

const AGAIN_MS = 5000 // until events are asked for again after that has failed
const RESTS = /^session\.execution\.(?!started$)/ // how work ends, whichever way

const bare = (value) => (value && typeof value === "object" && "data" in value ? value.data : value)

/** What OpenCode 2 knows of a session, as OpenCode 1 says it. */
const plainly = (info) => ({ ...info, directory: info?.directory ?? info?.location?.directory })

let shared // what all locations of this process have in common, from the first one's beginning to the last one's end

/** Begin for the first location; the newest that still lives is asked what concerns none in particular. */
function process2() {
  const live = []
  const newest = () => live.at(-1)
  const told = async (id) => plainly(bare(await within(HOST_MS, newest()?.session.get({ sessionID: id }), {})))
  const one = { live, newest, heard: new Kept(), counted: new Kept(), tools: [] }
  const reached = { url: "", token: "" }
  const seen = () => {
    for (const { location, app } of live) {
      const word = { directory: location.directory, generation: 2, version: String(app?.version ?? "") }
      leaveWord({ ...word, location: reached }, ".2")
    }
  }
  one.seen = seen
  one.watch = watching({ told, work: () => newest()?.location.directory ?? "", seen })
  one.server = SETUP.mcp.length ? serving(SETUP.mcp) : undefined
  one.listed = one.server ? listed(one).catch(() => {}) : Promise.resolve() // without tools when they cannot be had
  one.place = answering(routes(one))
  one.place.listening.then((url) => {
    Object.assign(reached, { url, token: one.place.token })
    seen()
  })
  return one
}

/** Have our tools once their server tells them, in every location. */
async function listed(one) {
  one.tools = (await one.server.list()) ?? []
  await Promise.all(one.live.map((ctx) => ctx.tool.reload?.()))
}

/** What this process answers with, in the form of the service's API. */
const routes = ({ newest, watch }) => async (method, [first, id, what], body) => {
  const { session, generate, app } = newest()
  if (method === "POST") return first === "experimental" && id === "generate" ? data(generate.text(body)) : undefined
  if (first === "info") return { version: String(app?.version || "2"), pid: process.pid, observed: !session.list }
  if (first !== "session" || (what && what !== "message")) return undefined
  if (what) return data(session.context({ sessionID: id }))
  if (id) return data(session.get({ sessionID: id }))
  return data(session.list ? session.list({ order: "desc", parentID: null }) : observed(watch))
}

const data = async (given) => ({ data: bare(await given), cursor: {} })

/** Sessions that were at work in this process. */
const observed = ({ sessions }) =>
  [...sessions]
    .filter(([, session]) => session.kind === "main")
    .map(([id, { title, cwd, used_ms }]) => ({ id, title, location: { directory: cwd }, time: { updated: used_ms } }))

/** Take citations out of what the model is sent, where OpenCode 2 keeps them. One that was not counted yet is now. */
function withoutCitations(one, event) {
  const messages = event.messages ?? []
  for (const [number, message] of messages.entries()) {
    if ((message?.role ?? message?.type) !== "assistant" || !Array.isArray(message.content)) continue
    const found = message.content.map((part) =>
      part?.type === "text" && /citation/i.test(part.text ?? "") ? { part, ...parted(part.text) } : { part },
    )
    if (!found.some(({ cited }) => cited)) continue
    for (const { cited } of found) if (cited) count(one, event.sessionID, message.id, cited)
    const kept = found.map(({ part, text, cited }) => (cited ? { ...part, text } : part))
    const content = kept.filter((part) => part.type !== "text" || part.text || kept.length === 1)
    messages[number] = Object.assign(Object.create(Object.getPrototypeOf(message)), message, { content })
  }
}

/** Once a text of a message; one without a name is not counted, for it could not be known again. */
function count(one, session, message, cited) {
  if (typeof message !== "string" || !message) return
  const key = `${session} ${message} ${cited}`
  if (one.counted.get(key)) return
  one.counted.set(key, true)
  one.watch.cited(session, cited, { message_id: message })
}

function happened(one, event) {
  if (typeof event?.id === "string") {
    if (one.heard.get(event.id)) return // by another location
    one.heard.set(event.id, true)
  }
  const { type, data = event } = event
  const id = data.sessionID ?? data.info?.id
  if (typeof id !== "string") return
  if (type === "session.created") one.watch.born.set(id, plainly(data.info ?? data))
  else if (type === "session.text.ended") {
    const { cited } = parted(String(data.text ?? ""))
    if (cited) count(one, id, data.assistantMessageID, cited)
  } else if (type === "session.execution.started") one.watch.rests(id, false)
  else if (RESTS.test(type)) one.watch.rests(id, true)
  else if (type === "session.deleted") one.watch.deleted(id, plainly(data.info ?? {}))
}

/** Hear of what happens until the location is given up. */
async function listen(one, ctx, signal) {
  while (!signal.aborted) {
    try {
      for await (const event of ctx.event.subscribe({ signal })) await reliable(() => happened(one, event))()
      return
    } catch {
      await new Promise((resolve) => {
        setTimeout(resolve, AGAIN_MS).unref?.()
        signal.addEventListener("abort", resolve, { once: true })
      })
    }
  }
}

async function setup(ctx) {
  // OpenCode 1.18 calls this as well, with a context in which there are no sessions.
  if (typeof ctx?.session?.hook !== "function" || typeof ctx.location?.directory !== "string" || isSilenced()) return
  const one = (shared ??= process2())
  const { watch } = one
  const over = new AbortController()
  one.live.push(ctx)
  one.seen()

  const hooks = {
    prompt: async ({ sessionID: id, messageID, prompt }) => {
      if (!id) return
      const session = await watch.known(id)
      session.rests = false
      if (session.kind !== "main" || !SETUP.hooks["chat.message"]) return
      const said = { prompt: prompt?.text ?? "", message_id: messageID }
      session.recalled = await ask("chat.message", watch.payload(id, said))
    },
    context: async (event) => {
      withoutCitations(one, event)
      if (!event.sessionID || (event.kind ?? "primary") !== "primary") return
      const session = await watch.known(event.sessionID)
      if (session.kind === "own") return
      event.system ??= []
      for (const text of [overlaid(watch.current(session)), session.recalled]) {
        if (text && !event.system.some((part) => part.text === text)) event.system.push({ type: "text", text })
      }
    },
    compaction: async (event) => {
      withoutCitations(one, event)
      const session = watch.sessions.get(event.sessionID)
      if (session?.kind === "main") await ask("experimental.session.compacting", watch.payload(event.sessionID))
    },
    generate: async (event) => withoutCitations(one, event),
    title: async (event) => withoutCitations(one, event),
  }
  for (const [name, hook] of Object.entries(hooks)) await within(HOST_MS, ctx.session.hook(name, reliable(hook)))

  const servers = async () => {
    const found = bare(await within(HOST_MS, ctx.mcp?.list?.(), []))
    return (Array.isArray(found) ? found : []).map((server) => server.name).filter((name) => typeof name === "string")
  }
  const called = async ({ tool, sessionID: id, id: call }) => {
    if (!SETUP.hooks["tool.execute.before"] || watch.sessions.get(id)?.kind === "own") return
    const more = { tool: toolName(tool, await servers()), call_id: call }
    record("tool.execute.before", watch.payload(watch.sessions.get(id)?.root ?? id, more))
  }
  await within(HOST_MS, ctx.tool.hook?.("execute.before", reliable(called)))

  if (one.server) {
    const root = (id) => watch.sessions.get(id)?.root ?? id
    const add = (editor) => one.tools.forEach((tool) => editor.add(offered(tool, one.server, root)))
    await within(HOST_MS, ctx.tool.transform(add))
    // The entry for OpenCode 1 in its configuration would start the same program once more.
    await within(HOST_MS, ctx.mcp?.transform?.((servers) => servers.remove(PROGRAM)))
    await within(LIST_MS, one.listed)
  }
  safely(() => void listen(one, ctx, over.signal))

  return async () => {
    over.abort()
    const last = one.live.length === 1
    watch.over(last ? "" : ctx.location.directory)
    one.live.splice(one.live.indexOf(ctx), 1)
    if (!last) return
    shared = undefined
    one.place.close()
    one.server?.close()
  }
}

export default { id: PROGRAM, server, setup }
