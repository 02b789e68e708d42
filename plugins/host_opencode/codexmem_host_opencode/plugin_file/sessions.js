// Sessions: whose they are, what they are given, and what is told of them

/** Sessions of one folder, or of a whole process. `told(id)` is what OpenCode knows of one, `work()` the folder. */
function watching({ told, work, seen }) {
  const sessions = new Kept() // id → {kind: main | child | own, root, cwd, text, memory, rests, …}
  const beginning = new Map() // id → the session to be
  const born = new Kept() // id → what OpenCode told when it made the session in this process

  const payload = (id, more) => ({ session_id: id, cwd: sessions.get(id)?.cwd ?? work(), ...more })
  const isOurs = (info) => String(info.title ?? "").startsWith(SETUP.helpers)

  /** A session of this process; its first message or request begins it, however many ask at once. */
  async function known(id) {
    if (!sessions.has(id) && !beginning.has(id)) beginning.set(id, begin(id).finally(() => beginning.delete(id)))
    return beginning.get(id) ?? sessions.get(id)
  }

  async function begin(id) {
    const info = born.get(id) ?? (await told(id))
    const cwd = typeof info.directory === "string" && info.directory ? info.directory : work()
    const session = { kind: "main", root: id, cwd, text: "", memory: "", rests: false }
    Object.assign(session, { title: info.title, used_ms: Date.now() })
    sessions.set(id, session)
    if (isOurs(info)) session.kind = "own"
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

  /** What was taken out of an answer. */
  function cited(id, cited, where) {
    const session = sessions.get(id)
    if (session?.kind === "own") return
    record("experimental.text.complete", { ...payload(session?.root ?? id, where), cited })
  }

  /** OpenCode tells twice that a session is idle; once is enough until it has been at work again. */
  function rests(id, idle) {
    const session = sessions.get(id)
    if (session?.kind !== "main" || session.rests === idle) return
    session.rests = idle
    session.used_ms = Date.now()
    if (!idle) return
    seen()
    record("session.idle", payload(id))
  }

  function deleted(id, info) {
    const session = sessions.get(id)
    sessions.delete(id)
    if (info.parentID || (session && session.kind !== "main") || isOurs(info)) return
    record("session.deleted", { session_id: id, cwd: info.directory ?? session?.cwd ?? work() })
  }

  /** The end of every session, or of those in a folder. */
  function over(cwd) {
    const ended = [...sessions].filter(([, session]) => session.kind === "main" && (!cwd || session.cwd === cwd))
    const all = ended.map(([id, session]) => ({ session_id: id, cwd: session.cwd }))
    seen()
    if (all.length) record("dispose", { sessions: all, cwd: cwd || work() })
    for (const [id] of ended) sessions.delete(id)
    if (!cwd) sessions.clear()
  }

  return { sessions, born, payload, known, current, cited, rests, deleted, over }
}

const PROGRAM = "codexmem"

/** A tool's name; of a tool of one of the MCP servers in the form that tells it from OpenCode's own. */
function toolName(tool, servers) {
  const plain = servers.map((server) => server.replace(/[^a-zA-Z0-9_-]/g, "_"))
  const begins = plain.flatMap((server) => [`${server}_`, `mcp_${server}_`].map((prefix) => [server, prefix]))
  const fitting = begins.filter(([, prefix]) => tool.startsWith(prefix)).sort((a, b) => b[1].length - a[1].length)
  if (!fitting.length || fitting[0][0] === PROGRAM) return tool
  const [[server, prefix]] = fitting
  return `mcp__${server}__${tool.slice(prefix.length)}`
}
